/** Runs one command on all databases of a target: canaries first, then several at a time. */
import { remembered } from "../migrations/source.ts";
import type { RunEvent } from "../run/events.ts";
import type { MigratorOptions } from "../run/run-context.ts";
import type { NamedDatabase } from "./databases.ts";
import type { SessionOfSeveral } from "./session.ts";

export interface DatabasesChoice {
  /** How many databases to work on at a time; 8 by default. */
  readonly concurrency?: number | undefined;
  /** How many of the first databases must succeed before the others begin; 1 by default. */
  readonly canaries?: number | undefined;
  /** The number of failures after which no other database begins; no limit by default. */
  readonly maxFailures?: number | undefined;
}

type Outcome<Result> = { readonly result: Result } | { readonly error: unknown };

/** How the work on one database ended. `duration`: milliseconds. */
export type DatabaseEnd<Result> = Outcome<Result> & { readonly database: string; readonly duration: number };

export interface Observer<Result> {
  /** Before the first database begins. `total`: how many databases the target has. */
  begin?(total: number): void;
  /** An event of the run on a database. */
  emit?(event: RunEvent, database: string): void;
  /** Results are not kept: there may be many databases. */
  end(one: DatabaseEnd<Result>): void;
}

/** The databases with which the work has not begun, and why. */
export interface Untried {
  readonly names: readonly string[];
  readonly why: "interrupted" | "canary" | "failures";
}

/** Does not throw what `work` throws: that is the end of one database. */
export async function onAllDatabases<Result>(
  session: SessionOfSeveral,
  work: (options: MigratorOptions) => Promise<Result>,
  { concurrency = 8, canaries = 1, maxFailures = Infinity }: DatabasesChoice,
  observer: Observer<Result>,
): Promise<Untried> {
  const { databases, options } = session;
  const all = await databases.list();
  // All databases get the same migrations, even if a file changes meanwhile.
  const migrations = remembered(options.migrations);
  let failures = 0;
  const isOver = () => options.signal?.aborted === true || failures >= maxFailures;

  const workOn = async (database: NamedDatabase): Promise<Result> => {
    const opened = await databases.open(database);
    try {
      const emit = (event: RunEvent) => observer.emit?.(event, database.name);
      return await work({ ...opened, migrations, emit });
    } finally {
      await opened.target.close();
    }
  };
  const outcomeOf = async (database: NamedDatabase): Promise<Outcome<Result>> => {
    try {
      return { result: await workOn(database) };
    } catch (error) {
      failures++;
      return { error };
    }
  };
  const workAndReport = async (database: NamedDatabase): Promise<void> => {
    const started = performance.now();
    const outcome = await outcomeOf(database);
    observer.end({ database: database.name, duration: Math.round(performance.now() - started), ...outcome });
  };

  observer.begin?.(all.length);
  const first = await severally(all.slice(0, canaries), concurrency, isOver, workAndReport);
  const isCanaryLost = failures > 0;
  const others = isCanaryLost ? 0 : await severally(all.slice(canaries), concurrency, isOver, workAndReport);
  return {
    names: all.slice(first + others).map(({ name }) => name),
    why: options.signal?.aborted === true ? "interrupted" : isCanaryLost ? "canary" : "failures",
  };
}

/** Works on the items in their order, several at a time, until `isOver`. Returns how many have begun. */
async function severally<Item>(
  items: readonly Item[],
  concurrency: number,
  isOver: () => boolean,
  work: (item: Item) => Promise<void>,
): Promise<number> {
  let begun = 0;
  const worker = async () => {
    while (begun < items.length && !isOver()) await work(items[begun++]!);
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  return begun;
}
