/** Types and alterations as `alter_columns` accepts them, in each vocabulary that services use (docs/rest.md). */
import type { Alteration } from "../../../actions/model/alteration.ts";
import { formatType, type Column, type DataType } from "../../../schema/data-type.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import { findColumn } from "../../../schema/table.ts";
import { toLanceType } from "../../../wire/lance/lance-type.ts";

export type Vocabulary = "lance" | "arrow" | "string";

export interface WireAlteration {
  readonly path: string;
  readonly rename?: string | undefined;
  readonly data_type?: unknown;
  readonly nullable?: boolean | undefined;
}

/** Why a retype can't be expressed in this vocabulary; undefined if it can. */
export function unwritable(
  alteration: Alteration,
  vocabulary: Vocabulary,
  columns?: readonly Column[],
): string | undefined {
  const { path, type } = alteration;
  if (type === undefined) return undefined;
  const item = vocabulary === "string" ? listItem(type) : undefined;
  if (write(item?.type ?? type, vocabulary) === undefined)
    return `its service has no name for ${formatType(type)} (types: "${vocabulary}"), so ${path} can't be retyped to it`;
  const changesItemAlone = item === undefined || columns === undefined || isItemAlone(alteration, columns);
  return changesItemAlone ? undefined : notAlone(path);
}

/** Whether an alteration of a list changes only the type of its item, which has a path of its own. */
function isItemAlone({ path, type, rename, nullable }: Alteration, columns: readonly Column[]): boolean {
  return (
    findColumn(columns, parsePath(path))?.type.kind === type?.kind && rename === undefined && nullable === undefined
  );
}

const notAlone = (path: string) =>
  `its service takes types as plain strings, so the retype of ${path} must change the list's item alone`;

/** The alteration as a service with this vocabulary accepts it. `columns`: those of the table. */
export function toWire(alteration: Alteration, vocabulary: Vocabulary, columns: readonly Column[]): WireAlteration {
  const { path, rename, type, nullable } = alteration;
  if (type === undefined) return { path, rename, nullable };
  const problem = unwritable(alteration, vocabulary, columns);
  if (problem !== undefined) throw new Error(problem);
  const item = vocabulary === "string" ? listItem(type) : undefined;
  if (item === undefined) return { path, rename, data_type: write(type, vocabulary), nullable };
  // A plain string can't express what is inside a list, so the item is retyped by its own path.
  return { path: formatPath([...parsePath(path), item.name]), data_type: write(item.type, vocabulary) };
}

function listItem(type: DataType): Column | undefined {
  return type.kind === "list" || type.kind === "largeList" ? type.item : undefined;
}

function write(type: DataType, vocabulary: Vocabulary): unknown {
  if (vocabulary === "lance") return toLanceType(type);
  const arrow = arrowType(type);
  if (arrow === undefined || vocabulary === "arrow") return arrow;
  return Object.keys(arrow).length === 1 ? arrow.type : undefined;
}

interface ArrowType {
  readonly type: string;
  readonly fields?: readonly { readonly name: string; readonly type: ArrowType; readonly nullable: boolean }[];
  readonly length?: number;
}

const plainNames: Readonly<Partial<Record<DataType["kind"], string>>> = {
  largeUtf8: "large_utf8",
  largeBinary: "large_binary",
};

/** In the terms of the namespace's document; undefined if it has none: it has no units, zones or dictionaries. */
function arrowType(type: DataType): ArrowType | undefined {
  switch (type.kind) {
    case "fixedSizeBinary":
      return { type: "fixed_size_binary", length: type.length };
    case "decimal128":
      return { type: "decimal128", length: type.precision * 1000 + type.scale };
    case "timestamp":
      return type.unit === "us" && type.zone === undefined ? { type: "timestamp" } : undefined;
    case "duration":
      return type.unit === "us" ? { type: "duration" } : undefined;
    case "time32":
    case "time64":
    case "dictionary":
    case "unknown":
      return undefined;
    case "list":
    case "largeList":
      return withFields(type.kind === "list" ? "list" : "large_list", [type.item]);
    case "fixedSizeList": {
      const list = withFields("fixed_size_list", [type.item]);
      return list && { ...list, length: type.length };
    }
    case "struct":
      return withFields("struct", type.fields);
    default:
      return { type: plainNames[type.kind] ?? type.kind };
  }
}

function withFields(type: string, columns: readonly Column[]): ArrowType | undefined {
  const fields = columns.map(({ name, type, nullable }) => ({ name, type: arrowType(type), nullable }));
  const known = fields.filter((field): field is typeof field & { type: ArrowType } => field.type !== undefined);
  return known.length === fields.length ? { type, fields: known } : undefined;
}
