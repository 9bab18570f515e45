/** A thread that asks for the service's health without pause, so that a busy fuzzer does not make the answers look slow. */
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

const { port } = workerData as { readonly port: number };

/** Milliseconds until the answer; Infinity if there is none. */
function ask(): Promise<number> {
  const started = performance.now();
  return new Promise((resolve) => {
    const sent = request({ port, host: "127.0.0.1", path: "/healthz", agent: false, timeout: 30_000 }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode === 200 ? performance.now() - started : Infinity));
    });
    sent.on("timeout", () => sent.destroy(new Error("too slow")));
    sent.on("error", () => resolve(Infinity));
    sent.end();
  });
}

// Until it is terminated.
for (;;) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not that of a window
  parentPort!.postMessage(await ask());
  await sleep(50);
}
