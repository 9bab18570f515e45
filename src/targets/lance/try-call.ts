/** Calls on an empty table. On a table without rows, the engine refuses the same SQL as on one with rows. */
import { search } from "../../engine/query.ts";
import { tryOnEmptyTable } from "../../engine/try-calls.ts";
import type { NativeTable } from "../../engine/engine.ts";
import { deleteRows, updateRows } from "../../engine/write-rows.ts";
import type { Column } from "../../schema/data-type.ts";
import { assignments } from "../contract/assignments.ts";
import type { SqlCall } from "../contract/target.ts";
import { add, newColumns } from "./new-columns.ts";

/** Makes a call on an empty table with these columns. Gives what goes wrong, as text. */
export async function tryCall(columns: readonly Column[], call: SqlCall): Promise<string | undefined> {
  return await tryOnEmptyTable(columns, (table) => make(call, table, columns));
}

async function make(call: SqlCall, table: NativeTable, columns: readonly Column[]): Promise<unknown> {
  switch (call.kind) {
    case "addColumns":
      return await add(table, newColumns(call.columns));
    case "updateRows":
      return await updateRows(table, assignments(call, columns), call.where);
    case "deleteRows":
      return await deleteRows(table, call.where);
    case "readRows":
      return await search(table, { columns: call.select, filter: call.where });
  }
}
