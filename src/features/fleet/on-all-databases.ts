/** Runs one command on all databases of a target: canaries first, then several at a time. */
import { interruptedEarly } from "../../errors/migrate-error.ts";
import { remembered } from "../../migrations/source.ts";
import type { RunEvent } from "../../run/events.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import type { CheckedDatabase } from "../../session/open-target.ts";
import type { SessionOfSeveral } from "../../session/session.ts";

export interface DatabasesChoice {
  /** How many databases to work on at a time; 8 by default. */
  readonly concurrency?: number | undefined;
  /** How many of the first databases must succeed before the others begin; 1 by default. */
  readonly canaries?: number | undefined;
  /** The number of failures after which no other database begins; no limit by default. */
  readonly maxFailures?: number | undefined;
}

type DatabaseOutcome<Result> = { readonly result: Result } | { readonly error: unknown };

/** How the work on one database ended. `duration`: milliseconds. */
export type DatabaseEnd<Result> = DatabaseOutcome<Result> & { readonly database: string; readonly duration: number };

export interface Observer<Result> {
  /** Before the first database begins, with the names of all. */
  begin?(names: readonly string[]): void;
  /** An event of the run on a database. */
  emit?(event: RunEvent, database: string): void;
  /** Whether some run may hold a lease, which must reach a safe point. */
  underWay?(something: boolean): void;
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
  // What is wrong with all of them is the error of the command.
  migrations.list();
  /** The databases whose run may hold the lease. */
  const holding = new Set<CheckedDatabase>();
  let failures = 0;
  const isOver = () => options.signal?.aborted === true || failures >= maxFailures;

  const workOn = async (database: CheckedDatabase): Promise<Result> => {
    const opened = await databases.open(database);
    const emit = (event: RunEvent) => {
      if (event.event === "taking") holding.add(database);
      if (event.event === "waiting") holding.delete(database);
      observer.underWay?.(holding.size > 0);
      observer.emit?.(event, database.name);
    };
    try {
      const working = work({ ...opened, migrations, emit });
      return await abandonable(working, () => !holding.has(database), options.signal);
    } finally {
      holding.delete(database);
      observer.underWay?.(holding.size > 0);
      await opened.target.close();
    }
  };
  const outcomeOf = async (database: CheckedDatabase): Promise<DatabaseOutcome<Result>> => {
    try {
      return { result: await workOn(database) };
    } catch (error) {
      failures++;
      return { error };
    }
  };
  const workAndReport = async (database: CheckedDatabase): Promise<void> => {
    const started = performance.now();
    const outcome = await outcomeOf(database);
    observer.end({ database: database.name, duration: Math.round(performance.now() - started), ...outcome });
  };

  observer.begin?.(all.map(({ name }) => name));
  const isLost = () => failures > 0 || isOver();
  const first = await severally(all.slice(0, canaries), concurrency, isLost, workAndReport);
  const isCanaryLost = failures > 0;
  const others = isCanaryLost ? 0 : await severally(all.slice(canaries), concurrency, isOver, workAndReport);
  return {
    names: all.slice(first + others).map(({ name }) => name),
    why: options.signal?.aborted === true ? "interrupted" : isCanaryLost ? "canary" : "failures",
  };
}

/** Milliseconds between two checks of whether work can be given up. A command that is not under way ends after 2 s. */
const grace = 1_000;

/** Gives up work that does not end after an interruption, such as waiting for an answer, while `mayEnd`. */
async function abandonable<Result>(
  work: Promise<Result>,
  mayEnd: () => boolean,
  signal: AbortSignal | undefined,
): Promise<Result> {
  const givenUp = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => (timer = setInterval(() => mayEnd() && givenUp.reject(interruptedEarly()), grace));
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work, givenUp.promise]);
  } finally {
    signal?.removeEventListener("abort", onAbort);
    clearInterval(timer);
  }
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
