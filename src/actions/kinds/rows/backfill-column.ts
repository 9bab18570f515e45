import { conflict } from "../../model/conflict.ts";
import type { Action, BackfillColumnAction, FillColumnAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";
import { checkNotComputed } from "../../rewrite/computed-columns.ts";
import { isPending, markColumn, markName } from "../../rewrite/source-marks.ts";
import { formatType, isInteger, isText, type Column, type DataType } from "../../../schema/data-type.ts";
import { canHold } from "../../../schema/row-values.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import { requireColumn, type Table } from "../../../schema/table.ts";

export const backfillColumn: ActionModel<BackfillColumnAction> = {
  kind: "backfillColumn",
  changesRows: true,
  needs: ["addColumns", "fillColumn", "dropColumns"],
  after: (before, action) => {
    checkBackfill(before, action);
    return before;
  },
  commits: (action) => {
    const { table } = action;
    const unmark: Action = { kind: "dropColumns", table, paths: [markName] };
    return [
      { action: { kind: "addColumns", table, columns: [markColumn()] } },
      { action: { ...action, kind: "fillColumn" } },
      { action: unmark },
    ];
  },
  invert: ({ table, path }) => ({ lost: `it is unknown which rows of ${table} had no ${path} before` }),
  gives: ({ path }) => [{ path: parsePath(path), sql: undefined }],
  describe: (action) => `${describeFill(action)} where it is null`,
};

export const fillColumn: ActionModel<FillColumnAction> = {
  kind: "fillColumn",
  changesRows: true,
  after: (before) => before,
  invert: () => ({ actions: [], obstacles: [] }),
  writes: ({ path, where }, { columns }) => ({
    columns: columns.filter(({ name }) => name === parsePath(path)[0]),
    where,
  }),
  gives: ({ path }) => [{ path: parsePath(path), sql: undefined }],
  computes: (action) => {
    const column = parsePath(action.path)[0]!;
    const { mark = markName, overwrite = false } = action;
    return { column, how: action, mark, pending: isPending(action, column), overwrite };
  },
  describe: describeFill,
};

function describeFill({ table, path, from, with: code, version }: FillColumnAction | BackfillColumnAction): string {
  const by = typeof code === "string" ? code : code.command.join(" ");
  return `compute ${table}.${path} from ${from.join(", ")} with ${by}, version ${version},`;
}

/** Throws ERR_ALTERATION_CONFLICT, ERR_COLUMN_MISSING, ERR_PATH_INVALID. */
function checkBackfill({ columns }: Table, { table, path, from, key }: BackfillColumnAction): void {
  const at = parsePath(path);
  const column = requireColumn(table, columns, at);
  if (at.length > 1) throw conflict(table, `values of a field can't be computed; compute ${at[0]!} as a whole`);
  checkNotComputed(table, columns, at, "refreshColumn computes its values");
  if (!column.nullable)
    throw conflict(table, `${path} is not null, so no row lacks a value; setNullable makes it nullable`);
  if (!canHold(column.type))
    throw conflict(
      table,
      `${path} is ${formatType(column.type)}, whose values can't be given as JSON; compute another column`,
    );
  if (from.includes(at[0]!)) throw conflict(table, `${path} can't be computed from itself`);
  if (key === at[0]!) throw conflict(table, `${path} is computed, so it can't identify rows`);
  if (from.includes(key))
    throw conflict(table, `${key} identifies rows, so it can't be one of \`from\`; copy it to another column`);
  for (const source of from) checkSource(table, source, requireColumn(table, columns, [source]));
  const { type } = requireColumn(table, columns, [key]);
  if (!isInteger(type) && !isText(type))
    throw conflict(
      table,
      `${key} can't identify rows: it is ${formatType(type)}, and must be a text or a whole number`,
    );
}

function checkSource(table: string, name: string, { type }: Column): void {
  if (canBeMarked(type)) return;
  throw conflict(
    table,
    `${formatPath([name])} is ${formatType(type)}: values can be computed from texts, numbers, bools, dates and times`,
  );
}

/** Whether SQL can cast the type to text, from which the mark of a row is computed. */
function canBeMarked(type: DataType): boolean {
  return isText(type) || isInteger(type) || marked.has(type.kind);
}

const marked: ReadonlySet<string> = new Set(["float16", "float32", "float64", "bool", "date32", "date64", "timestamp"]);
