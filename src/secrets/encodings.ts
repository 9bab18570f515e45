/** The two encodings in which nothing of a text can be read. */

/** What base64 of it looks like in the middle of other bytes: three ways, without the ends that depend on those. */
export function base64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const cores = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const whole = [Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6)] as const;
    return [padded.toString("base64"), padded.toString("base64url")].map((text) => text.slice(...whole));
  });
  return [...new Set(cores)].filter((core) => core.length > 3);
}

export function hex(secret: string): string {
  return Buffer.from(secret).toString("hex");
}
