/** Servers that answer as badly as they are told to, and the search for a key in whatever came of it. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import {
  connect,
  createServer as createSocketServer,
  type AddressInfo,
  type Server as SocketServer,
  type Socket,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** A key with every character that some encoding writes otherwise. */
export const key = 'sk-5e"cr+et/7==\\q&<x>';

/** A request as it arrived. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** Which of the connections it came over, counted from 1. */
  readonly connection: number;
}

export interface Served {
  /** Without a slash at its end. */
  readonly url: string;
  readonly port: number;
  readonly seen: readonly Seen[];
  /** How many connections were opened, with or without a request. */
  connections(): number;
  /** Whether that connection is open, counted from 1. */
  isOpen(connection: number): boolean;
}

/** Answers the request, the `turn`th, counted from 1. */
export type Answering = (response: ServerResponse, request: Seen, turn: number) => void;

/** A server that is gone when the test file ends. */
export async function serve(answering: Answering, tls?: Certificate): Promise<Served> {
  const seen: Seen[] = [];
  const connections = new Map<Socket, number>();
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method = "", url: path = "", headers, rawHeaders, socket } = request;
    if (!connections.has(socket)) connections.set(socket, connections.size + 1);
    const one = {
      method,
      path,
      headers,
      rawHeaders,
      body: Buffer.concat(chunks),
      connection: connections.get(socket)!,
    };
    seen.push(one);
    answering(response, one, seen.length);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  let opened = 0;
  server.on("connection", () => opened++);
  const port = await listen(server);
  const url = `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`;
  const isOpen = (connection: number) => ![...connections.keys()][connection - 1]!.destroyed;
  return { url, port, seen, connections: () => opened, isOpen };
}

export interface SocketsServed {
  readonly url: string;
  readonly port: number;
  /** The first bytes that came over each connection. */
  readonly seen: readonly Buffer[];
}

/** A server that speaks whatever it wants, once something has arrived. */
export async function serveSockets(answering: (socket: Socket, bytes: Buffer) => void): Promise<SocketsServed> {
  const seen: Buffer[] = [];
  const server = createSocketServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      seen.push(bytes);
      answering(socket, bytes);
    });
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}`, port, seen };
}

const closing: (() => void)[] = [];
afterAll(() => closing.forEach((close) => close()));

export async function listen(server: Server | SocketServer): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  closing.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
}

export interface Authority {
  /** The file of its own certificate. */
  readonly file: string;
  /** A certificate that it signed, for these names; `days` below 0 for one that has run out. */
  sign(names: string, days?: number): Certificate;
}

/** A certificate authority that nobody trusts. */
export function anAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-ca-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...newKey, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Own CA", "-days", "2");
  let count = 0;
  return {
    file: join(folder, "ca.pem"),
    sign(names, days = 2) {
      const name = `server${++count}`;
      openssl(
        "req",
        ...newKey,
        "-keyout",
        `${name}.key`,
        "-out",
        `${name}.csr`,
        "-subj",
        "/CN=server",
        "-addext",
        `subjectAltName=${names}`,
      );
      const when =
        days > 0 ? ["-days", String(days)] : ["-not_before", "20200101000000Z", "-not_after", "20200102000000Z"];
      try {
        openssl(
          "x509",
          "-req",
          "-in",
          `${name}.csr`,
          "-CA",
          "ca.pem",
          "-CAkey",
          "ca.key",
          "-CAcreateserial",
          "-copy_extensions",
          "copy",
          "-out",
          `${name}.pem`,
          ...when,
        );
      } catch (error) {
        // OpenSSL before 3.4 knows no dates here, only days, of which it takes negative ones.
        if (days > 0) throw error;
        openssl(
          "x509",
          "-req",
          "-in",
          `${name}.csr`,
          "-CA",
          "ca.pem",
          "-CAkey",
          "ca.key",
          "-CAcreateserial",
          "-copy_extensions",
          "copy",
          "-out",
          `${name}.pem`,
          "-days",
          String(days),
        );
      }
      return { key: readFileSync(join(folder, `${name}.key`)), cert: readFileSync(join(folder, `${name}.pem`)) };
    },
  };
}

/** The key in the forms in which servers repeat what they were sent. */
export const echo = [key, `key=${encodeURIComponent(key)}`, Buffer.from(key).toString("base64")].join(" ");

const forms = [
  key,
  key.toLowerCase(),
  JSON.stringify(key).slice(1, -1),
  JSON.stringify(JSON.stringify(key).slice(1, -1)).slice(1, -1),
  encodeURIComponent(key),
  encodeURIComponent(key).toLowerCase(),
  // All but the end, which depends on what follows it.
  Buffer.from(key).toString("base64").slice(0, 24),
];

/** The forms of the key that a text holds. */
export function keysIn(text: string): readonly string[] {
  return forms.filter((form) => text.includes(form));
}

/** Every text that can be reached from a thrown value: message, stack, causes, details, bytes, hidden properties. */
export function textsIn(thrown: unknown): readonly string[] {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  const waiting: unknown[] = [thrown];
  while (waiting.length > 0 && seen.size < 100_000) {
    const value = waiting.pop();
    if (typeof value === "string") texts.push(value);
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    if (ArrayBuffer.isView(value)) {
      texts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1"));
      continue;
    }
    if (value instanceof Map || value instanceof Set) waiting.push(...[...value].flat());
    for (const name of Reflect.ownKeys(value)) {
      texts.push(String(name));
      try {
        waiting.push((value as Record<string | symbol, unknown>)[name]);
      } catch {
        // A getter of another realm's object; it holds nothing that was sent.
      }
    }
  }
  return texts;
}

export interface Proxy {
  readonly url: string;
  /** The first line of each request, and of each CONNECT. */
  readonly seen: readonly string[];
  /** What came in `proxy-authorization`. */
  readonly authorizations: readonly (string | undefined)[];
}

/** An HTTP proxy that carries requests and tunnels; `status` for one that refuses to. */
export async function serveProxy(status = 200): Promise<Proxy> {
  const seen: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const server = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    authorizations.push(incoming.headers["proxy-authorization"]);
    if (status !== 200) return void response.writeHead(status).end("the proxy says no");
    const outgoing = request(incoming.url!, { method: incoming.method, headers: incoming.headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.writeHead(502).end("the proxy reaches nothing"));
    incoming.pipe(outgoing);
  });
  server.on("connect", (incoming, socket: Socket) => {
    seen.push(`CONNECT ${incoming.url}`);
    authorizations.push(incoming.headers["proxy-authorization"]);
    socket.on("error", () => {});
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const behind = connect(Number(port), hostname, () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
    behind.on("error", () => socket.destroy()).pipe(socket);
    socket.pipe(behind);
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, seen, authorizations };
}
