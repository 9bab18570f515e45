/**
 * Parses types as services write them: in Lance's or Arrow's names, in any letter case, as a text or as `{ type,
 * fields?, length? }`. lance-type.ts writes types.
 */
import { itemName, plainKinds, timeUnits, type Column, type DataType, type TimeUnit } from "../../schema/data-type.ts";
import { lanceNames } from "./lance-type.ts";

/** The type that a value denotes; undefined if it is not a known type. */
export function parseDataType(value: unknown): DataType | undefined {
  return readType(value, () => undefined, 0);
}

/** The columns of a described schema (`schema.fields`). Types that are not known become unknown ones. */
export function parseColumns(fields: unknown): readonly Column[] | undefined {
  return readFields(fields, (name) => ({ kind: "unknown", name }), 0);
}

/** Gives the type for a name that is not known. */
type Unknown = (name: string) => DataType | undefined;

// Deeper than any table, and far below the depth at which a malicious answer would exhaust the stack.
const deepest = 64;

function readFields(fields: unknown, unknown: Unknown, depth: number): readonly Column[] | undefined {
  if (!Array.isArray(fields)) return undefined;
  const columns = fields.map((field) => readField(field, unknown, depth));
  return columns.every((column) => column !== undefined) ? columns : undefined;
}

function readField(field: unknown, unknown: Unknown, depth: number): Column | undefined {
  if (!isRecord(field) || typeof field["name"] !== "string") return undefined;
  const type = readType(field["type"], unknown, depth);
  const column = type && { name: field["name"], type, nullable: field["nullable"] !== false };
  const metadata = metadataOf(field["metadata"]);
  return column === undefined || metadata === undefined ? column : { ...column, metadata };
}

function metadataOf(value: unknown): Column["metadata"] {
  if (!isRecord(value)) return undefined;
  const entries = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function readType(value: unknown, unknown: Unknown, depth: number): DataType | undefined {
  if (depth > deepest) return undefined;
  if (typeof value === "string") return readText(value, unknown);
  if (!isRecord(value) || typeof value["type"] !== "string") return undefined;
  const text = value["type"];
  const size = lengthOf(value["length"] ?? value["listSize"] ?? value["list_size"]);
  const fields = () => readFields(value["fields"], unknown, depth + 1);
  const onlyField = () => {
    const [item, ...others] = fields() ?? [];
    return others.length === 0 ? item : undefined;
  };
  switch (wordOf(text)) {
    case "struct": {
      const inside = fields();
      return inside === undefined ? unknown(text) : { kind: "struct", fields: inside };
    }
    case "list":
    case "largelist": {
      const item = onlyField();
      return item === undefined ? unknown(text) : { kind: wordOf(text) === "list" ? "list" : "largeList", item };
    }
    case "fixedsizelist": {
      const item = onlyField();
      return item === undefined || size === undefined ? readText(text, unknown) : vector(item.type, size);
    }
    case "fixedsizebinary":
      return size === undefined ? readText(text, unknown) : { kind: "fixedSizeBinary", length: size };
    // Arrow's REST encoding puts precision and scale into one number.
    case "decimal128":
      return size === undefined ? readText(text, unknown) : decimal(Math.floor(size / 1000), size % 1000);
    default: {
      const type = readText(text, unknown);
      // The hosted service's documentation writes a vector as its item type with a length.
      return size !== undefined && type?.kind.startsWith("float") === true ? vector(type, size) : type;
    }
  }
}

function vector(type: DataType, length: number): DataType {
  // The engine always gives the item this name and makes it nullable, whatever was declared.
  return { kind: "fixedSizeList", item: { name: itemName, type, nullable: true }, length };
}

function readText(text: string, unknown: Unknown): DataType | undefined {
  const [, ...parts] = text.trim().split(":");
  const word = wordOf(text);
  if (word === "") return undefined;
  const plain = plainTypes.get(word);
  if (plain !== undefined) return plain;
  switch (word) {
    case "timestamp":
      return timestamp(parts[0], parts.slice(1).join(":")) ?? unknown(text);
    case "duration":
    case "time32":
    case "time64": {
      const units = unitsOf[word];
      const unit = unitOf(parts[0] ?? units[0]!, units);
      return unit === undefined ? unknown(text) : { kind: word, unit };
    }
    case "decimal":
    case "decimal128":
    case "decimal256":
      return readDecimal(word, parts.map(Number), unknown) ?? unknown(text);
    case "fixedsizebinary": {
      const length = lengthOf(Number(parts[0]));
      return length === undefined ? unknown(text) : { kind: "fixedSizeBinary", length };
    }
    case "fixedsizelist": {
      const length = lengthOf(Number(parts.at(-1)));
      const item = parts.length > 1 ? readText(parts.slice(0, -1).join(":"), unknown) : undefined;
      return item === undefined || length === undefined ? unknown(text) : vector(item, length);
    }
    case "dict":
    case "dictionary":
      return dictionary(parts) ?? unknown(text);
    default:
      return unknown(text);
  }
}

/** The name alone, in lower case and without separators: "Large_Utf8" and "largeUtf8" are the same. */
function wordOf(text: string): string {
  const [name = ""] = text.trim().split(":", 1);
  return name.toLowerCase().replace(/[_\s-]/g, "");
}

const plainTypes: ReadonlyMap<string, DataType> = new Map(
  plainKinds.flatMap((kind) => [kind, lanceNames[kind] ?? kind].map((name) => [wordOf(name), { kind }] as const)),
).set("boolean", { kind: "bool" });

function timestamp(unit = "us", zone: string): DataType | undefined {
  const known = unitOf(unit, timeUnits);
  if (known === undefined) return undefined;
  return zone === "" || zone === "-" ? { kind: "timestamp", unit: known } : { kind: "timestamp", unit: known, zone };
}

/** The units of each kind, with the one that is meant if none is given first. */
const unitsOf: Readonly<Record<"duration" | "time32" | "time64", readonly TimeUnit[]>> = {
  duration: ["us", "s", "ms", "ns"],
  time32: ["ms", "s"],
  time64: ["us", "ns"],
};

function unitOf(text: string, units: readonly TimeUnit[]): TimeUnit | undefined {
  return units.find((unit) => unit === text.toLowerCase());
}

/** Parses `decimal:128:10:2`, `decimal:10:2` and `decimal128:10:2`. */
function readDecimal(word: string, numbers: readonly number[], unknown: Unknown): DataType | undefined {
  const [bits, precision, scale] = numbers.length === 3 ? numbers : [Number(word.slice(7) || 128), ...numbers];
  return bits === 128 ? decimal(precision, scale) : unknown(`decimal${bits}(${precision}, ${scale})`);
}

function decimal(precision = 0, scale = Number.NaN): DataType | undefined {
  const fits = Number.isInteger(precision) && Number.isInteger(scale) && precision >= 1 && precision <= 38;
  return fits ? { kind: "decimal128", precision, scale } : undefined;
}

/**
 * Parses `dict:string:int32:false`: the value type, the index type, and whether the values are ordered. The value type
 * may contain colons itself.
 */
function dictionary(parts: readonly string[]): DataType | undefined {
  const value = readText(parts.slice(0, -2).join(":"), () => undefined);
  const index = readText(parts.at(-2) ?? "", () => undefined);
  return value && index && { kind: "dictionary", index, value };
}

function lengthOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value < 2 ** 31 ? value : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
