/** HTTP byte for byte: nothing is encoded, corrected or tried again on the way. */
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { Readable } from "node:stream";

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array | Iterable<Uint8Array>;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends a request over a connection of its own. A body that is refused half-way is left unsent. */
export async function send(url: string, { method = "POST", path, headers, body }: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return await new Promise<RawAnswer>((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers: headers as never, agent: false });
    const source = body === undefined || typeof body === "string" || body instanceof Uint8Array ? undefined : body;
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      const finish = () => {
        stream?.destroy();
        sent.destroy();
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) });
      };
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", finish);
      response.on("error", finish);
    });
    sent.on("error", reject);
    const stream = source === undefined ? undefined : Readable.from(source);
    if (stream === undefined) sent.end(body as string | Uint8Array | undefined);
    else stream.pipe(sent);
  });
}

/** Sends bytes that may be no HTTP at all and waits until the other side has closed the connection. */
export async function sendBytes(url: string, bytes: string | Uint8Array): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const answer = await new Promise<Buffer>((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", () => {});
    socket.on("close", () => resolve(Buffer.concat(chunks)));
  });
  const [head = "", ...rest] = answer.toString("latin1").split("\r\n\r\n");
  const [first = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [line.split(":", 1)[0]!.toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return { status: Number(first.split(" ")[1]), headers, body: Buffer.from(rest.join("\r\n\r\n"), "latin1") };
}

/** Sends the beginning of a request and goes away. */
export async function hangUp(url: string, bytes: string | Uint8Array): Promise<void> {
  const { hostname, port } = new URL(url);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes, () => socket.destroy()));
    socket.on("error", () => {});
    socket.on("close", () => resolve());
  });
}

/** Sends the beginning of a request and stays. */
export function holdOpen(url: string, bytes: string, localAddress?: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, localAddress }, () => socket.write(bytes));
  socket.on("error", () => {});
  return socket;
}
