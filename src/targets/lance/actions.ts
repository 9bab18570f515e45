/** Executes each kind of action on the embedded engine, with the handle of the snapshot. */
import { createTable } from "../../engine/create-table.ts";
import { dropColumns } from "../../engine/drop-columns.ts";
import { alterColumns, openTable, type Connection, type EngineTable } from "../../engine/engine.ts";
import { createIndex } from "../../engine/indexes.ts";
import type { DatabaseLocation } from "../../engine/location.ts";
import { addNullColumns, mergeRows } from "../../engine/write-rows.ts";
import type { OpenTable } from "../../engine/versions.ts";
import { putBack, restoreVersion } from "../contract/restore-versions.ts";
import type { VersionedTable } from "../contract/versioned-table.ts";
import type { Action, ActionFor, ActionKind, AddedColumn } from "../../actions/model/action.ts";
import { assignments } from "../../actions/kinds/rows/update-rows.ts";
import type { Column, DataType } from "../../schema/data-type.ts";
import { parsePath, type Path } from "../../schema/path.ts";
import type { Table } from "../../schema/table.ts";
import { withWholeStructs } from "../../actions/rewrite/retype-whole-structs.ts";
import { sqlOf } from "../../wire/arrow/arrow-cast.ts";
import { computedSql } from "../../wire/arrow/computed-column.ts";

interface On {
  readonly handle: EngineTable;
  readonly table: Table;
}

interface LanceDatabase {
  readonly drop: (table: string) => Promise<void>;
  readonly oldVersions: (table: string) => VersionedTable;
}

type Work<Kind extends ActionKind> = (
  action: ActionFor<Kind>,
  on: On,
  database: LanceDatabase,
) => Promise<number | undefined>;

/** By supported kind. Each is one commit, and returns the table's new version if the engine reports it. */
const works: { readonly [Kind in ActionKind]?: Work<Kind> } = {
  addColumns: async ({ columns }, { handle }) => (await handle.addColumns(newColumns(columns))).version,
  addField: async ({ path, type }, { handle }) => {
    const { toIpcFile } = await import("../../wire/arrow/arrow-schema.ts"); // Arrow is slow to load
    return await addNullColumns(handle, toIpcFile([fieldAlone(parsePath(path), type)]));
  },
  alterColumns: async ({ alterations }, { handle, table }) =>
    await alterColumns(handle, withWholeStructs(table.columns, alterations)),
  createIndex: async ({ name, index }, { handle }) => {
    await createIndex(handle, { column: index.path, kind: index.kind, name, replace: false, options: index.options });
    return await handle.version();
  },
  deleteRows: async ({ where }, { handle }) => (await handle.delete(where)).version,
  dropColumns: async ({ paths }, { handle }) => await dropColumns(handle, paths),
  dropIndex: async ({ name }, { handle }) => {
    await handle.dropIndex(name);
    return await handle.version();
  },
  dropTable: async ({ table }, _, { drop }) => {
    await drop(table);
    return undefined;
  },
  insertRows: async ({ rows, key }, { handle, table }) => {
    const { givenColumns, valuesToIpc } = await import("../../wire/rows/encode-rows.ts"); // few migrations hold rows
    const file = Buffer.from(valuesToIpc(givenColumns(table.columns, rows), rows, "file"));
    // Some indexes on the key column, such as fm, can't determine whether a key exists.
    return (await mergeRows(handle, { on: [key], insert: true, useIndex: false }, file)).version;
  },
  putBackRows: async (action, _, { oldVersions }) => await putBack(oldVersions(action.table), action),
  refreshColumn: async ({ path }, { handle }) => (await handle.refreshColumn(parsePath(path)[0]!)).version,
  restoreTable: async (action, _, { oldVersions }) => await restoreVersion(oldVersions(action.table), action),
  setMetadata: async ({ updates }, { handle }) =>
    (await handle.updateFieldMetadata(updates.map(({ path, metadata }) => ({ path, metadata: { ...metadata } }))))
      .version,
  updateRows: async (action, { handle }) => {
    const { where } = action;
    return (await handle.update({ valuesSql: new Map(assignments(action)), ...(where === undefined ? {} : { where }) }))
      .version;
  },
};

/** The structs around the field, with no other fields. The engine merges them into the table's structs. */
function fieldAlone([name, ...rest]: Path, type: DataType): Column {
  const own: DataType = rest.length === 0 ? type : { kind: "struct", fields: [fieldAlone(rest, type)] };
  return { name: name!, type: own, nullable: true };
}

/** The columns as one call of the engine's method accepts them: all computed, or all filled from expressions. */
export function newColumns(columns: readonly AddedColumn[]): Parameters<EngineTable["addColumns"]>[0] {
  if (columns.some(({ computed }) => computed === undefined))
    return columns.map((column) => ({ name: column.name, valueSql: sqlOf(column) }));
  return { computed: columns.map((column) => ({ name: column.name, valueSql: computedSql(column) })) };
}

/** Returns a new handle each time. */
export function opening(connection: () => Promise<Connection | undefined>, name: string): OpenTable {
  return async () => {
    const db = await connection();
    const table = db && (await openTable(db, name));
    if (table === undefined) throw new Error(`there is no table ${name}`);
    return table;
  };
}

/** The kinds that are supported on an existing table. */
export const actions = Object.fromEntries(Object.keys(works).map((kind) => [kind, true as const]));

/** Executes an action on an existing table. */
export async function carryOut(action: Action, ...rest: [On, LanceDatabase]): Promise<number | undefined> {
  // Each takes only its own kind, which TypeScript can't infer through the lookup.
  const work = works[action.kind] as Work<ActionKind> | undefined;
  if (work === undefined) throw new TypeError(`the engine has no ${action.kind}`);
  return await work(action, ...rest);
}

export async function makeTable(
  { table, columns, rows = [], metadata }: ActionFor<"createTable">,
  place: DatabaseLocation,
): Promise<boolean> {
  if (rows.length === 0 && metadata === undefined) return await createTable(place, table, columns);
  if (rows.length === 0) {
    const { toIpcFile } = await import("../../wire/arrow/arrow-schema.ts");
    return await createTable(place, table, columns, toIpcFile(columns, metadata));
  }
  const { valuesToIpc } = await import("../../wire/rows/encode-rows.ts");
  return await createTable(place, table, columns, Buffer.from(valuesToIpc(columns, rows, "file", metadata)));
}
