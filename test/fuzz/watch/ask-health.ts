/** A thread that asks for the service's health without pause, so that a busy fuzzer does not make the answers look slow. */
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

const { port, pid } = workerData as { readonly port: number; readonly pid: number };

export interface Asked {
  /** Milliseconds until the answer; Infinity if there is none. */
  readonly took: number;
  /** The part of it in which the service, or this thread, was ready and other programs had the processors. */
  readonly waited: number;
}

/** Milliseconds. */
function ask(): Promise<number> {
  const started = performance.now();
  return new Promise((resolve) => {
    const sent = request({ port, host: "127.0.0.1", path: "/healthz", agent: false, timeout: 600_000 }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode === 200 ? performance.now() - started : Infinity));
    });
    sent.on("timeout", () => sent.destroy(new Error("too slow")));
    sent.on("error", () => resolve(Infinity));
    sent.end();
  });
}

/** Milliseconds since the start in which a thread waited for a processor. 0 where Linux does not count them. */
function waitedFor(thread: string): number {
  try {
    return Number(readFileSync(`/proc/${thread}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

const waitedInAll = () => waitedFor(String(pid)) + waitedFor("thread-self");

// Until it is terminated.
for (;;) {
  const before = waitedInAll();
  const took = await ask();
  const asked: Asked = { took, waited: Math.min(took, waitedInAll() - before) };
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not that of a window
  parentPort!.postMessage(asked);
  await sleep(50);
}
