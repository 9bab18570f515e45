/**
 * Keys of a column's metadata that determine how the engine reads and writes the column: types that Arrow lacks, and keys
 * that only the engine may set. If the column has files already, another value makes the table unreadable or every later
 * write fail (measured: test/contract/reserved-metadata.test.ts). Pure.
 */

import { childColumns, ownValue, typesWithin, withChildColumns, type Column, type DataType } from "./data-type.ts";

/**
 * Why a key can't be set to a value, or removed (null); undefined if it can. `was`: the value before, if it is known.
 */
export function reservedProblem(key: string, value: string | null, was?: string | null): string | undefined {
  if (/^(computed_column|computed_refresh)(\.|$)/.test(key) || key === "lance:field_id")
    return `the metadata key ${key} belongs to the engine, which sets it itself`;
  if (layoutKeys.has(key) || (key === extensionKey && [value, was].some(isEnginesExtension)))
    return `the engine reads a column's files by the metadata key ${key}, and could not read the existing ones any more`;
  if (key === structure && value !== null && !/^(miniblock|fullzip)$/i.test(value))
    return `the metadata key ${key} takes "miniblock" or "fullzip", and with another value the engine writes no more rows`;
  return undefined;
}

/** The entries of metadata that may be set again when the engine has written the column again, as another type perhaps. */
export function withoutEngines(metadata: NonNullable<Column["metadata"]>): NonNullable<Column["metadata"]> {
  const own = Object.entries(metadata).filter(([key, value]) => reservedProblem(key, value) === undefined);
  const isNamed = own.some(([key]) => key === extensionKey);
  return Object.fromEntries(own.filter(([key]) => isNamed || key !== parametersOfExtension));
}

export function withoutExtension(metadata: NonNullable<Column["metadata"]>): NonNullable<Column["metadata"]> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !key.startsWith("ARROW:extension:")));
}

/** Names the type of a field that Arrow lacks. */
export const extensionKey = "ARROW:extension:name";
const parametersOfExtension = "ARROW:extension:metadata";

const layoutKeys = new Set(["lance-encoding:blob", "lance-encoding:packed", "packed"]);
const structure = "lance-encoding:structural-encoding";

/** What `specialStorage` gives for blobs. */
export const blob = "a blob";

/** How the engine stores a column otherwise than its type, in words, by the column's metadata; undefined if it does not. */
export function specialStorage(metadata: Column["metadata"] = {}): string | undefined {
  const name = ownValue(metadata, extensionKey);
  if (ownValue(metadata, "lance-encoding:blob") === "true" || name?.startsWith("lance.blob") === true) return blob;
  if (!isEnginesExtension(name)) return undefined;
  return name!.endsWith(".json") ? "JSON" : name!;
}

function isEnginesExtension(name: string | null | undefined): boolean {
  return name === "arrow.json" || name?.startsWith("lance.") === true;
}

/** A type that Arrow lacks. Its field has the type that it is stored as, and the name of an extension in its metadata. */
interface ArrowExtension {
  readonly name: string;
  /** As a schema for new columns and rows has it. */
  readonly stored: DataType;
  /** Whether a schema that was read means the type. */
  readonly isStoredAs: (type: DataType, name: string) => boolean;
}

const field = (name: string, type: DataType): Column => ({ name, type, nullable: true });

const extensions: Readonly<Partial<Record<DataType["kind"], ArrowExtension>>> = {
  // The engine takes text, and stores a binary form of it under the name lance.json.
  json: {
    name: "arrow.json",
    stored: { kind: "utf8" },
    isStoredAs: ({ kind }, name) =>
      name === "lance.json" ? kind === "largeBinary" : name === "arrow.json" && /utf8/i.test(kind),
  },
  // Clients also declare it with the first two fields alone. A range of a file has all four, and then can't be added.
  blob: {
    name: "lance.blob.v2",
    stored: {
      kind: "struct",
      fields: [
        field("data", { kind: "largeBinary" }),
        field("uri", { kind: "utf8" }),
        field("position", { kind: "uint64" }),
        field("size", { kind: "uint64" }),
      ],
    },
    isStoredAs: ({ kind }, name) => name === "lance.blob.v2" && kind === "struct",
  },
};

/** The name of the extension; undefined for a type that Arrow has. */
export function extensionName({ kind }: DataType): string | undefined {
  return extensions[kind]?.name;
}

/** The type itself, if Arrow has it. */
export function storedType(type: DataType): DataType {
  return extensions[type.kind]?.stored ?? type;
}

/** The kind of an extension in a type; undefined if Arrow has all of it. */
export function extensionIn(type: DataType): DataType["kind"] | undefined {
  return typesWithin(type).find(({ kind }) => extensions[kind] !== undefined)?.kind;
}

/** How a column of a type that SQL can't make gets its values, as advice. */
export function wayToFill({ kind }: DataType): string {
  return kind === "json"
    ? "add a column of type json, and set it to JSON text with execute"
    : "add a column of this type without values, and write them from your application";
}

/** A column of a schema that was read, in which extensions are types. Leaves out a key that only some clients set, to nothing. */
export function withExtensions(column: Column): Column {
  const { type, metadata } = column;
  const { "ARROW:extension:metadata": _, ...others } = metadata ?? {};
  const name = ownValue(metadata, extensionKey);
  const found =
    typeof name === "string" && Object.entries(extensions).find(([, { isStoredAs }]) => isStoredAs(type, name));
  if (found) return { ...column, type: { kind: found[0] } as DataType, metadata: others };
  const children = childColumns(type);
  return children.length === 0 ? column : { ...column, type: withChildColumns(type, children.map(withExtensions)) };
}
