/** Sends a drawn request byte by byte over a connection of its own, and reads the answer. */
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Chance } from "../simulate/seeded-random.ts";
import type { DrawnRequest } from "./draw/requests.ts";

export interface Answer {
  readonly status: number;
  /** With names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Of the whole answer, in bytes. */
  readonly length: number;
}

/** The answer; a text that says what is wrong if it is none; undefined if there was none. */
export type Outcome = Answer | string | undefined;

/** Milliseconds that an answer may take. */
const longestAnswer = 600_000;

export async function send(port: number, request: DrawnRequest, chance: Chance): Promise<Outcome> {
  const received: Buffer[] = [];
  const socket = connect(port, "127.0.0.1");
  let limit: NodeJS.Timeout | undefined;
  const ended = new Promise<string | undefined>((resolve) => {
    socket.on("data", (bytes) => {
      received.push(bytes);
      if (typeof parseAnswer(Buffer.concat(received), request.method, false) === "object") resolve(undefined);
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(undefined));
    limit = setTimeout(() => resolve(`no answer within ${longestAnswer / 1_000} s`), longestAnswer);
  });
  await write(socket, request, chance);
  const problem = request.sending === "half" ? await Promise.race([ended, sleep(300)]) : await ended;
  socket.destroy();
  // It would keep what was received.
  clearTimeout(limit);
  const bytes = Buffer.concat(received);
  if (problem !== undefined) return problem;
  return bytes.length === 0 ? undefined : parseAnswer(bytes, request.method, true);
}

async function write(socket: ReturnType<typeof connect>, request: DrawnRequest, chance: Chance): Promise<void> {
  const { body, sending } = request;
  if (sending === "chunked") {
    socket.write(headOf(request, [["transfer-encoding", "chunked"]]));
    for (let at = 0; at < body.length; at += 60_000) {
      const chunk = body.subarray(at, at + 60_000);
      socket.write(`${chunk.length.toString(16)}\r\n`);
      socket.write(chunk);
      socket.write("\r\n");
    }
    return void socket.write("0\r\n\r\n");
  }
  if (sending === "misframed") return void socket.write(misframed(request, chance));
  if (sending === "garbage") return void socket.write(garbage(request, chance));
  const bytes = Buffer.concat([headOf(request, [["content-length", String(body.length)]]), body]);
  if (sending === "half") return void socket.write(bytes.subarray(0, 1 + chance.below(bytes.length)));
  if (sending === "slowly")
    for (let part = 0; part < 4; part++) {
      socket.write(bytes.subarray((part * bytes.length) / 4, ((part + 1) * bytes.length) / 4));
      await sleep(50);
    }
  else socket.write(bytes);
}

function headOf({ method, path, headers }: DrawnRequest, more: DrawnRequest["headers"]): Buffer {
  const lines = [...headers, ...more].map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
}

function misframed(request: DrawnRequest, chance: Chance): Buffer {
  const { body } = request;
  const length = chance.pick([
    "-1",
    "0",
    "1e3",
    "99999999999999999999",
    "x",
    "1, 2",
    String(body.length + 10),
    "+5",
    " 7 7",
  ]);
  const head = chance.pick([
    () => headOf(request, [["content-length", length]]),
    () =>
      headOf(request, [
        ["content-length", String(body.length)],
        ["content-length", "3"],
      ]),
    () =>
      headOf(request, [
        ["content-length", String(body.length)],
        ["transfer-encoding", "chunked"],
      ]),
    () => Buffer.concat([headOf(request, [["transfer-encoding", "chunked"]]), Buffer.from("zz\r\nnonsense\r\n")]),
    () => Buffer.concat([headOf(request, [["transfer-encoding", "chunked"]]), Buffer.from("ffffffffffffffff\r\n")]),
    () => Buffer.concat([headOf(request, [["transfer-encoding", "chunked"]]), Buffer.from("5\r\nab")]),
  ])();
  return Buffer.concat([head, body]);
}

function garbage(request: DrawnRequest, chance: Chance): Buffer {
  const head = headOf(request, [["content-length", "0"]]);
  return chance.pick([
    () => Buffer.from(Array.from({ length: 1 + chance.below(500) }, () => chance.below(256))),
    () =>
      Buffer.from(
        head.toString("latin1").replace("HTTP/1.1", chance.pick(["HTTP/9.9", "HTTP/1.0", "", "HTTP/2.0"])),
        "latin1",
      ),
    () => Buffer.from(head.toString("latin1").replaceAll("\r\n", "\n"), "latin1"),
    () => Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), head]),
    () => Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]),
    () => Buffer.concat([head, head, head]),
    () => Buffer.from(`GET /${"x".repeat(70_000)} HTTP/1.1\r\n\r\n`),
    () => Buffer.from(head.toString("latin1").replace("host:", "host :\0"), "latin1"),
  ])();
}

/** The first final answer in what was received. */
export function parseAnswer(bytes: Buffer, method: string, isClosed: boolean): Answer | string {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return `no end of the head: ${JSON.stringify(bytes.toString("latin1", 0, 200))}`;
  const [first = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) [\w -]+$/.exec(first)?.[1]);
  if (!Number.isInteger(status)) return `no status: ${JSON.stringify(first.slice(0, 200))}`;
  const rest = bytes.subarray(end + 4);
  if (status < 200) return rest.length === 0 ? "only an interim answer" : parseAnswer(rest, method, isClosed);
  const complete = (body: Buffer, used: number): Answer => ({ status, headers, body, length: end + 4 + used });
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const parts = /^([\w-]+): ?(.*)$/.exec(line);
    if (parts === null) return `no header: ${JSON.stringify(line.slice(0, 200))}`;
    headers[parts[1]!.toLowerCase()] = parts[2]!;
  }
  if (method === "HEAD") return complete(Buffer.alloc(0), 0);
  if (headers["transfer-encoding"] === "chunked") {
    const { body, used } = unchunked(rest) ?? {};
    return body === undefined ? "the last chunk is missing" : complete(body, used!);
  }
  if (headers["content-length"] === undefined && !isClosed) return "the body ends with the connection";
  const length = Number(headers["content-length"] ?? rest.length);
  if (rest.length < length) return `${rest.length} of ${length} bytes of the body`;
  return complete(rest.subarray(0, length), length);
}

function unchunked(bytes: Buffer): { readonly body: Buffer; readonly used: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const length = Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (length === 0 && bytes.length < end + 4) return undefined;
    if (length === 0) return { body: Buffer.concat(chunks), used: end + 4 };
    at = end + 2 + length + 2;
    if (!(at <= bytes.length)) return undefined;
    chunks.push(bytes.subarray(end + 2, end + 2 + length));
  }
}
