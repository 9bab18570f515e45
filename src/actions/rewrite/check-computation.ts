/** Which columns code of the project can compute, and from which. */
import { conflict } from "../model/conflict.ts";
import { nameOfCode, type Computation } from "../model/computation.ts";
import type { Risk } from "../model/risk.ts";
import { formatType, isInteger, isTextType, type Column, type DataType } from "../../schema/data-type.ts";
import { canHold } from "../../schema/row-values.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { requireColumn, type Table } from "../../schema/table.ts";

type CheckedComputation = Pick<Computation, "from" | "key"> & {
  readonly table: string;
  readonly path: string;
  /** The type of the values. */
  readonly type: DataType;
};

/** Throws ERR_ALTERATION_CONFLICT, ERR_COLUMN_MISSING, ERR_PATH_INVALID. */
export function checkComputation({ columns }: Table, { table, path, type, from, key }: CheckedComputation): void {
  const at = parsePath(path);
  requireColumn(table, columns, at);
  if (at.length > 1) throw conflict(table, `values of a field can't be computed; compute ${at[0]!} as a whole`);
  if (!canHold(type))
    throw conflict(
      table,
      `${path} is ${formatType(type)}, whose values can't be given as JSON; compute another column`,
    );
  if (from.includes(at[0]!)) throw conflict(table, `${path} can't be computed from itself`);
  if (key === at[0]!) throw conflict(table, `${path} is computed, so it can't identify rows`);
  if (from.includes(key))
    throw conflict(table, `${key} identifies rows, so it can't be one of \`from\`; copy it to another column`);
  checkSources({ columns }, { table, from, key });
}

/** Whether the values of these columns can be marked, and this key identifies rows. Throws as `checkComputation`. */
export function checkSources(
  { columns }: Table,
  { table, from, key }: Omit<CheckedComputation, "path" | "type">,
): void {
  for (const source of from) checkSource(table, source, requireColumn(table, columns, [source]));
  const { type: keyType } = requireColumn(table, columns, [key]);
  if (!isInteger(keyType) && !isTextType(keyType))
    throw conflict(
      table,
      `${key} can't identify rows: it is ${formatType(keyType)}, and must be a text or a whole number`,
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
  return isTextType(type) || isInteger(type) || marked.has(type.kind);
}

const marked: ReadonlySet<string> = new Set(["float16", "float32", "float64", "bool", "date32", "date64", "timestamp"]);

/** The computation as text, after what is computed. */
export function describeComputation({ from, with: code, version }: Computation): string {
  return `from ${from.join(", ")} with ${nameOfCode(code)}, version ${version}`;
}

/** The risk that the key does not identify the rows. */
export function keyRisk({ table, key }: Pick<Computation, "key"> & { readonly table: string }): Risk {
  const text = `several rows with the same ${table}.${key} would stop this; not all rows of ${table} can be checked in advance`;
  return { kind: "failure", text, blocker: { kind: "key", table, path: key } };
}
