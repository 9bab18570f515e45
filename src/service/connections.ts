/** Bounds the connections of each address: connections that send little or nothing must not take all of them. */
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Of one address. Programs behind one proxy share its address. */
const most = 512;
/** Of one address, those whose first request has not arrived. When there are more, the oldest ends. */
const mostSilent = 256;
/** Of all addresses. */
const mostInAll = 4_096;

interface Connections {
  readonly all: Set<Socket>;
  /** In order of arrival. */
  readonly silent: Set<Socket>;
}

export function boundConnections(server: Server): void {
  const byAddress = new Map<string, Connections>();
  server.maxConnections = mostInAll;
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const mine = byAddress.get(address) ?? { all: new Set(), silent: new Set() };
    if (mine.all.size >= most) return void socket.destroy();
    byAddress.set(address, mine);
    mine.all.add(socket);
    mine.silent.add(socket);
    if (mine.silent.size > mostSilent) mine.silent.values().next().value!.destroy();
    socket.once("close", () => {
      mine.all.delete(socket);
      mine.silent.delete(socket);
      if (mine.all.size === 0) byAddress.delete(address);
    });
  });
  server.on("request", ({ socket }) => byAddress.get(socket.remoteAddress ?? "")?.silent.delete(socket));
}
