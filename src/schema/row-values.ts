/** Rows of migrations: plain JSON values, which are checked against the columns of their table. */
import { MigrateError } from "../errors/migrate-error.ts";
import { bits, formatType, isFloat, isInteger, isTextType, type Column, type DataType } from "./data-type.ts";
import { float16Bits, float16Of } from "./float16.ts";
import { dayOf, ticksOf } from "../time/iso-time.ts";
import { similarName } from "./names.ts";

/**
 * A value of a row. Text stands for dates (`2026-11-20`), timestamps (ISO 8601) and 64-bit integers that a JavaScript
 * number can't represent.
 */
export type RowValue = null | boolean | number | string | readonly RowValue[] | { readonly [field: string]: RowValue };
export type RowValues = Readonly<Record<string, RowValue>>;

export interface RowRules {
  /** The column whose value must be present and unique in each row. */
  readonly key?: string | undefined;
  /** Whether the rows are written when the table is created. Every column must then have a type that rows can hold. */
  readonly whole?: boolean | undefined;
}

/** Throws ERR_ROWS if the rows do not fit the columns. */
export function checkRows(
  table: string,
  columns: readonly Column[],
  rows: readonly RowValues[],
  { key, whole = false }: RowRules,
): void {
  const refuse = (problem: string): never => {
    throw new MigrateError("ERR_ROWS", { table, problem });
  };
  const other = whole ? columns.find(({ type }) => !canHold(type)) : undefined;
  if (other !== undefined)
    refuse(
      `${other.name} is ${formatType(other.type)}, of which migrations hold no values; create the table without rows, then insertRows`,
    );
  const named = new Map(columns.map((column) => [column.name, column]));
  if (key !== undefined && !named.has(key)) refuse(`there is no column ${key} to tell them apart by`);
  const keys = new Set<string>();
  for (const [index, row] of rows.entries()) {
    const place = `row ${index + 1}`;
    for (const name of Object.keys(row)) {
      if (named.has(name)) continue;
      const similar = similarName(name, named.keys());
      refuse(
        `${place} has a value for ${name}, which is no column${similar === undefined ? "" : `; did you mean ${similar}?`}`,
      );
    }
    for (const column of columns) {
      const problem = cellProblem(valueIn(row, column.name), column, column.name);
      if (problem !== undefined) refuse(`${place}: ${problem}`);
    }
    if (key === undefined) continue;
    const own = valueIn(row, key);
    if (own === null || typeof own === "object") return refuse(`${place} has no ${key} that could tell it from others`);
    const same = keyText(own, named.get(key)!.type);
    if (keys.has(same)) refuse(`${place} has the same ${key} as another: ${String(own)}`);
    keys.add(same);
  }
}

/** The row's value of a column; null if it has none. */
export function valueIn(row: RowValues, name: string): RowValue {
  return Object.hasOwn(row, name) ? row[name]! : null;
}

/** A text that is equal for two keys that are the same value in the table. */
function keyText(key: boolean | number | string, type: DataType): string {
  if (isInteger(type)) return String(BigInt(key as number | string));
  if (type.kind === "date32") return String(dayOf(key as string));
  if (type.kind === "timestamp") return String(ticksOf(key as string, type.unit));
  if (isFloat(type)) return String(rounded(key as number, type));
  return String(key);
}

/** Why a value does not fit a column, as text; undefined if it does. */
export function problemOfValue(value: RowValue, column: Column): string | undefined {
  return cellProblem(value, column, "the value");
}

function cellProblem(value: RowValue, { type, nullable, computed }: Column, place: string): string | undefined {
  if (value !== null && computed !== undefined)
    return `${place} is a computed column; refreshColumn computes its values`;
  if (value === null) return nullable ? undefined : `${place} must have a value, as it is not null`;
  return valueProblem(value, type, place);
}

function valueProblem(value: Exclude<RowValue, null>, type: DataType, place: string): string | undefined {
  const fits = (fit: boolean, words: string) =>
    fit ? undefined : `${place} must be ${words}, as it is ${formatType(type)}`;
  if (type.kind === "bool") return fits(typeof value === "boolean", "true or false");
  if (isTextType(type)) {
    // It would be stored as another character.
    if (typeof value === "string" && !value.isWellFormed())
      return `${place} has half of a surrogate pair, which is no character (${JSON.stringify(value)})`;
    return fits(typeof value === "string", "text");
  }
  if (type.kind === "json") return fits(isJson(value), "JSON text, as JSON.stringify gives it");
  if (isFloat(type)) return fits(typeof value === "number" && holdsFloat(value, type), "a number in its range");
  if (isInteger(type))
    return fits(
      isInRange(value, type),
      `a whole number in its range${bits(type) === 64 ? ", or text where JavaScript can't hold it" : ""}`,
    );
  if (type.kind === "date32") {
    const day = typeof value === "string" ? dayOf(value) : undefined;
    return fits(day !== undefined && day === (day | 0), "a date that it can hold, such as 2026-11-20");
  }
  if (type.kind === "timestamp")
    return fits(
      typeof value === "string" && ticksOf(value, type.unit) !== undefined,
      "a time that it can tell, such as 2026-11-20T12:00:00Z",
    );
  if (type.kind === "list" || type.kind === "fixedSizeList") {
    if (!isList(value)) return fits(false, "a list");
    if (type.kind === "fixedSizeList" && value.length !== type.length) return fits(false, `a list of ${type.length}`);
    // A hole in an array is undefined, and no null.
    return Array.from(value, (item, index) => cellProblem(item, type.item, `${place}[${index}]`)).find(
      (one) => one !== undefined,
    );
  }
  if (type.kind === "struct") {
    if (typeof value !== "object" || isList(value)) return fits(false, "an object");
    const unknown = Object.keys(value).find((name) => type.fields.every((field) => field.name !== name));
    if (unknown !== undefined) return `${place} has no field ${unknown}`;
    return type.fields
      .map((field) => cellProblem(valueIn(value as RowValues, field.name), field, `${place}.${field.name}`))
      .find((one) => one !== undefined);
  }
  return `${place} is ${formatType(type)}, of which migrations hold no values; leave it out, or write it from your application`;
}

/** Whether rows of migrations can hold values of a type. */
export function canHold(type: DataType): boolean {
  if (type.kind === "list" || type.kind === "fixedSizeList") return canHold(type.item.type);
  if (type.kind === "struct") return type.fields.every((field) => canHold(field.type));
  return (
    isFloat(type) || isInteger(type) || isTextType(type) || ["bool", "date32", "timestamp", "json"].includes(type.kind)
  );
}

/** Whether a value is JSON text that the engine stores as it is: it has no infinite numbers, and no halves of surrogate pairs. */
function isJson(value: RowValue): boolean {
  if (typeof value !== "string" || !value.isWellFormed()) return false;
  let isExact = true;
  try {
    JSON.parse(value, (key, one: unknown) => {
      isExact &&=
        key.isWellFormed() && (typeof one === "string" ? one.isWellFormed() : one !== Infinity && one !== -Infinity);
      return one;
    });
  } catch {
    return false;
  }
  return isExact;
}

/** Code may return typed arrays. */
function isList(value: RowValue): value is readonly RowValue[] {
  return Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
}

/** Whether a number is in the range of a float type. Rounding is accepted, infinity is not. */
export function holdsFloat(value: number, type: DataType): boolean {
  return Number.isFinite(rounded(value, type));
}

/** The nearest number of a float type. */
function rounded(value: number, { kind }: DataType): number {
  if (kind === "float16") return float16Of(float16Bits(value));
  return kind === "float32" ? Math.fround(value) : value;
}

function isInRange(value: RowValue, type: DataType): boolean {
  if (
    typeof value === "number" ? !Number.isSafeInteger(value) : typeof value !== "string" || !/^-?\d{1,20}$/.test(value)
  )
    return false;
  const whole = BigInt(value as number | string);
  return whole === (type.kind.startsWith("u") ? BigInt.asUintN : BigInt.asIntN)(bits(type), whole);
}
