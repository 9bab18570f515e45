import { conflict } from "../../model/conflict.ts";
import { checkNotComputed } from "../../rewrite/computed-columns.ts";
import { checkFilled, checkRead } from "../../rewrite/extension-columns.ts";
import { childColumns, typesWithin, type Column } from "../../../schema/data-type.ts";
import { parsePath } from "../../../schema/path.ts";
import { namesIn, nullWhere } from "../../../schema/sql.ts";
import { risksOfExpression } from "../../model/risk.ts";
import { findColumn, requireColumn } from "../../../schema/table.ts";
import type { UpdateRowsAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const updateRows: ActionModel<UpdateRowsAction> = {
  kind: "updateRows",
  changesRows: true,
  after: (before, { table, set, where }) => {
    const stuck = before.columns.find(holdsVectorOfStructs);
    if (stuck !== undefined && where !== undefined)
      throw conflict(
        table,
        `the engine can't update some rows of a table with vectors of structs (${stuck.name}); leave out \`where\``,
      );
    for (const [path, sql] of Object.entries(set)) {
      const at = parsePath(path);
      const { type } = requireColumn(table, before.columns, at);
      checkNotComputed(table, before.columns, at, "refreshColumn computes its values");
      if (at.length > 1) throw conflict(table, `the engine sets whole columns, not ${path}; set ${at[0]!} as a whole`);
      // The engine turns text into JSON, but not text inside a struct.
      if (type.kind !== "json") checkFilled(table, path, type);
      checkRead(table, before.columns, sql);
    }
    const names = Object.keys(set).map((path) => parsePath(path)[0]);
    const twice = Object.keys(set).find((_, index) => names.indexOf(names[index]) < index);
    if (twice !== undefined) throw conflict(table, `${twice} is set twice in one update`);
    checkRepeatable(table, set);
    return before;
  },
  invert: ({ table, set }) => ({
    lost: `values of ${Object.keys(set)
      .map((path) => `${table}.${path}`)
      .join(", ")} are overwritten`,
  }),
  writes: ({ where }, { columns }) => ({ columns, where }),
  gives: ({ set }) => Object.entries(set).map(([path, sql]) => ({ path: parsePath(path), sql })),
  describe: ({ table, set, where }) => {
    const changes = Object.entries(set).map(([path, expression]) => `${path} = ${expression}`);
    return `update ${table}: ${changes.join(", ")}${where === undefined ? "" : ` where ${where}`}`;
  },
  risks: ({ table, set, where = "" }, before) => {
    const filled = new Set(nullWhere(where));
    return Object.entries(set).flatMap(([path, expression]) => {
      const column = before && findColumn(before.columns, parsePath(path));
      const place = `${table}.${path}`;
      return [
        ...(filled.has(parsePath(path)[0]!)
          ? []
          : [{ kind: "loss" as const, text: `values of ${place} are overwritten` }]),
        ...(column === undefined ? [] : risksOfExpression(place, column.type, expression, before)),
      ];
    });
  },
};

/** An update with a predicate loses fields of vectors of structs with two fields or more (measured). */
function holdsVectorOfStructs({ type }: Column): boolean {
  return typesWithin(type).some((one) => one.kind === "fixedSizeList" && childColumns(one.item.type).length > 1);
}

/**
 * Refuses an update that gives other rows if it is repeated. If a run is killed during an update, the next run can't
 * know whether the update took effect, and repeats it.
 */
function checkRepeatable(table: string, set: UpdateRowsAction["set"]): void {
  const columns = new Set(Object.keys(set).map((path) => parsePath(path)[0]!.toLowerCase()));
  for (const [path, expression] of Object.entries(set)) {
    const read = namesIn(expression).find((name) => columns.has(name.toLowerCase()));
    if (read === undefined) continue;
    throw conflict(
      table,
      `${path} = ${expression} reads ${read}, which the same update sets: made again after a crash it would give other values; ` +
        "retypeColumn with `using` does it so that it happens once",
    );
  }
}
