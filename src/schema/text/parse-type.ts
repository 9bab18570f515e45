/** Parses types as users type them: `vector(768)`, `struct<a: int32, b: list<utf8>>`. Pure. */
import { itemName, plainKinds, type Column, type DataType } from "../data-type.ts";
import { similarName } from "../names.ts";
import type { TextReader } from "./text-reader.ts";

/** What is expected after a column's name, for messages. */
export function typeOf(column: string): string {
  return `the type of ${column}, such as utf8,`;
}

/** A type, optionally followed by `not null`. `what`: the type for messages. */
export function parseType(reader: TextReader, what = "a type"): Pick<Column, "type" | "nullable"> {
  const type = bareType(reader, what);
  return { type, nullable: !reader.takes("not null") };
}

/** `title utf8`, or with a colon. */
export function parseField(reader: TextReader): Column {
  const name = reader.name();
  reader.takes(":");
  return { name, ...parseType(reader, typeOf(name)) };
}

function bareType(reader: TextReader, what?: string): DataType {
  const { inside, afterComma, whole } = reader;
  const kind = kindOf(reader, what);
  switch (kind) {
    case "fixedSizeBinary":
      return { kind, length: inside(whole) };
    case "decimal128":
      return inside(() => ({ kind, precision: whole(), scale: afterComma(whole) }));
    case "time32":
    case "time64":
    case "duration":
      return { kind, unit: inside(() => reader.word("a unit")) } as DataType;
    case "timestamp":
      return inside(() => timestamp(reader));
    case "list":
    case "largeList":
      return { kind, item: inside(() => item(reader)) };
    case "fixedSizeList":
      return inside(() => ({ kind, item: item(reader), length: afterComma(whole) }));
    case "vector":
      return inside(() => vector(reader));
    case "struct":
      return { kind, fields: inside(() => reader.commaSeparated(() => parseField(reader))) };
    case "dictionary":
      return inside(() => ({ kind, index: bareType(reader), value: afterComma(() => bareType(reader)) }));
    default:
      return { kind } as DataType;
  }
}

function kindOf({ word, fail }: TextReader, what = "a type"): string {
  const written = word(what);
  const kind = typeWords.get(written.toLowerCase());
  if (kind !== undefined) return kind;
  const similar = otherWords.get(written.toLowerCase()) ?? similarName(written, typeWords.values());
  return fail(`there is no type ${written}${similar === undefined ? "" : `; did you mean ${similar}?`}`);
}

function item(reader: TextReader): Column {
  return { name: itemName, ...parseType(reader, "the type of its items") };
}

function vector(reader: TextReader): DataType {
  const length = reader.whole();
  const of: Column = reader.takes(",") ? item(reader) : { name: itemName, type: { kind: "float32" }, nullable: true };
  return { kind: "fixedSizeList", item: of, length };
}

function timestamp({ takes, fail, word, match, wanted }: TextReader): DataType {
  if (['"', "'", "`"].some(takes))
    fail("the units are s, ms, us and ns, and are written without quotes, as is the time zone: timestamp(us, UTC)");
  const unit = word("a unit");
  const zone = takes(",") ? (match(/[^\s,()<>]+/) ?? wanted("a time zone")) : undefined;
  return { kind: "timestamp", unit, ...(zone !== undefined && { zone }) } as DataType;
}

const typeWords: ReadonlyMap<string, string> = new Map(
  [
    ...plainKinds,
    "fixedSizeBinary",
    "decimal128",
    "time32",
    "time64",
    "duration",
    "timestamp",
    "list",
    "largeList",
    "fixedSizeList",
    "vector",
    "struct",
    "dictionary",
  ].map((kind) => [kind.toLowerCase(), kind]),
);

/** Names that other tools use for these types. */
const otherWords: ReadonlyMap<string, string> = new Map(
  Object.entries({
    string: "utf8",
    text: "utf8",
    varchar: "utf8",
    int: "int32",
    integer: "int32",
    bigint: "int64",
    long: "int64",
    float: "float32",
    real: "float32",
    double: "float64",
    boolean: "bool",
    bytes: "binary",
    date: "date32",
    decimal: "decimal128",
  }),
);
