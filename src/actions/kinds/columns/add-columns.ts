import { MigrateError } from "../../../errors/migrate-error.ts";
import { conflict } from "../../model/conflict.ts";
import type { Action, AddColumnsAction, AddedColumn } from "../../model/action.ts";
import { checkFilled, checkRead } from "../../rewrite/extension-columns.ts";
import { childColumns, formatColumn, holdsNullField, type Column, type DataType } from "../../../schema/data-type.ts";
import { extensionIn } from "../../../schema/reserved-metadata.ts";
import { withoutMetadata } from "../../../schema/metadata.ts";
import { isLiteral } from "../../../schema/sql.ts";
import { formatPath } from "../../../schema/path.ts";
import { isNull, risksOfExpression } from "../../model/risk.ts";
import { checkColumns } from "../../../schema/table.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const addColumns: ActionModel<AddColumnsAction> = {
  kind: "addColumns",
  after: (before, { table, columns }) => {
    const added = columns.map(withoutMetadata);
    checkAdded(before.columns, added, table);
    for (const { name, type, as, computed } of columns) {
      if (as !== undefined || computed !== undefined) checkFilled(table, name, type);
      if (as !== undefined) checkRead(table, before.columns, as);
    }
    const bare = columns.find(({ nullable, as }) => !nullable && as === undefined);
    if (bare !== undefined)
      throw conflict(
        table,
        `column ${bare.name} is not null and has no values for the rows that are there; ${extensionIn(bare.type) === undefined ? "give them with `as`" : "add it as nullable, and make it not null once every row has a value"}`,
      );
    const empty = columns.find(({ type, as }) => type.kind === "null" && as !== undefined);
    if (empty !== undefined)
      throw conflict(table, `column ${empty.name} is of type null and holds no values; leave out \`as\``);
    for (const { name, type } of columns) checkMakeable(table, name, type);
    return { ...before, columns: [...before.columns, ...added] };
  },
  // As far as the engine knows, the values of an expression may be null, unless it is a literal. So the column is added
  // as nullable, and a second commit makes it not null.
  commits: (action) => {
    const { table, columns } = action;
    const strict = columns.filter(({ nullable, as }) => !nullable && (as === undefined || !isLiteral(as)));
    if (strict.length === 0) return [{ action }];
    const added = {
      ...action,
      columns: columns.map((column) => (strict.includes(column) ? { ...column, nullable: true } : column)),
    };
    const alterations = strict.map(({ name }) => ({ path: formatPath([name]), nullable: false }));
    const undo: Action = { kind: "dropColumns", table, paths: columns.map(({ name }) => formatPath([name])) };
    return [{ action: added }, { action: { kind: "alterColumns", table, alterations }, undo: [undo] }];
  },
  invert: ({ table, columns }) => ({
    actions: [{ kind: "dropColumns", table, paths: columns.map(({ name }) => formatPath([name])) }],
    // The engine can compute the values of a computed column again.
    blockers: columns.flatMap(({ name, as, computed }) =>
      computed === undefined
        ? [
            {
              kind: as === undefined || isNull(as) ? ("values" as const) : ("filled" as const),
              table,
              path: formatPath([name]),
            },
          ]
        : [],
    ),
  }),
  gives: ({ columns }) => columns.map(({ name, as = "null" }) => ({ path: [name], sql: as })),
  // A column without values takes no space (test/contract/costs.test.ts).
  writes: ({ columns }) => {
    const filled = columns.filter(({ as }) => as !== undefined && !isNull(as));
    return filled.length === 0 ? undefined : { columns: filled };
  },
  describe: ({ table, columns }) => columns.map((column) => `add ${table}.${describeColumn(column)}`).join(", "),
  risks: ({ table, columns }, before) =>
    columns.flatMap(({ name, type, as }) =>
      as === undefined ? [] : risksOfExpression(`${table}.${name}`, type, as, before),
    ),
};

/**
 * Refuses a type that the engine's SQL can't create a column of. It reads no escapes in names of fields, and in a table
 * with rows it can't create a struct with a field of type null (measured).
 */
export function checkMakeable(table: string, column: string, type: DataType): void {
  if (holdsNullField(type))
    throw conflict(
      table,
      `column ${column} can't be added, as a field in it is of type null; a table can only be created with it`,
    );
  for (const child of childColumns(type)) {
    if (/["\\]/.test(child.name))
      throw conflict(
        table,
        `column ${column} can't be added, as the engine's SQL can't name its field ${child.name}; a table can only be created with it`,
      );
    checkMakeable(table, column, child.type);
  }
}

/** Checks only the new columns: a table that another program created may already have such names. */
export function checkAdded(columns: readonly Column[], added: readonly Column[], table: string): void {
  checkColumns(added, table);
  for (const { name } of added) {
    const twin = columns.find((column) => column.name.toLowerCase() === name.toLowerCase());
    if (twin !== undefined) throw new MigrateError("ERR_COLUMN_DUPLICATE", { table, name, other: twin.name });
  }
}

function describeColumn(column: AddedColumn): string {
  return column.as === undefined ? formatColumn(column) : `${formatColumn(column)} as ${column.as}`;
}
