/** The answers that are bad in themselves: for the client, request by request, and for the built command. */
import { gzipSync } from "node:zlib";
import type { ErrorCode } from "../../src/errors/migrate-error.ts";
import type { CallOutcome } from "../../src/targets/contract/target.ts";
import { echo, key, type Answering } from "./servers.ts";

export interface Bad {
  /** Completes the sentence "… is a clear error". */
  readonly title: string;
  readonly answer: Answering;
  readonly code: ErrorCode;
  /** Changes that are told so that they are done. */
  readonly taken?: readonly ("create" | "alter")[];
  readonly says: RegExp;
  readonly verdict?: CallOutcome["kind"];
  /** How often a read is sent. */
  readonly reads: 1 | 4;
  readonly given?: object;
}

export const text =
  (status: number, body: string, type = "text/plain", headers: Record<string, string> = {}): Answering =>
  (response) =>
    response.writeHead(status, { "content-type": type, ...headers }).end(body);
export const json = (status: number, body: unknown, headers?: Record<string, string>) =>
  text(status, JSON.stringify(body), "application/json", headers);
export const html = (status: number) =>
  text(
    status,
    `<!DOCTYPE html>\n<html><body>\n<h1>Welcome</h1>${echo} ${JSON.stringify({ key })}</body></html>\n`,
    "text/html",
  );

export const answered = "ERR_ANSWER";
export const unreachable = "ERR_TARGET_UNREACHABLE";
const broken = { code: answered, reads: 1, verdict: "unanswered" } as const;
// What a create is answered with 200 is left open by the document.
const strange = { ...broken, taken: ["create"] } as const;
const refused = { code: answered, reads: 1, verdict: "refused" } as const;
export const quick = { given: { answerSeconds: 0.4 } };
const drip: Answering = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 40);
  response.on("close", () => clearInterval(timer));
};

export const answers: readonly Bad[] = [
  {
    title: "HTML with 200",
    answer: html(200),
    ...strange,
    says: /with 200: that is no .*<h1>Welcome/,
  },
  { title: "HTML with 404", answer: html(404), ...refused, says: /with 404: .*<h1>Welcome/ },
  { title: "405", answer: text(405, ""), ...refused, says: /with 405: no message/ },
  { title: "a text with 500", answer: text(500, `panicked: ${echo}`), ...broken, says: /with 500: panicked: / },
  {
    title: "JSON with 500",
    answer: json(500, { code: 18, error: `Internal: ${echo}` }),
    ...broken,
    says: /with 500: Internal: /,
  },
  { title: "nothing with 500", answer: text(500, ""), ...broken, says: /with 500: no message/ },
  { title: "501", answer: json(501, { message: "not here" }), ...broken, says: /with 501: not here/ },
  {
    title: "401",
    answer: text(401, `unknown key: ${echo}`),
    code: "ERR_CREDENTIALS",
    reads: 1,
    verdict: "refused",
    says: /refuses the credentials for .* \(401\): unknown key: \*\*\*.*check apiKey or MIGRATE_API_KEY/,
  },
  {
    title: "403 with an own format",
    answer: json(403, { headers: { "x-api-key": key } }),
    code: "ERR_CREDENTIALS",
    reads: 1,
    verdict: "refused",
    says: /\(403\): .*"x-api-key":"\*\*\*"/,
  },
  {
    title: "429 without a time",
    answer: json(429, { error: "slow down" }),
    code: answered,
    reads: 4,
    verdict: "throttled",
    says: /with 429: slow down/,
  },
  { title: "502", answer: html(502), code: unreachable, reads: 4, verdict: "unanswered", says: /gateway.* 502/ },
  { title: "503", answer: html(503), code: answered, reads: 4, verdict: "unanswered", says: /with 503: / },
  { title: "504", answer: text(504, ""), code: unreachable, reads: 4, verdict: "unanswered", says: /gateway.* 504/ },
  {
    title: "half a JSON",
    answer: text(200, `{"tables":["a","b"],"version":${echo}`, "application/json"),
    ...strange,
    says: /with 200: that is no /,
  },
  { title: "a JSON text", answer: json(200, `tables ${key}`), ...strange, says: /that is no .*"tables \*\*\*"/ },
  { title: "a JSON number", answer: json(200, 7), ...strange, says: /that is no .*: 7/ },
  { title: "null", answer: json(200, null), ...strange, says: /that is no .*: null/ },
  {
    title: "a list of the wrong type",
    answer: json(200, { tables: "a", version: "b", echo }),
    ...strange,
    says: /that is no /,
  },
  {
    title: "an error with 200",
    answer: json(200, { error: `no database ${echo}`, version: "none" }),
    ...broken,
    says: /that is no .*no database/,
  },
  {
    title: "nothing with 200",
    answer: text(200, ""),
    ...broken,
    taken: ["create", "alter"],
    says: /that is no .*no message/,
  },
  {
    title: "204",
    answer: text(204, ""),
    ...broken,
    taken: ["create", "alter"],
    says: /with 204: that is no .*no message/,
  },
  ...([301, 302, 303, 307, 308] as const).map((status): Bad => ({
    title: `a redirect with ${status}`,
    answer: (response) =>
      response
        .writeHead(status, {
          location: `https://${encodeURIComponent(key)}@elsewhere.example/${encodeURIComponent(key)}?key=${encodeURIComponent(key)}`,
        })
        .end(html.toString()),
    ...refused,
    says: /it redirects to https:\/\/\*\*\*@elsewhere\.example\/\*\*\*; put the address that it really has into endpoint/,
  })),
  {
    title: "a redirect to nowhere",
    answer: (response) => response.writeHead(302).end(),
    ...refused,
    says: /with 302: it redirects; put/,
  },
  {
    title: "304",
    answer: (response) => response.writeHead(304).end(),
    ...refused,
    says: /with 304: /,
  },
  {
    title: "an answer that drips",
    answer: drip,
    code: unreachable,
    reads: 4,
    verdict: "unanswered",
    says: /127\.0\.0\.1:\d+ gave no whole answer within 0\.4 s/,
    ...quick,
  },
  {
    title: "no answer",
    answer: () => {},
    code: unreachable,
    reads: 4,
    verdict: "unanswered",
    says: /gave no whole answer within 0\.4 s/,
    ...quick,
  },
  {
    title: "a connection that is cut instead of an answer",
    answer: (response) => response.destroy(),
    code: unreachable,
    reads: 4,
    verdict: "unanswered",
    says: /127\.0\.0\.1:\d+ cut the connection before its answer was complete/,
  },
  {
    title: "a connection that is cut in the body",
    answer: (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"tables":["a",', () => response.destroy());
    },
    code: unreachable,
    reads: 4,
    verdict: "unanswered",
    says: /cut the connection before its answer was complete/,
  },
  {
    title: "a body that is shorter than it says",
    answer: (response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("[]", () => response.destroy());
    },
    code: unreachable,
    reads: 4,
    verdict: "unanswered",
    says: /cut the connection before its answer was complete/,
  },
  {
    title: "garbage that is said to be gzip",
    answer: text(200, `no gzip ${echo}`, "application/json", { "content-encoding": "gzip" }),
    ...strange,
    says: /that is no |gzip|compress/,
  },
  {
    title: "gzip that nobody asked for",
    answer: (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync('{"error":"x"}')),
    ...strange,
    says: /that is no |gzip|compress/,
  },
];

/** Bytes that are no answer of any kind, or one that Node's own server would not send. */
export const bytes: readonly (readonly [title: string, bytes: string, says: RegExp])[] = [
  ["another protocol", `SSH-2.0-OpenSSH_9.6 ${echo}\r\n`, /127\.0\.0\.1:\d+.*HTTP/],
  ["HTTP of another kind", `HTTP/9.7 200 OK\r\n\r\n${echo}`, /127\.0\.0\.1:\d+.*HTTP/],
  ["a status that is none", `HTTP/1.1 abc ${echo}\r\n\r\n`, /127\.0\.0\.1:\d+.*HTTP/],
  ["a header that is none", `HTTP/1.1 200 OK\r\nno header ${echo}\r\n\r\n[]`, /127\.0\.0\.1:\d+.*HTTP/],
  [
    "a header that is too long",
    `HTTP/1.1 200 OK\r\nx-echo: ${"a".repeat(200_000)} ${key}\r\n\r\n[]`,
    /headers? of 127\.0\.0\.1:\d+/,
  ],
  [
    "a chunk that is none",
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${key}\r\n`,
    /127\.0\.0\.1:\d+.*(HTTP|chunk)/,
  ],
  [
    "a length that is none",
    `HTTP/1.1 200 OK\r\ncontent-length: ${key}\r\n\r\n[]`,
    /127\.0\.0\.1:\d+.*(HTTP|[Ll]ength)/,
  ],
  ["an answer that is cut in its headers", `HTTP/1.1 200 OK\r\nx-echo: ${key}\r\nconte`, /cut the connection/],
  ["an answer that is cut in its first line", "HTTP/1.", /cut the connection/],
  [
    "an answer that is cut in a chunk",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n[",
    /cut the connection/,
  ],
];
