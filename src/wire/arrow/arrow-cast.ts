/** SQL that gives a column values of exactly its type, for `add_columns`, which has no other way to name a type. */
import { parametersOf, type Column, type DataType, type TimeUnit } from "../../schema/data-type.ts";
import { storedType } from "../../schema/reserved-metadata.ts";
import { sqlText } from "../../schema/sql.ts";
import type { AddedColumn } from "../../actions/model/action.ts";

/**
 * The expression for a new column. The engine makes the column nullable if the expression may be null as far as it can
 * tell. Only for a not-null column does that follow from the column's own expression.
 */
export function columnSql(column: AddedColumn): string {
  return formsOf(column).at(-1)!;
}

/**
 * Expressions with the same values. The last one gives a nullable column if one is wanted, whatever the engine can tell.
 * Those before it take less time for each row, but whether the column will be nullable depends on the expression.
 */
export function formsOf({ type, nullable, as }: AddedColumn): readonly string[] {
  const nothing = castSql("NULL", type);
  if (as === undefined) return [nothing];
  const value = castSql(`(${as})`, type);
  if (!nullable) return [value];
  // The engine evaluates constants beforehand and knows that they are not null. So in the last form, the value is
  // compared with a null that, as far as the engine knows, may change from row to row.
  return [
    value,
    mayBeNull(value, type),
    `nullif(${value}, case when random() < 0 then ${nothing} else ${nothing} end)`,
  ];
}

/** The same value, which may be null as far as the engine can tell unless it is a constant. */
export function mayBeNull(value: string, type: DataType): string {
  return `nullif(${value}, ${castSql("NULL", type)})`;
}

/** A cast of an SQL expression. `arrow_try_cast` gives null for a value that does not fit. */
export function castSql(sql: string, type: DataType, cast: "arrow_cast" | "arrow_try_cast" = "arrow_cast"): string {
  return `${cast}(${sql}, ${sqlText(arrowName(type))})`;
}

/** The name of a type as arrow-rs parses it. */
export function arrowName(given: DataType): string {
  const type = storedType(given);
  switch (type.kind) {
    case "bool":
      return "Boolean";
    case "time32":
    case "time64":
    case "duration":
      return `${capital(type.kind)}(${unitNames[type.unit]})`;
    case "timestamp":
      return `Timestamp(${unitNames[type.unit]}, ${type.zone === undefined ? "None" : `Some(${JSON.stringify(type.zone)})`})`;
    case "list":
    case "largeList":
      return `${capital(type.kind)}(${itemName(type.item)})`;
    case "fixedSizeList":
      return `FixedSizeList(${type.length}, ${arrowName(type.item.type)})`;
    case "struct":
      return `Struct(${type.fields.map((field) => `${JSON.stringify(field.name)}: ${marked(field)}`).join(", ")})`;
    case "dictionary":
      return `Dictionary(${arrowName(type.index)}, ${arrowName(type.value)})`;
    case "uint8":
    case "uint16":
    case "uint32":
    case "uint64":
      return `UInt${type.kind.slice(4)}`;
    case "unknown":
      throw new TypeError(`there is no SQL for ${type.name}`);
    default: {
      const parameters = parametersOf(type);
      return parameters.length === 0 ? capital(type.kind) : `${capital(type.kind)}(${parameters.join(", ")})`;
    }
  }
}

/** The names of units in the names of types. */
export const unitNames: Readonly<Record<TimeUnit, string>> = {
  s: "Second",
  ms: "Millisecond",
  us: "Microsecond",
  ns: "Nanosecond",
};

export function capital(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

function marked({ type, nullable }: Column): string {
  return `${nullable ? "" : "non-null "}${arrowName(type)}`;
}

function itemName(item: Column): string {
  return item.name === "item" ? marked(item) : `${marked(item)}, field: '${item.name}'`;
}
