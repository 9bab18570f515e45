/** Types and alterations as `alter_columns` accepts them, in each vocabulary that services use (docs/rest.md). */
import type { Alteration } from "../../../actions/model/alteration.ts";
import { childColumns, formatType, type Column, type DataType } from "../../../schema/data-type.ts";
import { withoutMetadata } from "../../../schema/metadata.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import { findColumn } from "../../../schema/table.ts";
import { toLanceType, typeNamed, type LanceType } from "../../../wire/lance/lance-type.ts";

export type Vocabulary = "lance" | "arrow" | "string";

interface WireAlteration {
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

function write(type: DataType, vocabulary: Vocabulary): LanceType | string | undefined {
  if (vocabulary === "lance") return toLanceType(type);
  if (!hasArrowName(type)) return undefined;
  const arrow = typeNamed(withoutMetadata({ name: "", type, nullable: true }).type, arrowName);
  if (vocabulary === "arrow") return arrow;
  return Object.keys(arrow).length === 1 ? arrow.type : undefined;
}

/** The namespace's document has no units, zones or dictionaries. */
function hasArrowName(type: DataType): boolean {
  const vague = ["time32", "time64", "dictionary", "unknown"].includes(type.kind);
  const isOther = (type.kind === "timestamp" && type.zone !== undefined) || ("unit" in type && type.unit !== "us");
  // A negative scale has no place in a length of thousands.
  const isShifted = type.kind === "decimal128" && type.scale < 0;
  return !vague && !isOther && !isShifted && childColumns(type).every((child) => hasArrowName(child.type));
}

function arrowName(type: DataType): LanceType {
  if (type.kind === "decimal128") return { type: "decimal128", length: type.precision * 1000 + type.scale };
  return { type: { largeUtf8: "large_utf8", largeBinary: "large_binary" }[type.kind as string] ?? type.kind };
}
