/** Watches a service while it is fuzzed: how long it takes to say that it is up, and how much memory it uses. */
import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";

/** In milliseconds. */
const slowHealth = 500;

export interface Watched {
  /** Milliseconds. */
  worstHealth: number;
  /** In bytes. Undefined where there is no /proc. */
  serviceMemory: number | undefined;
  /** Of the largest worker. */
  workerMemory: number | undefined;
}

/** `slow` is called with milliseconds when an answer took long. */
export function watchService(port: number, pid: number, slow: (took: number) => void) {
  const watched: Watched = { worstHealth: 0, serviceMemory: undefined, workerMemory: undefined };
  const asking = new Worker(new URL("ask-health.ts", import.meta.url), { workerData: { port } });
  asking.on("message", (took: number) => {
    watched.worstHealth = Math.max(watched.worstHealth, took);
    if (took > slowHealth) slow(took);
  });
  const sampling = setInterval(() => {
    watched.serviceMemory = larger(watched.serviceMemory, residentMemory(pid));
    for (const worker of childrenOf(pid)) watched.workerMemory = larger(watched.workerMemory, residentMemory(worker));
  }, 300);
  return {
    watched,
    async stop(): Promise<void> {
      clearInterval(sampling);
      await asking.terminate();
    },
  };
}

function larger(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || (other ?? 0) > one ? other : one;
}

function residentMemory(pid: number): number | undefined {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(procFile(`${pid}/status`))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

function childrenOf(pid: number): readonly number[] {
  return procFile(`${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
}

/** Empty if the process has ended, or if there is no /proc. */
function procFile(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return "";
  }
}
