/** The SQL that the random steps are written in, worked out here; test/sequences/draw.ts writes it. Pure. */
import { isFloat, isInteger, sameType, type DataType } from "../../src/schema/data-type.ts";
import type { Cells } from "./rows.ts";
import { numbersOf, typeOf, type Shape } from "./shapes.ts";
import { cast, isScalar, type Value } from "./values.ts";

/** What an expression gives a column of that type; undefined where that can't be foretold. */
export function expressionOf(sql: string, to: DataType, shape: Shape): ((cells: Cells) => Value) | undefined {
  if (sql === "null") return () => null;
  const literal = literalOf(sql, to);
  if (literal !== undefined) return () => literal;
  const column = columnIn(sql, shape);
  if (column === undefined) return undefined;
  const { type, number } = column;
  const isCast = sameType(type, to) || (isScalar(type) && isScalar(to) && isFloat(type) && isFloat(to));
  return isCast ? (cells) => cast(cells[number] ?? null, to) : undefined;
}

function literalOf(sql: string, to: DataType): Value | undefined {
  if (sql === "1" && (isInteger(to) || isFloat(to))) return "1";
  const [, text] = /^'(\w)'$/.exec(sql) ?? [];
  if (text !== undefined && /^(utf8|largeUtf8)$/.test(to.kind)) return `"${text}"`;
  if (sql === "true" && to.kind === "bool") return "true";
  if (sql === "X'00'" && /^(binary|largeBinary)$/.test(to.kind)) return "0x00";
  const [, time] = /^(?:date|timestamp) '([^']+)'$/.exec(sql) ?? [];
  if (time === undefined || !/^(date32|timestamp)$/.test(to.kind)) return undefined;
  return String(Date.parse(time.includes("T") ? `${time}Z` : time));
}

/** For which rows a predicate holds; undefined where that can't be foretold. */
export function predicateOf(sql: string, shape: Shape): ((cells: Cells) => boolean) | undefined {
  if (sql === "true" || sql === "false") return () => sql === "true";
  const column = columnIn(sql.replace(/ is null$/, ""), shape);
  if (column === undefined || !sql.endsWith(" is null")) return undefined;
  return (cells) => (cells[column.number] ?? null) === null;
}

function columnIn(sql: string, shape: Shape): { readonly number: number; readonly type: DataType } | undefined {
  const [, name] = /^`([^`]+)`$/.exec(sql) ?? [];
  const [number] = name === undefined ? [] : numbersOf(shape.columns, [name]);
  return name === undefined || number === undefined ? undefined : { number, type: typeOf(shape, name) };
}
