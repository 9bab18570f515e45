/** A way to a service on which one request gets no answer, because something happens before, during or after the service's work on it. */
import { createServer, request as ask } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export type Moment = "before" | "during" | "after";

export interface Incident {
  /** Counted from 1. */
  readonly request: number;
  readonly moment: Moment;
  readonly happen: () => Promise<unknown>;
}

export interface Way {
  readonly url: string;
  /** How many requests have come by. */
  requests(): number;
}

export async function aWayTo(service: string, incident?: Incident): Promise<Way> {
  let requests = 0;
  const server = createServer(async (incoming, outgoing) => {
    const now = ++requests === incident?.request ? incident.moment : undefined;
    const lose = () => incoming.socket.destroy();
    const body = Buffer.concat(await incoming.toArray());
    if (now === "before") await incident?.happen();
    if (now === "during") void incident?.happen();
    const { method, headers, url } = incoming;
    const onward = ask(`${service}${url}`, { method, headers, agent: false }, async (answer) => {
      const parts: Buffer[] | undefined = await answer.toArray().catch(() => undefined);
      if (now === "after") await incident?.happen();
      if (now !== undefined || parts === undefined) return void lose();
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers).end(Buffer.concat(parts));
    });
    onward.on("error", lose).end(body);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests };
}
