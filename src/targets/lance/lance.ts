/** The target for the embedded engine, in a folder or an object store. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { CallOutcome, OpenContext, TableSnapshot, Target } from "../contract/target.ts";
import { keepSecret } from "../../secrets/redact.ts";
import { secretsOfAddress, secretsOfSettings } from "../../secrets/find-in-settings.ts";
import {
  connectNatively,
  openTable,
  packageTable,
  readSchema,
  type AnyTable,
  type NativeDatabase,
  type NativeTable,
} from "../../engine/engine.ts";
import { engineProblem, isConflict, isUnreadable, storeProblemOf } from "../../engine/problem/engine-problem.ts";
import { instanceIn } from "../../engine/table-instance.ts";
import { cloneTables } from "../../engine/clone-tables.ts";
import { createTable, leftoverIn } from "../../engine/create-table.ts";
import { dropTable, removeDropped } from "../../engine/drop-table.ts";
import { describeCall, execute, supported } from "./calls.ts";
import { lazyConnection } from "./connection.ts";
import { damageIn } from "./damage.ts";
import { lanceRecords } from "./ledger-table.ts";
import { displayName, type LanceConfig } from "./options.ts";
import { lanceRows } from "./rows.ts";
import { tryCall } from "./try-call.ts";
import { undoCommit } from "./undo-commit.ts";
import { readIndexes } from "../../engine/read-indexes.ts";
import { locationOf, type DatabaseLocation } from "../../engine/location.ts";
import { storedRows } from "../../engine/manifest/contents.ts";
import { tableFormat, unreadableColumns } from "../../engine/manifest/table-format.ts";
import { search } from "../../engine/query.ts";
import { tryDropping } from "../../engine/try-calls.ts";
import { openWithTime, versionTime } from "../../engine/version-time.ts";
import {
  keepVersion,
  keptVersions,
  releaseVersion,
  newestReadable,
  versionsOf,
  type OpenTable,
} from "../../engine/versions.ts";
import { withHiddenColumns } from "../contract/hidden-columns.ts";
import { holds } from "../contract/holds.ts";
import { describeVersion, misfitsSince } from "../contract/restore-versions.ts";
import { sampledWidths, type ReadRows } from "../contract/sampled-widths.ts";
import { writtenSince } from "../contract/written-since.ts";

export { inDatabase, options } from "./options.ts";

interface LanceSnapshot extends TableSnapshot {
  readonly handle: NativeTable;
}

export async function open(
  { uri, storageOptions, newTables, answerSeconds = 60 }: LanceConfig,
  { name, folder }: OpenContext,
): Promise<Target> {
  keepSecret(...secretsOfAddress(uri), ...secretsOfSettings(storageOptions ?? {}));
  const location: DatabaseLocation = { ...locationOf(uri, folder), storageOptions, newTables };
  const { folder: base } = location;
  // Without a read consistency interval, a handle stays at the version that it opened, and the engine refuses to alter
  // a table whose columns have changed since. With one, it would refresh itself and act on a table never described.
  const tables = lazyConnection(location, () => connectNatively(location));
  // With an interval of 0, a handle sees at once what other processes commit.
  const records = lazyConnection(location, () => connectNatively(location, 0));

  let ledgerName: string | undefined;
  const { damaged, damageBehind, damageOf } = damageIn(location, name, () => ledgerName);
  const openIn = async (db: NativeDatabase, table: string) =>
    await openTable(db, table, base).catch((cause: unknown) => {
      throw damageOf(table, cause) ?? cause;
    });
  /** Opens a new handle each time; undefined if there is no such table. */
  const openNative = async (table: string) => await tables.get().then((db) => db && openIn(db, table));
  const openOf = async (table: string) => {
    const handle = await openNative(table);
    return handle && packageTable(handle);
  };

  // The engine retries for a quarter of an hour. A limit on calls that change something would leave them in doubt.
  const withinTime = async <Result>(work: () => Promise<Result>): Promise<Result> =>
    base === undefined ? await within(answerSeconds, work()) : await work();

  const reaching = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await withinTime(work);
    } catch (cause) {
      if (isMigrateError(cause)) throw cause;
      throw (
        damageBehind(cause) ??
        new MigrateError("ERR_TARGET_UNREACHABLE", { target: name, problem: engineProblem(cause) }, { cause })
      );
    }
  };

  /** Unlike `reaching`, this sets no limit and changes only errors about the object store itself, or a damaged file. */
  const calling = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (cause) {
      const problem = base === undefined && !isConflict(cause) ? storeProblemOf(cause)?.sentence : undefined;
      if (problem === undefined) throw damageBehind(cause) ?? cause;
      throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: name, problem }, { cause });
    }
  };

  /** For reads that may fail for a reason of their own, such as a version that no longer exists. */
  const asking = <Result>(work: () => Promise<Result>): Promise<Result> => calling(() => withinTime(work));

  const opening =
    (table: string): OpenTable =>
    async () => {
      const handle = await openOf(table);
      if (handle === undefined) throw new Error(`there is no table ${table}`);
      return handle;
    };

  const oldVersions = (table: string) =>
    versionsOf(opening(table), base === undefined ? undefined : { folder: base, table });

  const indexesOf = async (table: string, handle: NativeTable) => {
    try {
      return await readIndexes(handle, base);
    } catch (cause) {
      if (!isUnreadable(cause)) throw cause;
      const around = await newestReadable(opening(table));
      throw new MigrateError("ERR_UNREADABLE", { table, ...around }, { cause });
    }
  };

  /** What needs the files of the tables. */
  const inFolder = base !== undefined && {
    instance: (table: string) => instanceIn(base, table),
    unreadable: (table: string) => unreadableColumns(base, table),
    damaged,
    formatOf: (table: string) => tableFormat(base, table),
    copyTo: (folder: string, names: readonly string[]) => reaching(() => cloneTables(base, names, folder)),
    tryDropping: (table: string, paths: readonly string[]) => reaching(() => tryDropping(base, table, paths)),
  };

  // The engine creates the folder and reports what is wrong with it. Node's recursive mkdir never ends under /proc.
  const makeFolder = () =>
    reaching(async () => {
      if (base !== undefined && !existsSync(base)) (await connectNatively(location)).close();
    });

  // Removes what a killed run has left of dropped tables. Awaited only in `close`, because it may be large.
  let cleaning: Promise<void> | undefined;
  const cleanUp = () => void (base !== undefined && (cleaning ??= removeDropped(base)));

  const create = async (table: string, file: Buffer) => {
    await makeFolder();
    if (await createTable(location, table, file)) return;
    const problem = base === undefined ? undefined : leftoverIn(base, table);
    throw new Error(problem ?? `table ${table} exists already`);
  };

  const drop = async (table: string, seen?: number) => {
    const db = await reaching(tables.get);
    if (db === undefined) return;
    // The versions go with the table, so nothing else would still hold what others have written since it was described.
    const newest = seen === undefined ? seen : await (await openOf(table))?.version();
    if (newest !== undefined && newest !== seen) throw new NewerVersion(table, newest);
    if (base === undefined) await db.dropTable(table);
    else if (!(await dropTable(db, base, table))) throw new Error(`there is no table ${table}`);
  };

  return withHiddenColumns({
    name,
    place: displayName(location),
    capabilities: {
      actions: supported,
      describes: true,
      fences: true,
    },
    listTables: () => reaching(async () => (await (await tables.get())?.tableNames()) ?? []),
    describeTable: (table, withIndexes): Promise<LanceSnapshot | undefined> =>
      reaching(async () => {
        if ((await tables.get()) === undefined) return undefined;
        const open = () =>
          openNative(table).catch((cause: unknown) => {
            if (isMigrateError(cause)) throw cause;
            throw new Error(`table ${table} can't be opened: ${engineProblem(cause)}`, { cause });
          });
        const instance = inFolder ? await inFolder.instance(table) : undefined;
        const opened = await openWithTime(location, table, open);
        if (opened === undefined) return undefined;
        const { handle, version, at } = opened;
        const schema = await readSchema(handle);
        const indexes = withIndexes === true ? { indexes: await indexesOf(table, handle) } : {};
        return { handle, table: { ...schema, ...indexes }, version, at, instance };
      }),
    ...inFolder,
    async execute(action, seen) {
      if (seen === undefined && action.kind !== "createTable") throw new Error(`there is no table ${action.table}`);
      return await calling(() => execute(action, seen as LanceSnapshot, { create, drop, oldVersions }));
    },
    undo: ({ table }, seen, made) =>
      calling(() => undoCommit(packageTable((seen as LanceSnapshot).handle), made, opening(table))),
    call: describeCall,
    size: (table) =>
      reaching(async () => ({
        rows: (await (await opening(table)()).stats()).numRows,
        stored: base === undefined ? undefined : storedRows({ folder: base, table }),
      })),
    widths: (table, expressions, rows) =>
      reaching(async () => await sampledWidths(rowsOf(await opening(table)()), expressions, rows)),
    newTables,
    count: (table, predicate, version, most) => asking(() => oldVersions(table).count(version, predicate, most)),
    holds: (action) => asking(() => holds(oldVersions(action.table), action)),
    versions: {
      keep: (table, version, name) => calling(() => keepVersion(opening(table), version, name)),
      release: (table, name) => calling(() => releaseVersion(opening(table), name)),
      kept: (table) => reaching(() => keptVersions(opening(table))),
      look: (table, version, after) => asking(() => describeVersion(oldVersions(table), version, after)),
      list: (table) => asking(() => oldVersions(table).list()),
      time: (table, version) => asking(() => versionTime(location, table, version, () => openOf(table))),
      at: (table, version) => asking(() => oldVersions(table).table(version)),
      since: (table, version, scope) => asking(() => writtenSince(oldVersions(table), version, scope)),
      misfitsSince: (table, putting) => asking(() => misfitsSince(oldVersions(table), putting)),
    },
    verdict,
    explain: engineProblem,
    ledger: {
      kind: "rows",
      records(shape) {
        ledgerName = shape.name;
        return lanceRecords(
          {
            connect: () => reaching(records.get),
            open: openIn,
            makeFolder,
            reading: asking,
            calling,
            isConflict: (error) => verdict(error).kind === "conflict",
            location,
            cleanUp,
          },
          shape,
        );
      },
    },
    tryCall: (columns, call) => reaching(() => tryCall(columns, call)),
    rows: lanceRows({ location, open: openOf, create, drop, calling }),
    // No time limit: if the drop were given up half-way, part of the table would stay.
    discard: (table) => drop(table),
    async close() {
      await cleaning;
      await tables.close();
      await records.close();
    },
  });
}

function rowsOf(table: AnyTable): ReadRows {
  return async (columns, limit, offset) => {
    const { first, others } = await search(table, { columns, limit, offset });
    const files = [first];
    for await (const file of others) files.push(file);
    return files;
  };
}

/** Others have written to a table between its description and a call that the engine would not refuse for that. */
class NewerVersion extends Error {
  constructor(table: string, version: number) {
    super(`others have written version ${version} of ${table}`);
  }
}

function verdict(error: unknown): CallOutcome {
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
