/** Watches a service while it is fuzzed: how long it takes to say that it is up, and how much memory it uses. */
import { Worker } from "node:worker_threads";
import { childrenOf, residentMemory } from "../../support/processes.ts";
import type { Asked } from "./ask-health.ts";

/** In milliseconds. */
const slowHealth = 500;

export interface Watched {
  /** Milliseconds. */
  worstHealth: number;
  /** Without the time in which other programs had the processors. */
  worstOwnHealth: number;
  /** In bytes. Undefined where there is no /proc. */
  serviceMemory: number | undefined;
  /** Of the largest worker. */
  workerMemory: number | undefined;
}

/** `slow` is called when an answer took long. */
export function watchService(port: number, pid: number, slow: (words: string) => void) {
  const watched: Watched = { worstHealth: 0, worstOwnHealth: 0, serviceMemory: undefined, workerMemory: undefined };
  const asking = new Worker(new URL("ask-health.ts", import.meta.url), { workerData: { port, pid } });
  asking.on("message", ({ took, waited }: Asked) => {
    watched.worstHealth = Math.max(watched.worstHealth, took);
    watched.worstOwnHealth = Math.max(watched.worstOwnHealth, took - waited);
    if (took > slowHealth) slow(`${Math.round(took)} ms, ${Math.round(waited)} of them waiting for a processor`);
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
