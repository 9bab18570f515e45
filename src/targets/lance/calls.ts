/** The calls of the embedded engine, by kind of action: how each is executed, and how it reads in a plan. */
import { count } from "../../errors/migrate-error.ts";
import { alterReadably, dropColumns, writeReadably } from "../../engine/checked-writes.ts";
import { alterColumns, packageTable, type NativeTable } from "../../engine/engine.ts";
import { createIndex, keepAll, optimize } from "../../engine/indexes.ts";
import { addNullColumns, mergeRows } from "../../engine/write-rows.ts";
import { assignments } from "../contract/assignments.ts";
import { reinsertRows, restoreVersion } from "../contract/restore-versions.ts";
import type { Capabilities, Executed } from "../contract/target.ts";
import type { Action, ActionFor, ActionKind, AddedColumn } from "../../actions/model/action.ts";
import { formatColumn, typesWithin, type Column, type DataType } from "../../schema/data-type.ts";
import { extensionIn } from "../../schema/reserved-metadata.ts";
import { preparedName, switching } from "../../actions/rewrite/prepared-columns.ts";
import { parsePath, type Path } from "../../schema/path.ts";
import type { Table } from "../../schema/table.ts";
import { withWholeStructs } from "../../actions/rewrite/retype-whole-structs.ts";
import { toLanceType } from "../../wire/lance/lance-type.ts";
import { addColumns, cheapestSqlBefore, newColumns } from "./new-columns.ts";
import type { Store } from "./store.ts";

/** The table of a snapshot. To create a table, none is needed. */
interface On {
  readonly handle: NativeTable;
  readonly table: Table;
  readonly version?: number | undefined;
}

interface EngineCall<Kind extends ActionKind> {
  /** One commit. Returns the table's new version if the engine reports it. Absent if a run itself makes the calls. */
  readonly execute?: (action: ActionFor<Kind>, on: On, store: Store) => Promise<number | undefined | Executed>;
  /** The engine's JavaScript method with its arguments. */
  readonly describe: (action: ActionFor<Kind>, before: Table) => string | Promise<string>;
}

function written({ table }: Action, name: string, ...given: readonly unknown[]): string {
  return `${table}.${name}(${given.map((one) => JSON.stringify(one)).join(", ")})`;
}

/** By kind of action; for a kind that is not supported, the reason. */
const calls: { readonly [Kind in ActionKind]: EngineCall<Kind> | string } = {
  addColumns: {
    execute: async ({ columns }, { handle }) =>
      isBySchema(columns)
        ? await addBySchema(handle, columns).catch(async (error: unknown) => {
            // The format of tables before Lance 0.16.
            if (!String(error).includes("legacy dataset version")) throw error;
            return await addColumns(handle, columns);
          })
        : await addColumns(handle, columns),
    describe: async (action, before) =>
      isBySchema(action.columns)
        ? `${action.table}.addColumns(<${count(action.columns.length, "field")}: ${action.columns.map(formatColumn).join(", ")}>)`
        : written(action, "addColumns", newColumns(action.columns, await cheapestSqlBefore(action.columns, before))),
  },
  addField: {
    execute: async ({ path, type }, { handle }) => await addBySchema(handle, [fieldAlone(parsePath(path), type)]),
    describe: ({ table, path, type }) =>
      `${table}.addColumns(<field ${formatColumn({ name: path, type, nullable: true })}>)`,
  },
  alterColumns: {
    execute: async ({ alterations }, { handle, table }) =>
      await alterReadably(handle, table.columns, () =>
        alterColumns(handle, withWholeStructs(table.columns, alterations)),
      ),
    describe(action, before) {
      const alterations = withWholeStructs(before.columns, action.alterations);
      const shown = alterations.map(({ path, rename, type, nullable }) => {
        return { path, rename, dataType: type && toLanceType(type), nullable };
      });
      return written(action, "alterColumns", shown);
    },
  },
  backfillColumn: "it takes several calls",
  catchUpColumn: { describe: (action) => describeMerge(action, action.path) },
  checkRecall: {
    describe: ({ table, index, k, sample }) =>
      `${table}.vectorSearch(<${count(sample, "vector")}>).column(${JSON.stringify(index.path)}).limit(${k + 1}), with and without bypassVectorIndex()`,
  },
  convertColumn: "it takes several calls",
  createIndex: {
    async execute({ name, index: { path, kind, options }, replace = false }, { handle }) {
      await createIndex(packageTable(handle), { column: path, kind, name, replace, options });
      return await handle.version();
    },
    describe(action) {
      const { name, index, replace = false } = action;
      const { path, kind, options } = index;
      return written(action, "createIndex", path, { name, config: { [kind]: options }, replace });
    },
  },
  createTable: {
    async execute(action, _, { create }) {
      await create(action.table, await fileOf(action));
      return 1;
    },
    describe({ table, columns, rows = [] }) {
      const [name, given] =
        rows.length === 0
          ? ["createEmptyTable", count(columns.length, "column")]
          : ["createTable", count(rows.length, "row")];
      return `db.${name}(${JSON.stringify(table)}, <${given}>)`;
    },
  },
  deleteRows: {
    execute: async ({ where }, { handle }) => (await packageTable(handle).delete(where)).version,
    describe: (action) => written(action, "delete", action.where),
  },
  dropColumns: {
    execute: async ({ paths }, { handle }) => await dropColumns(packageTable(handle), paths),
    describe: (action) => written(action, "dropColumns", action.paths),
  },
  dropIndex: {
    async execute({ name }, { handle }) {
      await handle.dropIndex(name);
      return await handle.version();
    },
    describe: (action) => written(action, "dropIndex", action.name),
  },
  dropTable: {
    async execute({ table }, { version }, { drop }) {
      await drop(table, version);
      return undefined;
    },
    describe: ({ table }) => `db.dropTable(${JSON.stringify(table)})`,
  },
  fillColumn: { describe: (action) => describeMerge(action, action.path) },
  insertRows: {
    async execute({ rows, key }, { handle, table }) {
      const { givenColumns, rowsToIpcFile } = await import("../../wire/rows/write-rows.ts"); // few migrations hold rows
      const file = rowsToIpcFile(givenColumns(table.columns, rows), rows);
      // Some indexes on the key column, such as fm, can't determine whether a key exists.
      const merge = { on: [key], insert: true, useIndex: false };
      return (await writeReadably(handle, table.columns, () => mergeRows(handle, merge, file))).version;
    },
    describe: (action) =>
      `${written(action, "mergeInsert", [action.key])}.whenNotMatchedInsertAll().execute(<${count(action.rows.length, "row")}>)`,
  },
  optimizeTable: {
    async execute(_, { handle, table }) {
      const { before, version } = await writeReadably(handle, table.columns, () => optimize(packageTable(handle)));
      return { commits: version - before };
    },
    describe: (action) => written(action, "optimize", keepAll),
  },
  populateTable: {
    describe: (action) => `${action.table}.add(<rows computed from ${action.from}>)`,
  },
  prepareColumn: { describe: (action) => describeMerge(action, preparedName(action.path)) },
  putBackRows: {
    execute: async (action, _, { oldVersions }) => await reinsertRows(oldVersions(action.table), action),
    describe: ({ table, version, since = version }) => `${table}.add(<the rows that came after version ${since}>)`,
  },
  rebuildIndex: "it is a call of another kind, createIndex",
  refreshColumn: {
    execute: async ({ path }, { handle }) => (await packageTable(handle).refreshColumn(parsePath(path)[0]!)).version,
    describe: (action) => written(action, "refreshColumn", parsePath(action.path)[0]!),
  },
  renameTable:
    "the open-source engine can't rename a table; create the new one, copy the rows and drop the old one later",
  restoreTable: {
    execute: async (action, _, { oldVersions }) => await restoreVersion(oldVersions(action.table), action),
    describe: (action) => `${written(action, "checkout", action.version)}, ${written(action, "restore")}`,
  },
  setMetadata: {
    execute: async ({ updates }, { handle, table }) =>
      await alterReadably(handle, table.columns, async () => {
        const given = updates.map(({ path, metadata }) => ({ path, metadata: { ...metadata } }));
        return (await packageTable(handle).updateFieldMetadata(given)).version;
      }),
    describe: (action) => written(action, "updateFieldMetadata", action.updates),
  },
  switchColumn: {
    execute: async (action, { handle, table }) => await alterColumns(handle, switching(action, table)),
    describe: (action, before) => written(action, "alterColumns", switching(action, before)),
  },
  updateRows: {
    async execute(action, { handle, table }) {
      const update = () => packageTable(handle).update(updateOf(action, table));
      return (await writeReadably(handle, table.columns, update)).version;
    },
    describe: (action, before) => written(action, "update", updateOf(action, before)),
  },
};

function updateOf(action: ActionFor<"updateRows">, { columns }: Table) {
  const valuesSql = Object.fromEntries(assignments(action, columns));
  return { valuesSql, ...(action.where !== undefined && { where: action.where }) };
}

function describeMerge(action: ActionFor<"catchUpColumn" | "fillColumn" | "prepareColumn">, column: string): string {
  return `${written(action, "mergeInsert", [action.key])}.whenMatchedUpdateAll().execute(<values of ${column}>)`;
}

/** Which kinds of actions are supported; for the others, why not. */
export const supported: Capabilities["actions"] = Object.fromEntries(
  Object.entries(calls).map(([kind, call]) => [kind, typeof call === "string" ? call : true]),
);

/** Makes the action's call. */
export function callOf(action: Action): NonNullable<EngineCall<ActionKind>["execute"]> {
  const { execute } = callFor(action);
  if (execute === undefined) throw new TypeError(`a run itself executes ${action.kind}`);
  return execute;
}

export async function describeCall(action: Action, before: Table = { columns: [] }): Promise<string> {
  return await callFor(action).describe(action, before);
}

function callFor({ kind }: Action): EngineCall<ActionKind> {
  const call = calls[kind];
  if (typeof call === "string") throw new TypeError(`the engine has no ${kind}`);
  // Each takes only its own kind, which TypeScript can't infer through the lookup.
  return call as EngineCall<ActionKind>;
}

/**
 * Whether the columns are only named, which takes as long in a table of any size. Of SQL, the engine writes the nulls of
 * each row. It makes no column of an extension of SQL, and structs of a schema are merged into those that are there.
 */
function isBySchema(columns: readonly AddedColumn[]): boolean {
  const isOfNulls = ({ type, nullable, as, computed }: AddedColumn) =>
    nullable && as === undefined && computed === undefined && typesWithin(type).every(({ kind }) => kind !== "struct");
  return columns.some(({ type }) => extensionIn(type) !== undefined) || columns.every(isOfNulls);
}

async function addBySchema(handle: NativeTable, columns: readonly Column[]): Promise<number> {
  const { toIpcFile } = await import("../../wire/arrow/arrow-schema.ts"); // Arrow is slow to load
  return await addNullColumns(handle, toIpcFile(columns));
}

/** The structs around the field, with no other fields. The engine merges them into the table's structs. */
function fieldAlone([name, ...rest]: Path, type: DataType): Column {
  const own: DataType = rest.length === 0 ? type : { kind: "struct", fields: [fieldAlone(rest, type)] };
  return { name: name!, type: own, nullable: true };
}

async function fileOf({ columns, rows = [], metadata }: ActionFor<"createTable">): Promise<Buffer> {
  if (rows.length === 0) return (await import("../../wire/arrow/arrow-schema.ts")).toIpcFile(columns, metadata);
  const { rowsToIpcFile } = await import("../../wire/rows/write-rows.ts");
  return rowsToIpcFile(columns, rows, { metadata });
}
