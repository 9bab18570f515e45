/** A database of the embedded engine: its connections and tables, and its errors as those of the target. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createTable, leftoverIn } from "../../engine/create-table.ts";
import { dropTable, removeDropped } from "../../engine/drop-table.ts";
import {
  connectNatively,
  openTable,
  packageTable,
  type NativeDatabase,
  type NativeTable,
} from "../../engine/engine.ts";
import { engineLimits } from "../../engine/probes/engine-limits.ts";
import { damagedFile, mayBeDamage } from "../../engine/folder/damaged-file.ts";
import type { DatabaseLocation } from "../../engine/location.ts";
import { damagedManifest, mayBeEmptyObject } from "../../engine/problem/empty-object.ts";
import { engineProblem, isConflict, storeProblemOf } from "../../engine/problem/engine-problem.ts";
import { versionsOf, type OpenTable } from "../../engine/versions.ts";
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { CallOutcome } from "../contract/target.ts";
import { lazyConnection } from "./connection.ts";

export type Store = ReturnType<typeof openStore>;

/** `target`: its name. `answerSeconds`: how long a call that only reads may take in an object store. */
export function openStore(location: DatabaseLocation, target: string, answerSeconds: number) {
  const { folder, uri } = location;
  const connectFit = async (readConsistencyInterval?: number) => {
    await engineLimits();
    return await connectNatively(location, readConsistencyInterval);
  };
  // Without a read consistency interval, a handle stays at the version that it opened, and the engine refuses to alter
  // a table whose columns have changed since. With one, it would refresh itself and act on a table never described.
  const tables = lazyConnection(location, () => connectFit());
  // With an interval of 0, a handle sees at once what other processes commit.
  const records = lazyConnection(location, () => connectFit(0));
  let ledger: string | undefined;

  /** The error about a damaged file of these tables, or of any; undefined if none is found. */
  const damaged = (names?: Iterable<string>, cause?: unknown, own = ledger): MigrateError | undefined => {
    const found = folder === undefined || !existsSync(folder) ? undefined : damagedFile(folder, own, names);
    return found && new MigrateError("ERR_DAMAGED", { target, ...found }, { cause });
  };
  const damageBehind = (cause: unknown) => (mayBeDamage(cause) ? damaged(undefined, cause) : undefined);

  // The engine retries for a quarter of an hour. A limit on calls that change something would leave them in doubt.
  const withinTime = async <Result>(work: () => Promise<Result>): Promise<Result> =>
    folder === undefined ? await within(answerSeconds, work()) : await work();

  /** For reads that fail only if the database can't be reached. */
  const reaching = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await withinTime(work);
    } catch (cause) {
      if (isMigrateError(cause)) throw cause;
      const problem = engineProblem(cause);
      throw damageBehind(cause) ?? new MigrateError("ERR_TARGET_UNREACHABLE", { target, problem }, { cause });
    }
  };
  /** An error of a call: another one if it is about the object store itself, or a damaged file. */
  const translated = (cause: unknown): unknown => {
    const problem = folder === undefined && !isConflict(cause) ? storeProblemOf(cause)?.sentence : undefined;
    if (problem === undefined) return damageBehind(cause) ?? cause;
    return new MigrateError("ERR_TARGET_UNREACHABLE", { target, problem }, { cause });
  };
  /** Unlike `reaching`, this sets no limit, and translates errors only so. */
  const calling = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (cause) {
      throw translated(cause);
    }
  };
  /** For reads that may fail for a reason of their own, such as a version that no longer exists. */
  const asking = <Result>(work: () => Promise<Result>): Promise<Result> => calling(() => withinTime(work));

  const openIn = async (db: NativeDatabase, table: string) =>
    await openTable(db, table, folder).catch((cause: unknown) => {
      // In an object store, the file is not known.
      if (folder !== undefined || !mayBeEmptyObject(cause)) throw cause;
      throw new MigrateError("ERR_DAMAGED", { target, ...damagedManifest(uri, table) }, { cause });
    });
  /** Opens a new handle each time; undefined if there is no such table. */
  const openNative = async (table: string): Promise<NativeTable | undefined> =>
    await tables.get().then((db) => db && openIn(db, table));
  const open = async (table: string) => {
    const handle = await openNative(table);
    return handle && packageTable(handle);
  };
  const existing = async (table: string) => {
    const handle = await open(table);
    if (handle === undefined) throw new Error(`there is no table ${table}`);
    return handle;
  };
  const opening =
    (table: string): OpenTable =>
    () =>
      existing(table);

  // The engine creates the folder and reports what is wrong with it. Node's recursive mkdir never ends under /proc.
  const makeFolder = () =>
    reaching(async () => {
      if (folder !== undefined && !existsSync(folder)) (await connectFit()).close();
    });
  // Removes what a killed run has left of dropped tables. Awaited only in `close`, because it may be large.
  let cleaning: Promise<void> | undefined;

  return {
    location,
    damaged,
    reaching,
    calling,
    translated,
    asking,
    openNative,
    open,
    existing,
    opening,
    makeFolder,
    tables: async () => (await (await tables.get())?.tableNames()) ?? [],
    /** Whether there is a database. */
    exists: async () => (await tables.get()) !== undefined,
    oldVersions: (table: string) => versionsOf(opening(table), folder === undefined ? undefined : { folder, table }),
    /** From an Arrow IPC file. Throws if a table of that name exists. */
    async create(table: string, file: Buffer): Promise<void> {
      await makeFolder();
      if (await createTable(location, table, file)) return;
      const problem = folder === undefined ? undefined : leftoverIn(folder, table);
      throw new Error(problem ?? `table ${table} exists already`);
    },
    /** Throws a conflict if `seen` is not the newest version any more. */
    async drop(table: string, seen?: number): Promise<void> {
      const db = await reaching(tables.get);
      if (db === undefined) return;
      // The versions go with the table, so nothing else would still hold what others have written since it was described.
      const newest = seen === undefined ? seen : await (await open(table))?.version();
      if (newest !== undefined && newest !== seen) throw new NewerVersion(table, newest);
      if (folder === undefined) await db.dropTable(table);
      else if (!(await dropTable(db, folder, table))) throw new Error(`there is no table ${table}`);
    },
    /** Opens the table of the ledger, on a connection of its own; undefined if there is none. */
    openingLedger(table: string) {
      ledger = table;
      return async (): Promise<NativeTable | undefined> => {
        const db = await reaching(records.get);
        return db && (await asking(() => openIn(db, table)));
      };
    },
    cleanUp: () => void (folder !== undefined && (cleaning ??= removeDropped(folder))),
    async close(): Promise<void> {
      await cleaning;
      await tables.close();
      await records.close();
    },
  };
}

/** Others have written to a table between its description and a call that the engine would not refuse for that. */
class NewerVersion extends Error {
  constructor(table: string, version: number) {
    super(`others have written version ${version} of ${table}`);
  }
}

export function verdict(error: unknown): CallOutcome {
  if (error instanceof NewerVersion || isConflict(error)) return { kind: "conflict" };
  // An object store that gave no answer to the commit may have stored it.
  const store = isMigrateError(error, "ERR_TARGET_UNREACHABLE") ? storeProblemOf(error.cause) : undefined;
  return { kind: store?.outcome ?? "refused" };
}

async function within<Result>(seconds: number, work: Promise<Result>): Promise<Result> {
  const late = new AbortController();
  const limit = sleep(seconds * 1000, undefined, { signal: late.signal }).then(() => {
    throw new Error(`the object store gave no answer within ${seconds} s`);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    limit.catch(() => {});
    late.abort();
  }
}
