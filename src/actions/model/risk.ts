/** What people should know before an action runs: it is allowed, and may still not do what they want. Pure. */
import type { Alteration } from "./alteration.ts";
import { bits, castVerdict, isNumber } from "../../schema/cast-rules.ts";
import { formatType, isFloat, isInteger, type DataType } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { namesIn } from "../../schema/sql.ts";
import { findColumn, type Table } from "../../schema/table.ts";
import type { Blocker } from "./inverse.ts";

export interface Risk {
  /**
   * - `loss`: values may change without a word.
   * - `failure`: a value in the table may stop the step; nothing changes then.
   * - `writers`: what other programs write meanwhile may be lost.
   * - `embedding`: clients that use an embedding function of the table can't add rows afterwards.
   */
  readonly kind: "loss" | "failure" | "writers" | "embedding";
  readonly text: string;
  /** The rows that it is about, where they can be looked for beforehand. */
  readonly obstacle?: Blocker | undefined;
}

/** The risks of one change of a table as it is before. `guarded`: appends are kept out while it is rewritten. */
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
    risks.push({ kind: "loss", text: `${place} may lose precision or range without a word: ${cast}`, obstacle });
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

/** The risks of giving a column what an expression yields, which the engine casts to its type. */
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
      text: `${place} gets ${expression} as ${formatType(type)}, which may cut values without a word: ${because}`,
    });
  if (read.length > 0)
    risks.push({
      kind: "failure",
      text: `a row for which ${expression} can't be worked out would stop this: ${place}`,
    });
  return risks;
}

/** Whether the engine's SQL makes less of a number or a time than it was; of text that does not fit it makes an error. */
function isCut(from: DataType, to: DataType): boolean {
  if (isNumber(from) && to.kind === "bool") return true;
  if (isInteger(from) && isFloat(to)) return bits(from) > wholeBits[to.kind as keyof typeof wholeBits];
  const isOther = isFloat(from) ? !isFloat(to) : from.kind === "decimal128" && to.kind !== "decimal128";
  if (isOther && isNumber(to)) return true;
  const verdict = castVerdict(from, to);
  return verdict.allowed && verdict.mayLose;
}

/** The longest integers that a float holds as they are. */
const wholeBits = { float16: 11, float32: 24, float64: 53 };

/** Whether an expression is nothing but null. */
export function isNull(expression: string): boolean {
  return /^[\s(]*null[\s)]*$/i.test(expression);
}
