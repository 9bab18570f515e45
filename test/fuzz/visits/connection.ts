/** A connection that stays open: requests are written in any parts, and their answers are read one after the other. */
import { connect, type Socket } from "node:net";
import { jsonType, streamType } from "../../../src/wire/content-types.ts";
import { parseAnswer, type Answer } from "../send.ts";

/** Milliseconds that an answer may take. */
const longestAnswer = 120_000;

export interface Connection {
  readonly socket: Socket;
  write(bytes: Buffer): void;
  /** The next answer; a text that says what is wrong if there is none. */
  next(): Promise<Answer | string>;
  /** Resolves when the service has closed it. */
  readonly closed: Promise<void>;
  destroy(): void;
}

export function openConnection(port: number): Connection {
  let received: Buffer = Buffer.alloc(0);
  let parts: Buffer[] = [];
  let isClosed = false;
  let notice = () => {};
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  socket.on("error", () => {});
  socket.on("data", (bytes) => {
    parts.push(bytes);
    notice();
  });
  const closed = new Promise<void>((resolve) => {
    socket.once("close", () => {
      isClosed = true;
      notice();
      resolve();
    });
  });
  const taken = (): Answer | string => {
    received = Buffer.concat([received, ...parts]);
    parts = [];
    if (received.length === 0) return "no answer";
    const answer = parseAnswer(received, "POST", isClosed);
    if (typeof answer === "object") received = received.subarray(answer.length);
    return answer;
  };
  return {
    socket,
    closed,
    write: (bytes) => void socket.write(bytes),
    async next() {
      const limit = performance.now() + longestAnswer;
      for (;;) {
        const answer = taken();
        if (typeof answer === "object" || isClosed) return answer;
        if (performance.now() > limit) return `no answer within ${longestAnswer / 1_000} s: ${answer}`;
        await new Promise<void>((resolve) => {
          const waiting = setTimeout(resolve, longestAnswer).unref();
          notice = () => {
            clearTimeout(waiting);
            resolve();
          };
          if (parts.length > 0 || isClosed) notice();
        });
      }
    },
    destroy: () => void socket.destroy(),
  };
}

export interface Message {
  /** With its query. */
  readonly path: string;
  /** Arrow data, what is written as JSON, or JSON as it is sent. */
  readonly body: Buffer | object | string;
  readonly headers?: readonly (readonly [string, string])[];
}

/** The bytes of a request; with a framing of its own, those of its head alone. */
export function bytesOf({ path, body, headers = [] }: Message, apiKey: string, framing?: readonly string[]): Buffer {
  const isArrow = Buffer.isBuffer(body);
  const bytes = bodyOf(body);
  const lines = [
    `POST ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    `x-api-key: ${apiKey}`,
    `content-type: ${isArrow ? streamType : jsonType}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(framing ?? [`content-length: ${bytes.length}`]),
  ];
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return framing === undefined ? Buffer.concat([head, bytes]) : head;
}

export function bodyOf(body: Message["body"]): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

/** The body in chunks of odd lengths, as a chunked request has it. */
export function chunksOf(body: Buffer, lengths: () => number): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const chunk = body.subarray(at, at + lengths());
    at += chunk.length;
    const name =
      chunk.length % 3 === 0 ? `000${chunk.length.toString(16).toUpperCase()};a="b"` : chunk.length.toString(16);
    parts.push(Buffer.from(`${name}\r\n`), chunk, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}
