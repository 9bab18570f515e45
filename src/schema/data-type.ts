/**
 * The types and columns of a schema as plain data, without an Arrow import. Names are Arrow's
 * (https://arrow.apache.org/docs/format/Columnar.html).
 */

export const integerKinds = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const;
export const floatKinds = ["float16", "float32", "float64"] as const;
export const plainKinds = [
  ...integerKinds,
  ...floatKinds,
  ...(["null", "bool", "utf8", "largeUtf8", "binary", "largeBinary", "date32", "date64", "json", "blob"] as const),
] as const;
export const timeUnits = ["s", "ms", "us", "ns"] as const;

export type PlainKind = (typeof plainKinds)[number];
export type TimeUnit = (typeof timeUnits)[number];

export type DataType =
  | { readonly kind: PlainKind }
  | { readonly kind: "fixedSizeBinary"; readonly length: number }
  | { readonly kind: "decimal128"; readonly precision: number; readonly scale: number }
  | { readonly kind: "time32" | "time64" | "duration"; readonly unit: TimeUnit }
  | { readonly kind: "timestamp"; readonly unit: TimeUnit; readonly zone?: string | undefined }
  | { readonly kind: "list" | "largeList"; readonly item: Column }
  | { readonly kind: "fixedSizeList"; readonly item: Column; readonly length: number }
  | { readonly kind: "struct"; readonly fields: readonly Column[] }
  | { readonly kind: "dictionary"; readonly index: DataType; readonly value: DataType }
  /** A type without a builder, which a table that another program created may have. */
  | { readonly kind: "unknown"; readonly name: string };

/** A column of a table, a field of a struct, or the item of a list. */
export interface Column {
  readonly name: string;
  readonly type: DataType;
  readonly nullable: boolean;
  /** The SQL expression from which the engine computes its values; absent if the column is not computed. */
  readonly computed?: string | undefined;
  /** The known metadata; null for a key that is known to be absent. */
  readonly metadata?: Readonly<Record<string, string | null>> | undefined;
}

/** The name that Arrow's implementations give to a list's child. */
export const itemName = "item";

export function isInteger(type: DataType): boolean {
  return (integerKinds as readonly string[]).includes(type.kind);
}

export function isFloat(type: DataType): boolean {
  return (floatKinds as readonly string[]).includes(type.kind);
}

export function isTextType({ kind }: DataType): boolean {
  return kind === "utf8" || kind === "largeUtf8";
}

export function isBinary({ kind }: DataType): boolean {
  return kind === "binary" || kind === "largeBinary";
}

/** The number of bits of an integer or a float. */
export function bits({ kind }: DataType): number {
  return Number(kind.replace(/\D+/, ""));
}

/** A type as text: `fixedSizeList<float32, 768>`, `timestamp(us, UTC)`. */
export function formatType(type: DataType, nameOf: (name: string) => string = asItIs): string {
  switch (type.kind) {
    case "list":
    case "largeList":
      return `${type.kind}<${formatItem(type.item, nameOf)}>`;
    case "fixedSizeList":
      return `fixedSizeList<${formatItem(type.item, nameOf)}, ${type.length}>`;
    case "struct":
      return `struct<${type.fields.map((field) => `${nameOf(field.name)}: ${formatItem(field, nameOf)}`).join(", ")}>`;
    case "dictionary":
      return `dictionary<${formatType(type.index, nameOf)}, ${formatType(type.value, nameOf)}>`;
    case "unknown":
      return type.name;
    default: {
      const parameters = parametersOf(type);
      return parameters.length === 0 ? type.kind : `${type.kind}(${parameters.join(", ")})`;
    }
  }
}

const parameterNames = ["length", "precision", "scale", "unit", "zone", "name"];

/** The parameters of a type that are neither types nor columns, in the order in which its builder takes them. */
export function parametersOf(type: DataType): readonly (string | number)[] {
  const values: Readonly<Record<string, unknown>> = type;
  return parameterNames.flatMap((name) => (values[name] as string | number | undefined) ?? []);
}

function sameParameters(one: Readonly<Record<string, unknown>>, other: Readonly<Record<string, unknown>>): boolean {
  return parameterNames.every((name) => (one[name] ?? undefined) === (other[name] ?? undefined));
}

/** A column as text: `id int64 not null`. */
export function formatColumn(column: Column): string {
  const computed = column.computed === undefined ? "" : ` computed from ${column.computed}`;
  return `${column.name} ${formatItem(column)}${computed}`;
}

function asItIs(name: string): string {
  return name;
}

function formatItem(column: Column, nameOf: (name: string) => string = asItIs): string {
  return `${formatType(column.type, nameOf)}${column.nullable ? "" : " not null"}`;
}

/** The own value of a record for a key, which may equal an inherited name such as `constructor`. */
export function ownValue<Value>(record: Readonly<Record<string, Value>> | undefined, key: string): Value | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Whether the engine treats two types as equal: kind, parameters, child names, child nullability. */
export function sameType(one: DataType, other: DataType): boolean {
  return (
    one === other ||
    (one.kind === other.kind &&
      sameParameters(one, other) &&
      sameColumns(childColumns(one), childColumns(other)) &&
      (one.kind !== "dictionary" ||
        other.kind !== "dictionary" ||
        (sameType(one.index, other.index) && sameType(one.value, other.value))))
  );
}

/** Whether a column is as expected. Metadata keys that `expected` does not mention are ignored. */
export function sameColumn(expected: Column, other: Column): boolean {
  return (
    expected === other ||
    (expected.name === other.name &&
      expected.nullable === other.nullable &&
      expected.computed === other.computed &&
      (sameType(expected.type, other.type) || wasDeclaredAs(expected.type, other.type)) &&
      Object.entries(expected.metadata ?? {}).every(
        ([key, value]) => (ownValue(other.metadata, key) ?? null) === value,
      ))
  );
}

/**
 * Whether releases that did not know the type of a column declared it so: as what it is stored as. What such a history
 * expects is there.
 */
export function wasDeclaredAs(expected: DataType, { kind }: DataType): boolean {
  if (kind === "json") return expected.kind === "largeBinary";
  return (
    kind === "blob" &&
    expected.kind === "struct" &&
    ["data", "uri"].every((name, at) => expected.fields[at]?.name === name)
  );
}

/**
 * Whether columns are equal and in the same order. A rename keeps the position, so a swap of two names is a difference.
 */
export function sameColumns(ones: readonly Column[], others: readonly Column[]): boolean {
  return ones.length === others.length && ones.every((one, index) => sameColumn(one, others[index]!));
}

/** The columns directly inside a type. */
export function childColumns(type: DataType): readonly Column[] {
  switch (type.kind) {
    case "struct":
      return type.fields;
    case "list":
    case "largeList":
    case "fixedSizeList":
      return [type.item];
    default:
      return [];
  }
}

/** The same type with other children, in the order of `childColumns`. */
export function withChildColumns(type: DataType, children: readonly Column[]): DataType {
  switch (type.kind) {
    case "struct":
      return { ...type, fields: children };
    case "list":
    case "largeList":
    case "fixedSizeList":
      return { ...type, item: children[0]! };
    default:
      return type;
  }
}

/** A type and the types inside it, in the order in which Arrow lays them out. */
export function typesWithin(type: DataType): readonly DataType[] {
  return [type, ...childColumns(type).flatMap((child) => typesWithin(child.type))];
}

/**
 * Whether a type contains a struct with a field of type null. The engine can't write rows without values into such a
 * column (measured).
 */
export function holdsNullField(type: DataType): boolean {
  return typesWithin(type).some(
    (one) => one.kind === "struct" && one.fields.some((field) => field.type.kind === "null"),
  );
}

/** How many bytes a value takes, of types that take the same in every row. A bool takes a bit. */
export const fixedBytes: Readonly<Partial<Record<DataType["kind"], number>>> = {
  ...Object.fromEntries([...integerKinds, ...floatKinds].map((kind) => [kind, bits({ kind }) / 8])),
  null: 0,
  bool: 1 / 8,
  date32: 4,
  time32: 4,
  date64: 8,
  time64: 8,
  timestamp: 8,
  duration: 8,
  decimal128: 16,
};
