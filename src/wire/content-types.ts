/** Content types and header syntax that both the client and the service use. */

export const jsonType = "application/json";
export const streamType = "application/vnd.apache.arrow.stream";
export const fileType = "application/vnd.apache.arrow.file";

/** Matches a text that can be sent in a header as it is: plain characters, no line breaks, no spaces around it. */
export const headerValue = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
