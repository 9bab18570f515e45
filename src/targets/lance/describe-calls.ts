/** The call of the embedded engine for each kind of action, as text: its JavaScript method with arguments. */
import { count } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { assignments } from "../../actions/kinds/rows/update-rows.ts";
import { formatColumn } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import type { Table } from "../../schema/table.ts";
import { withWholeStructs } from "../../actions/rewrite/retype-whole-structs.ts";
import { toLanceType } from "../../wire/lance/lance-type.ts";
import { newColumns } from "./actions.ts";

export function callOf(action: Action, before: Table = { columns: [] }): string {
  const { table } = action;
  const call = (method: string, ...given: readonly unknown[]) =>
    `${table}.${method}(${given.map((one) => JSON.stringify(one)).join(", ")})`;
  switch (action.kind) {
    case "addColumns":
      return call("addColumns", newColumns(action.columns));
    case "addField":
      return `${table}.addColumns(<field ${formatColumn({ name: action.path, type: action.type, nullable: true })}>)`;
    case "alterColumns":
      return call(
        "alterColumns",
        withWholeStructs(before.columns, action.alterations).map(({ path, rename, type, nullable }) => ({
          path,
          rename,
          dataType: type && toLanceType(type),
          nullable,
        })),
      );
    case "createIndex": {
      const { path, kind, options } = action.index;
      return call("createIndex", path, { name: action.name, config: { [kind]: options }, replace: false });
    }
    case "createTable": {
      const { rows = [], columns } = action;
      const given = rows.length === 0 ? count(columns.length, "column") : count(rows.length, "row");
      return `db.${rows.length === 0 ? "createEmptyTable" : "createTable"}(${JSON.stringify(table)}, <${given}>)`;
    }
    case "deleteRows":
      return call("delete", action.where);
    case "dropColumns":
      return call("dropColumns", action.paths);
    case "dropIndex":
      return call("dropIndex", action.name);
    case "dropTable":
      return `db.dropTable(${JSON.stringify(table)})`;
    case "insertRows":
      return `${call("mergeInsert", [action.key])}.whenNotMatchedInsertAll().execute(<${count(action.rows.length, "row")}>)`;
    case "putBackRows":
      return `${table}.add(<the rows that came after version ${action.since ?? action.version}>)`;
    case "restoreTable":
      return `${call("checkout", action.version)}, ${call("restore")}`;
    case "refreshColumn":
      return call("refreshColumn", parsePath(action.path)[0]);
    case "setMetadata":
      return call("updateFieldMetadata", action.updates);
    case "updateRows":
      return call("update", { valuesSql: Object.fromEntries(assignments(action)), where: action.where });
    default:
      throw new TypeError(`the engine has no ${action.kind}`);
  }
}
