/** Bounds the connections of each address: connections that send little or nothing must not take all of them. */
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Files that are reserved for the rest of the service: pipes to workers, bodies and answers, the engine. */
const otherFiles = 160;
/** Of all addresses. */
const mostInAll = Math.min(4_096, Math.max(openFiles() - otherFiles, 16));
/** Of one address. Everybody behind a proxy has its address, and a client opens a connection for each parallel call. */
const most = Math.ceil(mostInAll / 2);
/** Of one address, those whose first request does not arrive, once most of all connections are taken. */
const mostSilent = Math.min(256, Math.ceil(most / 2));
/** Up to here they stay: their clients would open others, which costs more than they do. */
const manyInAll = Math.ceil(mostInAll * 0.75);
/** Milliseconds for the first request: when many connections come at once, the service accepts all before it reads any. */
const grace = 1_000;

interface Connections {
  readonly all: Set<Socket>;
  /** Those whose first request has not arrived, in order of arrival. */
  readonly silent: Set<Socket>;
}

export function boundConnections(server: Server, refused: Refusals): void {
  const byAddress = new Map<string, Connections>();
  let inAll = 0;
  const forget = (mine: Connections, socket: Socket, address: string) => {
    if (mine.all.delete(socket)) inAll--;
    mine.silent.delete(socket);
    if (mine.all.size === 0) byAddress.delete(address);
  };
  const endSilent = (mine: Connections, socket: Socket, address: string) => {
    forget(mine, socket, address);
    socket.destroy();
    refused.add(`${mostSilent} of one address that send no request (${address})`);
  };
  server.maxConnections = mostInAll;
  server.on("drop", () => refused.add(`${mostInAll} in all`));
  server.once("close", refused.end);
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const mine = byAddress.get(address) ?? { all: new Set(), silent: new Set() };
    if (mine.all.size >= most) {
      if (mine.silent.size <= mostSilent) {
        refused.add(`${most} of one address (${address})`);
        return void socket.destroy();
      }
      endSilent(mine, mine.silent.values().next().value!, address);
    }
    byAddress.set(address, mine);
    mine.all.add(socket);
    inAll++;
    mine.silent.add(socket);
    const isTooSilent = () => inAll > manyInAll && mine.silent.has(socket) && mine.silent.size > mostSilent;
    const timer = setTimeout(() => {
      // If the service was busy, a request may have arrived that is read only now.
      setImmediate(() => isTooSilent() && endSilent(mine, socket, address));
    }, grace).unref();
    socket.once("close", () => {
      clearTimeout(timer);
      forget(mine, socket, address);
    });
  });
  server.on("request", ({ socket }) => byAddress.get(socket.remoteAddress ?? "")?.silent.delete(socket));
}

/** Milliseconds between two lines about refused connections, and from the first refusal to its line. */
const noteInterval = 60_000;
const noteDelay = 1_000;
/** In a line. Each address has limits of its own. */
const mostReasons = 5;

export type Refusals = ReturnType<typeof countRefusals>;

/** Counts refusals by the limit that they exceeded. `note` gets a line about them, at most one in a minute. */
export function countRefusals(note: (line: string) => void) {
  const counts = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let last = -Infinity;
  const report = () => {
    timer = undefined;
    last = performance.now();
    const reasons = [...counts].toSorted(([, one], [, other]) => other - one);
    const shown = reasons.slice(0, mostReasons).map(([limit, count]) => `${count} beyond ${limit}`);
    const others = reasons.length > mostReasons ? [`others beyond ${reasons.length - mostReasons} more limits`] : [];
    counts.clear();
    note(`refused connections: ${[...shown, ...others].join("; ")}`);
  };
  return {
    add(limit: string) {
      // An attacker with many addresses must not fill the memory.
      if (counts.has(limit) || counts.size < 1_000) counts.set(limit, (counts.get(limit) ?? 0) + 1);
      timer ??= setTimeout(report, Math.max(noteDelay, last + noteInterval - performance.now())).unref();
    },
    /** Reports what was not reported yet. */
    end() {
      clearTimeout(timer);
      if (counts.size > 0) report();
    },
  };
}

/** How many files this process may open. Node has no call for it; without /proc, the limit is unknown and ignored. */
function openFiles(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))![1]);
  } catch {
    return Infinity;
  }
}
