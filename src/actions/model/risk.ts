/** Risks: undesired effects that an allowed action may have. Pure. */
import type { Alteration } from "./alteration.ts";
import { castVerdict, isNumber } from "../../schema/cast-rules.ts";
import { bits, formatType, isFloat, isInteger, type DataType } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { namesIn } from "../../schema/sql.ts";
import { findColumn, type Table } from "../../schema/table.ts";
import type { Blocker } from "./inverse.ts";

export interface Risk {
  /**
   * - `loss`: values may be lost or change silently.
   * - `failure`: a value in the table may make the step fail; the step then changes nothing.
   * - `deferral`: a vector index can't be trained yet, and is deferred.
   * - `writers`: what others write meanwhile may be refused or lost, or gets no value in a rollback.
   * - `readers`: searches of others fail or become slower afterwards.
   * - `embedding`: clients that use an embedding function of the table can't add rows afterwards.
   */
  readonly kind: "loss" | "failure" | "deferral" | "writers" | "readers" | "embedding";
  readonly text: string;
  /** Of a loss: values may change, rather than be removed. */
  readonly changesValues?: true;
  /** The rows that it is about, if a run can count them beforehand. */
  readonly obstacle?: Blocker | undefined;
}

/**
 * The risks of one alteration. `before`: the table before it. `guarded`: whether appends are kept out during a rewrite.
 */
export function risksOfAlteration(
  table: string,
  before: Table,
  { path, type, nullable }: Alteration,
  guarded: boolean,
): readonly Risk[] {
  const column = findColumn(before.columns, parsePath(path));
  if (column === undefined) return [];
  const place = `${table}.${path}`;
  const risks: Risk[] = [];
  if (nullable === false)
    risks.push({
      kind: "failure",
      text: `a null in ${place} would stop this`,
      obstacle: { kind: "null", table, path },
    });
  if (type === undefined) return risks;
  const obstacle: Blocker = { kind: "cast", table, path, from: column.type, to: type };
  const verdict = castVerdict(column.type, type);
  const cast = `${formatType(column.type)} to ${formatType(type)}`;
  if (verdict.allowed && verdict.mayLose)
    risks.push({
      kind: "loss",
      text: `${place} may silently lose precision or range: ${cast}`,
      changesValues: true,
      obstacle,
    });
  if (verdict.allowed && verdict.mayFail)
    risks.push({
      kind: "failure",
      text: `a value in ${place} that does not fit would stop this: ${cast}`,
      obstacle: { kind: "misfit", table, path, to: type },
    });
  if (column.nullable)
    risks.push({
      kind: "writers",
      text: guarded
        ? `${place} is nullable: appends by others are refused while it is rewritten`
        : `${place} is nullable: what others append to it while it is rewritten may read null, so stop them`,
    });
  return risks;
}

/** The risks of filling a column with the values of an expression, which the engine casts to the column's type. */
export function risksOfExpression(
  place: string,
  type: DataType,
  expression: string,
  before: Table | undefined,
): readonly Risk[] {
  const words = new Set(namesIn(expression).map((word) => word.toLowerCase()));
  const read = before?.columns.filter(({ name }) => words.has(name.toLowerCase())) ?? [];
  const cut = read.find((column) => isCut(column.type, type));
  const from = cut === undefined ? undefined : `${cut.name} is ${formatType(cut.type)}`;
  const because = from ?? (isInteger(type) && /\d\.\d/.test(expression) ? "it holds a fraction" : undefined);
  const risks: Risk[] = [];
  if (because !== undefined)
    risks.push({
      kind: "loss",
      text: `${place} gets ${expression} as ${formatType(type)}, which may silently truncate values: ${because}`,
      changesValues: true,
    });
  if (read.length > 0)
    risks.push({
      kind: "failure",
      text: `a row for which ${expression} can't be worked out would stop this: ${place}`,
    });
  return risks;
}

/**
 * Whether the engine's SQL may silently cut a number or a time in this cast. Text that does not fit is an error
 * instead.
 */
function isCut(from: DataType, to: DataType): boolean {
  if (isNumber(from) && to.kind === "bool") return true;
  if (isInteger(from) && isFloat(to)) return bits(from) > wholeBits[to.kind as keyof typeof wholeBits];
  const isOther = isFloat(from) ? !isFloat(to) : from.kind === "decimal128" && to.kind !== "decimal128";
  if (isOther && isNumber(to)) return true;
  const verdict = castVerdict(from, to);
  return verdict.allowed && verdict.mayLose;
}

/** The number of bits of the integers that a float represents exactly. */
const wholeBits = { float16: 11, float32: 24, float64: 53 };

/** Whether an expression is nothing but null. */
export function isNull(expression: string | undefined): boolean {
  return expression !== undefined && /^[\s(]*null[\s)]*$/i.test(expression);
}
