/** Risks: undesired effects that an allowed action may have. Pure. */
import type { Alteration } from "./alteration.ts";
import { castVerdict, isNumberType, mayCutText } from "../../schema/cast-rules.ts";
import {
  bits,
  formatType,
  isFloat,
  isInteger,
  type Column,
  type DataType,
  type PlainKind,
} from "../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { castIn, isChanging, namesIn } from "../../schema/sql.ts";
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
  /** Of a loss: it needs consent only if a row loses its value, and a run counts these rows. */
  readonly isCounted?: true;
  /** The rows that it is about, if a run can count them beforehand. */
  readonly blocker?: Blocker | undefined;
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
      blocker: { kind: "null", table, path },
    });
  if (type === undefined) return risks;
  const blocker: Blocker = { kind: "cast", table, path, from: column.type, to: type };
  const verdict = castVerdict(column.type, type);
  const cast = `${formatType(column.type)} to ${formatType(type)}`;
  if (verdict.allowed && verdict.mayLose)
    risks.push({
      kind: "loss",
      text: `${place} may silently lose precision or range: ${cast}`,
      changesValues: true,
      blocker,
    });
  if (verdict.allowed && verdict.mayFail)
    risks.push({
      kind: "failure",
      text: `a value in ${place} that does not fit would stop this: ${cast}`,
      blocker: { kind: "misfit", table, path, to: type },
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
 * What a column loses that gets the values of an expression, cast to `to`, in the place of its own. If they are its own
 * at most in one cast, `risksOfExpression` finds what that cuts.
 */
export function lossOfReplacing(place: string, column: Column, to: DataType, expression: string): readonly Risk[] {
  const loss = (text: string): Risk => ({ kind: "loss", text });
  if (isNull(expression)) return [loss(`every value of ${place} is lost: it is null then`)];
  if (!namesIn(expression).some((name) => name.toLowerCase() === column.name.toLowerCase()))
    return [loss(`every value of ${place} is lost: ${expression} does not read it`)];
  const gone = fieldsLost(column.type, to);
  if (gone.length > 0)
    return gone.map((path) => loss(`values of ${place}.${formatPath(path)} are lost: the new type has no such field`));
  const plain = castIn(expression);
  if (plain?.name === column.name && isKept(column.type, plain.type) && !isTextCut(column.type, to)) return [];
  const text = `values of ${place} are lost where ${expression} differs from a cast of the value to ${formatType(to)}`;
  // Rows that keep their value now may lose it when the step runs.
  if (isChanging(expression)) return [{ kind: "loss", text, changesValues: true }];
  return [{ kind: "loss", text, changesValues: true, isCounted: true }];
}

/** Whether a cast keeps every value. `word`: the type in SQL; undefined if there is no cast. */
function isKept(from: DataType, word: string | undefined): boolean {
  const kind = word === undefined ? undefined : sqlTypes[word];
  return word === undefined || (kind !== undefined && !isCut(from, { kind }));
}

/** Whether a text in the column may hold more than the new type does, so that the rows decide. */
function isTextCut(from: DataType, to: DataType): boolean {
  if (from.kind !== "struct" || to.kind !== "struct") return mayCutText(from, to);
  return from.fields.some(({ name, type }) =>
    to.fields.some((into) => into.name === name && isTextCut(type, into.type)),
  );
}

/** Names of types in the engine's SQL. */
const sqlTypes = {
  __proto__: null,
  bigint: "int64",
  boolean: "bool",
  char: "utf8",
  double: "float64",
  float: "float32",
  int: "int32",
  integer: "int32",
  real: "float32",
  smallint: "int16",
  string: "utf8",
  text: "utf8",
  tinyint: "int8",
  varchar: "utf8",
} as unknown as Readonly<Record<string, PlainKind | undefined>>;

/** The fields of a struct that a new type lacks. */
function fieldsLost(from: DataType, to: DataType): readonly Path[] {
  if (from.kind !== "struct" || to.kind !== "struct") return [];
  return from.fields.flatMap(({ name, type }) => {
    const into = to.fields.find((field) => field.name === name);
    return into === undefined ? [[name]] : fieldsLost(type, into.type).map((path) => [name, ...path]);
  });
}

/**
 * Whether the engine's SQL may silently cut a number or a time in this cast. Text that does not fit is an error
 * instead.
 */
function isCut(from: DataType, to: DataType): boolean {
  if (from.kind === "struct" && to.kind === "struct")
    return from.fields.some(({ name, type }) => to.fields.some((into) => into.name === name && isCut(type, into.type)));
  if ("item" in from && "item" in to) return isCut(from.item.type, to.item.type);
  if (isNumberType(from) && to.kind === "bool") return true;
  if (isInteger(from) && isFloat(to)) return bits(from) > wholeBits[to.kind as keyof typeof wholeBits];
  const isOther = isFloat(from) ? !isFloat(to) : from.kind === "decimal128" && to.kind !== "decimal128";
  if (isOther && (isNumberType(to) || isTemporal(to))) return true;
  const verdict = castVerdict(from, to);
  return verdict.allowed && verdict.mayLose;
}

/** Whether the engine's SQL makes values of this type of whole numbers. */
function isTemporal({ kind }: DataType): boolean {
  return ["date32", "date64", "timestamp", "time32", "time64", "duration"].includes(kind);
}

/** The number of bits of the integers that a float represents exactly. */
const wholeBits = { float16: 11, float32: 24, float64: 53 };

/** Whether an expression is nothing but null. */
export function isNull(expression: string | undefined): boolean {
  return expression !== undefined && /^[\s(]*null[\s)]*$/i.test(expression);
}
