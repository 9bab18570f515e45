/** What the embedded engine does for each kind of action, on the handle that looked. */
import { createTable } from "../../engine/create.ts";
import { alterColumns, openTable, type Connection, type EngineTable } from "../../engine/engine.ts";
import { createIndex } from "../../engine/indexes.ts";
import type { Place } from "../../engine/place.ts";
import { mergeRows } from "../../engine/rows.ts";
import { versionsOf, type OpenTable } from "../../engine/versions.ts";
import { putBack, restoreVersion } from "../old-versions.ts";
import type { Action, ActionFor, ActionKind } from "../../schema/action.ts";
import { assignments } from "../../schema/actions/update-rows.ts";
import type { Table } from "../../schema/table.ts";
import { withWholeStructs } from "../../schema/whole-structs.ts";
import { sqlOf } from "../../wire/arrow-cast.ts";

interface On {
  readonly handle: EngineTable;
  readonly table: Table;
}

type Work<Kind extends ActionKind> = (
  action: ActionFor<Kind>,
  on: On,
  connection: () => Promise<Connection | undefined>,
) => Promise<number | undefined>;

/** By the kinds that it can do. Each is one commit, and gives the table's new version where the engine tells it. */
const works: { readonly [Kind in ActionKind]?: Work<Kind> } = {
  addColumns: async ({ columns }, { handle }) =>
    (await handle.addColumns(columns.map((column) => ({ name: column.name, valueSql: sqlOf(column) })))).version,
  alterColumns: async ({ alterations }, { handle, table }) =>
    await alterColumns(handle, withWholeStructs(table.columns, alterations)),
  createIndex: async ({ name, index }, { handle }) => {
    await createIndex(handle, { column: index.path, kind: index.kind, name, replace: false, options: index.options });
    return undefined;
  },
  deleteRows: async ({ where }, { handle }) => (await handle.delete(where)).version,
  dropColumns: async ({ paths }, { handle }) => (await handle.dropColumns([...paths])).version,
  dropIndex: async ({ name }, { handle }) => {
    await handle.dropIndex(name);
    return undefined;
  },
  dropTable: async ({ table }, _, connection) => {
    await (await connection())?.dropTable(table);
    return undefined;
  },
  insertRows: async ({ rows, key }, { handle, table }) => {
    const { givenColumns, valuesToIpc } = await import("../../wire/row-values.ts"); // few migrations hold rows
    const file = Buffer.from(valuesToIpc(givenColumns(table.columns, rows), rows, "file"));
    // Some indexes on the key, such as fm, can't tell whether it is there.
    return (await mergeRows(handle, { on: [key], insert: true, useIndex: false }, file)).version;
  },
  putBackRows: async ({ table, version, after, columns }, _, connection) =>
    await putBack(versionsOf(opening(connection, table)), version, after, columns),
  restoreTable: async ({ table, version, after }, _, connection) =>
    await restoreVersion(versionsOf(opening(connection, table)), version, after),
  setMetadata: async ({ updates }, { handle }) =>
    (await handle.updateFieldMetadata(updates.map(({ path, metadata }) => ({ path, metadata: { ...metadata } }))))
      .version,
  updateRows: async (action, { handle }) => {
    const { where } = action;
    return (await handle.update({ valuesSql: new Map(assignments(action)), ...(where === undefined ? {} : { where }) }))
      .version;
  },
};

/** Gives a handle of its own each time. */
export function opening(connection: () => Promise<Connection | undefined>, name: string): OpenTable {
  return async () => {
    const db = await connection();
    const table = db && (await openTable(db, name));
    if (table === undefined) throw new Error(`there is no table ${name}`);
    return table;
  };
}

/** What can be done to a table that is there. */
export const actions = Object.fromEntries(Object.keys(works).map((kind) => [kind, true as const]));

/** Carries out an action on a table that is there. */
export async function carryOut(
  action: Action,
  ...rest: [On, () => Promise<Connection | undefined>]
): Promise<number | undefined> {
  // Each takes just its own kind, which TypeScript can't follow through the lookup.
  const work = works[action.kind] as Work<ActionKind> | undefined;
  if (work === undefined) throw new TypeError(`the engine has no ${action.kind}`);
  return await work(action, ...rest);
}

export async function makeTable(
  { table, columns, rows = [] }: ActionFor<"createTable">,
  place: Place,
): Promise<boolean> {
  if (rows.length === 0) return await createTable(place, table, columns);
  const { valuesToIpc } = await import("../../wire/row-values.ts");
  return await createTable(place, table, columns, Buffer.from(valuesToIpc(columns, rows, "file")));
}
