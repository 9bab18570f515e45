/** Bounds the connections of each address: connections that send little or nothing must not take all of them. */
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Files that are reserved for the rest of the service: pipes to workers, bodies and answers, the engine. */
const otherFiles = 160;
/** Of all addresses. */
const mostInAll = Math.min(4_096, Math.max(openFiles() - otherFiles, 16));
/** Of one address. Programs behind one proxy share its address. */
const most = Math.min(512, Math.ceil(mostInAll / 2));
/** Of one address, those whose first request has not arrived. When there are more, the oldest ends. */
const mostSilent = Math.min(256, Math.ceil(most / 2));

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

/** How many files this process may open. Node has no call for it; without /proc, the limit is unknown and ignored. */
function openFiles(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))![1]);
  } catch {
    return Infinity;
  }
}
