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

/**
 * What happens to a request: `lost` acts and loses the answer, `cut` loses the second half of its body, `unsent` never
 * reaches the service, nor does one that the proxy answers itself.
 */
export type Fate = "passes" | "lost" | "cut" | "unsent" | Answer;

/** What the proxy answers in place of the service. */
export interface Answer {
  readonly status: number;
  readonly body?: string;
}

export interface Proxy {
  readonly url: string;
  readonly passed: readonly Passed[];
  /** Decides the fate of each request, counted from 1. */
  fate: (request: number, path: string, body: Buffer, method: string) => Fate | Promise<Fate>;
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
      const fate = await proxy.fate(++count, path, body, method);
      const seen = { method, path, headers, body };
      if (fate === "unsent") {
        passed.push({ ...seen, status: undefined });
        incoming.socket.destroy();
        return;
      }
      if (typeof fate === "object") {
        passed.push({ ...seen, status: undefined });
        outgoing.writeHead(fate.status, { "content-type": "application/xml" }).end(fate.body);
        return;
      }
      const onward = ask(`${target}${path}`, { method, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => parts.push(chunk));
        answer.on("end", () => {
          passed.push({ ...seen, status: answer.statusCode });
          if (fate === "lost") return void incoming.socket.destroy();
          const whole = Buffer.concat(parts);
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          if (fate === "passes") outgoing.end(whole);
          else outgoing.write(whole.subarray(0, whole.length / 2), () => incoming.socket.destroy());
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
