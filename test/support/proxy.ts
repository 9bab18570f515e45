/** A proxy in front of a service that remembers what passes, and may cut the connection before or after the service acts. */
import { createServer, request as ask, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface Passed {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The answer's status; undefined when the service was never asked. */
  readonly status: number | undefined;
}

/** What happens to a request: `lost` acts and loses the answer, `unsent` never reaches the service. */
export type Fate = "passes" | "lost" | "unsent";

export interface Proxy {
  readonly url: string;
  readonly passed: readonly Passed[];
  /** Decides the fate of each request, counted from 1. */
  fate: (request: number, path: string, body: Buffer) => Fate | Promise<Fate>;
}

/** `atEnd` is told how to close it; a test closes it when it has finished. */
export async function aProxy(target: string, atEnd: (close: () => void) => void = onTestFinished): Promise<Proxy> {
  const passed: Passed[] = [];
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", async () => {
      const { method = "", url: path = "", headers } = incoming;
      const body = Buffer.concat(chunks);
      const fate = await proxy.fate(++count, path, body);
      const seen = { method, path, headers, body };
      if (fate === "unsent") {
        passed.push({ ...seen, status: undefined });
        incoming.socket.destroy();
        return;
      }
      const onward = ask(`${target}${path}`, { method, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => parts.push(chunk));
        answer.on("end", () => {
          passed.push({ ...seen, status: answer.statusCode });
          if (fate === "lost") incoming.socket.destroy();
          else outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(Buffer.concat(parts));
        });
      });
      onward.end(body);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const proxy: Proxy = { url: `http://127.0.0.1:${port}`, passed, fate: () => "passes" };
  return proxy;
}
