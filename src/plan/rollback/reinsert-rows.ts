/** How rows that were written after a migration are reinserted into the schema before it. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { castVerdict } from "../../schema/cast-rules.ts";
import { ownValue, typesWithin, sameType, type Column, type DataType } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { refAfter } from "../../actions/apply-action.ts";
import type { Table } from "../../schema/table.ts";
import { sqlPath } from "../../schema/sql.ts";
import { castSql } from "../../wire/arrow/arrow-cast.ts";

/**
 * SQL for each column that the table had before and that these rows have a value for; undefined if a value cannot be
 * derived or may not fit. `actions`: the migration's actions on the table. A column that they drop is null in these
 * rows, and left out.
 */
export function putBackColumns(
  before: Table,
  after: Table,
  actions: readonly Action[],
): Readonly<Record<string, string>> | undefined {
  const written = before.columns.filter(({ computed }) => computed === undefined);
  const columns = written.map((column) => ({ column, sql: expressionFor(column, after, actions) }));
  if (columns.some(({ sql }) => sql === undefined)) return undefined;
  // A column that is left out becomes null, in whatever way the engine stores it. Rows of no column can't be counted.
  const filled = columns.filter(({ column, sql }) => sql !== nullOf(column.type));
  const chosen = filled.length === 0 ? columns : filled;
  return Object.fromEntries(chosen.map(({ column, sql }) => [column.name, sql!]));
}

/**
 * The columns whose values, or some of whose digits, are lost when rows are reinserted: mainly those that the migration
 * added.
 */
export function leftBehind(before: Table, after: Table, actions: readonly Action[]): readonly string[] {
  const isWhole = (column: Column) => {
    const old = before.columns.find(({ name }) => nameAfter(name, actions) === column.name);
    if (old === undefined) return false;
    const verdict = castVerdict(column.type, old.type);
    return sameType(old.type, column.type) || (verdict.allowed && !verdict.mayLose);
  };
  return after.columns.filter((column) => column.computed === undefined && !isWhole(column)).map(({ name }) => name);
}

/** The columns of the table before, to which rows that are reinserted have no values: those that the migration dropped. */
export function emptyColumns(before: Table, columns: Readonly<Record<string, string>>): readonly string[] {
  const isEmpty = ({ name, type, computed }: Column) =>
    computed === undefined && [undefined, nullOf(type)].includes(ownValue(columns, name));
  return before.columns.filter(isEmpty).map(({ name }) => name);
}

function nullOf(type: DataType): string {
  return castSql("NULL", type);
}

function expressionFor(column: Column, { columns }: Table, actions: readonly Action[]): string | undefined {
  const { name, type, nullable } = column;
  if (holdsDictionary(type)) return undefined;
  const place = nameAfter(name, actions);
  if (place === "gone") return nullable ? nullOf(type) : undefined;
  const now = columns.find((one) => one.name === place);
  if (now === undefined || (now.nullable && !nullable)) return undefined;
  const quoted = sqlPath([now.name]);
  if (sameType(type, now.type)) return quoted;
  const verdict = castVerdict(now.type, type);
  if (!verdict.allowed || verdict.mayFail) return undefined;
  if (type.kind !== "float16" && type.kind !== "float32") return castSql(quoted, type);
  return nullable ? withoutOverflow(quoted, type) : undefined;
}

/** A cast that makes numbers beyond the range of the type null. The engine's makes them infinite. */
function withoutOverflow(value: string, type: DataType): string {
  const [cast, number] = [castSql(value, type), castSql(value, { kind: "float64" })];
  // A query has no CASE.
  return `nvl2(${finite(number, { kind: "float64" })}, ${finite(cast, type)}, ${cast})`;
}

/** Null if the number is infinite. */
function finite(number: string, type: DataType): string {
  const [least, most] = ["'-inf'", "'inf'"].map((infinity) => castSql(infinity, type));
  return `nullif(nullif(${number}, ${most}), ${least})`;
}

/** The name of a top-level column after these actions; undefined if it has other values, or names inside it changed. */
function nameAfter(name: string, actions: readonly Action[]): string | "gone" | undefined {
  let at = name;
  for (const action of actions) {
    // All actions are on the column's table, whatever that is called.
    const next = refAfter({ table: action.table, path: [at] }, action);
    if (next === undefined) return "gone";
    if (changesInside(at, action)) return undefined;
    at = next.path[0]!;
  }
  return at;
}

function changesInside(column: string, action: Action): boolean {
  if (action.kind === "convertColumn") return parsePath(action.path)[0] === column;
  const alterations = action.kind === "alterColumns" ? action.alterations.map(({ path }) => path) : [];
  const paths = action.kind === "dropColumns" ? action.paths : alterations;
  return paths.map(parsePath).some((path) => path[0] === column && path.length > 1);
}

/** A result of several batches has a dictionary for each batch, which a single file cannot hold. */
function holdsDictionary(type: DataType): boolean {
  return typesWithin(type).some(({ kind }) => kind === "dictionary");
}
