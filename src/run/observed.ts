/** Runs, and the features that listen to them. */
import type { Emit, RunEvent } from "./events.ts";

/** A run, with the names of its target and its database in the configuration. */
export interface ObservedRun {
  readonly operation: "up" | "down" | "prepare";
  readonly target: string;
  readonly database?: string | undefined;
}

export interface RunListener {
  see(event: RunEvent): void;
  /** Does the work of the run. Returns what that returns, and throws what it throws. */
  around<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Called when a run begins. Undefined if nothing listens to this one. */
export type Listen = (run: ObservedRun) => Promise<RunListener | undefined>;

/** What the options of a run state about it. */
export interface Observable {
  /** Each is called when a run begins. */
  readonly listeners?: readonly ((operation: ObservedRun["operation"]) => ReturnType<Listen>)[] | undefined;
  readonly emit?: Emit | undefined;
}

export async function observed<Options extends Observable, Result>(
  operation: ObservedRun["operation"],
  options: Options,
  work: (options: Options) => Promise<Result>,
): Promise<Result> {
  // Begins at once, as the simulator of the tests needs it.
  if (options.listeners === undefined) return await work(options);
  const listening = await Promise.all(options.listeners.map((listen) => listen(operation)));
  const listeners = listening.filter((one) => one !== undefined);
  if (listeners.length === 0) return await work(options);
  const emit = (event: RunEvent) => {
    for (const listener of listeners) listener.see(event);
    options.emit?.(event);
  };
  let run = () => work({ ...options, emit });
  for (const { around } of listeners) {
    const inner = run;
    run = () => around(inner);
  }
  return await run();
}
