/** The target for the embedded engine, in a folder or an object store. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { OpenContext, TableSnapshot, Target } from "../contract/target.ts";
import { keepSecret } from "../../secrets/redact.ts";
import { secretsOfAddress, secretsOfSettings } from "../../secrets/find-in-settings.ts";
import { packageTable, readSchema, type AnyTable, type NativeTable } from "../../engine/engine.ts";
import { engineProblem, isUnreadable } from "../../engine/problem/engine-problem.ts";
import { keepsLog } from "../../engine/write-rows.ts";
import { instanceIn } from "../../engine/table-instance.ts";
import { cloneTables } from "../../engine/clone-tables.ts";
import { assumptions, refuses } from "./assumptions.ts";
import { callOf, describeCall, supported } from "./calls.ts";
import { lanceRecords } from "./ledger-table.ts";
import { displayName, type LanceConfig } from "./options.ts";
import { lanceRows } from "./rows.ts";
import { openStore, verdict, type Store } from "./store.ts";
import { tryCall } from "./try-call.ts";
import { undoCommit } from "./undo-commit.ts";
import { readIndexes } from "../../engine/read-indexes.ts";
import { locationOf, type DatabaseLocation } from "../../engine/location.ts";
import { clonesOf } from "../../engine/manifest/clones.ts";
import { storedRows } from "../../engine/manifest/contents.ts";
import { tableFormat, unreadableColumns } from "../../engine/manifest/table-format.ts";
import { allFiles, search } from "../../engine/query.ts";
import { tryDropping } from "../../engine/try-calls.ts";
import { openWithTime, versionTime } from "../../engine/version-time.ts";
import { keepVersion, keptVersions, releaseVersion, newestReadable } from "../../engine/versions.ts";
import { viewOf, type View } from "../../wire/lance/view.ts";
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
  const store = openStore(location, name, answerSeconds);
  const { reaching, calling, asking, existing, opening, oldVersions } = store;
  // An engine that can't be used is reported when it is first used, which many commands never do.
  const inFolder = location.folder === undefined ? {} : whatFoldersHave(store, location.folder);
  return withHiddenColumns({
    name,
    place: displayName(location),
    capabilities: { actions: supported, refuses, describes: true, fences: true },
    assumptions,
    listTables: () => reaching(store.tables),
    describeTable: (table, withIndexes) => reaching(() => describe(store, table, withIndexes === true)),
    ...inFolder,
    async execute(action, seen) {
      if (seen === undefined && action.kind !== "createTable") throw new Error(`there is no table ${action.table}`);
      try {
        const done = await callOf(action)(action, seen as LanceSnapshot, store);
        return typeof done === "object" ? done : { version: done };
      } catch (cause) {
        throw store.translated(cause);
      }
    },
    undo: ({ table }, seen, made) =>
      calling(() => undoCommit(packageTable((seen as LanceSnapshot).handle), made, opening(table))),
    call: describeCall,
    tableSize: (table) => reaching(() => sizeOf(store, table)),
    widths: (table, expressions, rows) =>
      reaching(async () => await sampledWidths(rowsOf(await existing(table)), expressions, rows)),
    newTables,
    keepsLog: (table) => reaching(() => keepsLog({ folder: location.folder, table }, () => store.openNative(table))),
    views: () => viewsIn(store),
    countRows: (table, predicate, version, most) => asking(() => oldVersions(table).count(version, predicate, most)),
    holds: (action) => asking(() => holds(oldVersions(action.table), action)),
    versions: {
      keep: (table, version, name) => calling(() => keepVersion(opening(table), version, name)),
      release: (table, name) => calling(() => releaseVersion(opening(table), name)),
      kept: (table) => reaching(() => keptVersions(opening(table))),
      look: (table, version, after) => asking(() => describeVersion(oldVersions(table), version, after)),
      list: (table) => asking(() => oldVersions(table).list()),
      time: (table, version) => asking(() => versionTime(location, table, version, () => store.open(table))),
      at: (table, version) => asking(() => oldVersions(table).table(version)),
      since: (table, version, scope) => asking(() => writtenSince(oldVersions(table), version, scope)),
      misfitsSince: (table, reinsertion) => asking(() => misfitsSince(oldVersions(table), reinsertion)),
    },
    verdict,
    explain: engineProblem,
    ledger: { kind: "rows", records: (shape) => lanceRecords(store, shape) },
    tryCall: (columns, call) => reaching(() => tryCall(columns, call)),
    rows: lanceRows(store),
    // No time limit: if the drop were given up half-way, part of the table would stay.
    discard: (table) => store.drop(table),
    close: store.close,
  });
}

/** What needs the files of the tables. */
function whatFoldersHave({ reaching, damaged, tables }: Store, folder: string) {
  return {
    clonesOf: (table: string) => reaching(async () => clonesOf(folder, await tables(), table)),
    instance: (table: string) => instanceIn(folder, table),
    unreadable: (table: string) => unreadableColumns(folder, table),
    damaged: (tables?: Iterable<string>, ledger?: string) => damaged(tables, undefined, ledger),
    formatOf: (table: string) => tableFormat(folder, table),
    copyTo: (to: string, names: readonly string[]) => reaching(() => cloneTables(folder, names, to)),
    tryDropping: (table: string, paths: readonly string[]) => reaching(() => tryDropping(folder, table, paths)),
  };
}

async function describe(store: Store, table: string, withIndexes: boolean): Promise<LanceSnapshot | undefined> {
  if (!(await store.exists())) return undefined;
  const { location } = store;
  const { folder } = location;
  const open = () =>
    store.openNative(table).catch((cause: unknown) => {
      if (isMigrateError(cause)) throw cause;
      throw new Error(`table ${table} can't be opened: ${engineProblem(cause)}`, { cause });
    });
  const instance = folder === undefined ? undefined : await instanceIn(folder, table);
  const opened = await openWithTime(location, table, open);
  if (opened === undefined) return undefined;
  const { handle, version, at } = opened;
  const schema = await readSchema(handle);
  const indexes = withIndexes ? { indexes: await indexesOf(store, table, handle) } : {};
  return { handle, table: { ...schema, ...indexes }, version, at, instance };
}

/** How many tables are opened at a time: in an object store, each takes some requests. */
const mostOpened = 16;

async function viewsIn({ tables, openNative, reaching, asking }: Store): Promise<ReadonlyMap<string, View>> {
  const names = [...(await reaching(tables))];
  const views = new Map<string, View>();
  const look = async (name: string) => {
    const handle = await openNative(name);
    const view = handle && viewOf(await readSchema(handle));
    if (view !== undefined) views.set(name, view);
  };
  const lookAtAll = async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      const own = name;
      // The engine can't refresh a view either whose schema can't be read.
      await asking(() => look(own)).catch((error: unknown) => {
        if (isMigrateError(error, "ERR_TARGET_UNREACHABLE")) throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: mostOpened }, lookAtAll));
  return views;
}

async function indexesOf({ location, opening }: Store, table: string, handle: NativeTable) {
  try {
    return await readIndexes(handle, location.folder);
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause;
    const around = await newestReadable(opening(table));
    throw new MigrateError("ERR_UNREADABLE", { table, ...around }, { cause });
  }
}

async function sizeOf({ location: { folder }, existing }: Store, table: string) {
  const { numRows } = await (await existing(table)).stats();
  return { rows: numRows, stored: folder === undefined ? undefined : storedRows({ folder, table }) };
}

function rowsOf(table: AnyTable): ReadRows {
  return async (columns, limit, offset) => await allFiles(await search(table, { columns, limit, offset }));
}
