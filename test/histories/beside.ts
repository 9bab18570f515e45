/** The thread in which the applications of histories run. */
import { Worker } from "node:worker_threads";
import type { Calls, Request } from "./thread.ts";

export interface Beside {
  /** The application of a history. */
  application(history: number): Calls;
  close(): Promise<void>;
}

export function startBeside(): Beside {
  const worker = new Worker(new URL("thread.ts", import.meta.url));
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let last = 0;
  worker.on("message", ({ id, result, problem }: { id: number; result?: unknown; problem?: string }) => {
    const one = waiting.get(id);
    waiting.delete(id);
    if (problem === undefined) one?.resolve(result);
    else one?.reject(new Error(`the application: ${problem}`));
  });
  worker.on("error", (error) => {
    for (const { reject } of waiting.values()) reject(error as Error);
  });
  const ask = (history: number, call: keyof Calls, args: readonly unknown[]) =>
    new Promise<never>((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- what goes to another thread has none
      worker.postMessage({ id, history, call, args } satisfies Request);
    });
  return {
    application: (history) => ({
      open: (setting) => ask(history, "open", [setting]),
      write: (...args) => ask(history, "write", args),
      start: (...args) => ask(history, "start", args),
      burst: () => ask(history, "burst", []),
      stop: () => ask(history, "stop", []),
      close: () => ask(history, "close", []),
    }),
    close: async () => void (await worker.terminate()),
  };
}
