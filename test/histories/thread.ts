/** The thread of the applications, so that they write while a run is at work. */
import { parentPort } from "node:worker_threads";
import { lancedb } from "../support/tables.ts";
import { Application } from "./application.ts";
import type { Mood } from "./moods.ts";
import type { Keys, Write } from "./write.ts";

export interface Setting {
  readonly seed: number;
  readonly folder: string;
  /** The address of a service in front of the folder. */
  readonly service?: { readonly url: string; readonly apiKey: string } | undefined;
}

export interface Calls {
  open(setting: Setting): Promise<void>;
  /** So many writes, one after the other. */
  write(count: number, keys: Keys, mood: Mood): Promise<readonly Write[]>;
  /** Writes until it is stopped, or each writer has written a dozen times. */
  start(keys: Keys, mood: Mood): Promise<void>;
  /** Several writes at once, at just this moment. */
  burst(): Promise<void>;
  /** Gives what was written since `start`. */
  stop(): Promise<readonly Write[]>;
  close(): Promise<void>;
}

/** By the number of a history. */
const applications = new Map<number, Application>();

const calls: { readonly [Call in keyof Calls]: (history: number, ...args: Parameters<Calls[Call]>) => unknown } = {
  async open(history, setting) {
    const local = await lancedb.connect(setting.folder);
    const { service } = setting;
    const db =
      service === undefined
        ? await lancedb.connect(setting.folder)
        : await lancedb.connect("db://x", {
            apiKey: service.apiKey,
            hostOverride: service.url,
            clientConfig: { retryConfig: { retries: 0, connectRetries: 0, readRetries: 0 } },
          });
    applications.set(history, new Application(setting.seed, { db, local }));
  },
  write: (history, ...args) => applications.get(history)!.write(...args),
  start: (history, ...args) => applications.get(history)!.start(...args),
  burst: (history) => applications.get(history)!.burst(),
  stop: (history) => applications.get(history)!.stop(),
  close(history) {
    applications.get(history)!.close();
    applications.delete(history);
  },
};

// What goes to another thread has no origin.
/* oxlint-disable unicorn/require-post-message-target-origin */
parentPort?.on("message", async ({ id, history, call, args }: Request) => {
  try {
    const work = calls[call] as (history: number, ...args: readonly unknown[]) => unknown;
    parentPort!.postMessage({ id, result: await work(history, ...args) });
  } catch (error) {
    parentPort!.postMessage({ id, problem: String((error as Error).stack ?? error) });
  }
});

export interface Request {
  readonly id: number;
  readonly history: number;
  readonly call: keyof Calls;
  readonly args: readonly unknown[];
}
