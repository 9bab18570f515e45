/** SQL that gives a column its values with exactly its type, for `add_columns`: types have no other names there. */
import type { Column, DataType, TimeUnit } from "../../schema/data-type.ts";
import type { AddedColumn } from "../../actions/model/action.ts";

/**
 * The expression for a new column. What it gives may be null as far as the engine can tell, unless the column is not null:
 * then that follows from the column's own expression.
 */
export function sqlOf({ type, nullable, as }: AddedColumn): string {
  const name = `'${arrowName(type).replaceAll("'", "''")}'`;
  const nothing = `arrow_cast(NULL, ${name})`;
  if (as === undefined) return nothing;
  const value = `arrow_cast((${as}), ${name})`;
  // What does not change from row to row the engine works out beforehand, and of a constant it knows that it is not null:
  // so it is compared with a null that might change.
  return nullable ? `nullif(${value}, case when random() < 0 then ${nothing} else ${nothing} end)` : value;
}

/** A type as arrow-rs reads it. */
export function arrowName(type: DataType): string {
  switch (type.kind) {
    case "bool":
      return "Boolean";
    case "fixedSizeBinary":
      return `FixedSizeBinary(${type.length})`;
    case "decimal128":
      return `Decimal128(${type.precision}, ${type.scale})`;
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
    default:
      return capital(type.kind);
  }
}

const unitNames: Readonly<Record<TimeUnit, string>> = {
  s: "Second",
  ms: "Millisecond",
  us: "Microsecond",
  ns: "Nanosecond",
};

function capital(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

function marked({ type, nullable }: Column): string {
  return `${nullable ? "" : "non-null "}${arrowName(type)}`;
}

function itemName(item: Column): string {
  return item.name === "item" ? marked(item) : `${marked(item)}, field: '${item.name}'`;
}
