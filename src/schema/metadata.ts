/** The known metadata of columns. */
import { childColumns, formatType, withChildColumns, type Column } from "./data-type.ts";
import { formatPath } from "./path.ts";
import { withoutExtension } from "./reserved-metadata.ts";
import { columnsWithin } from "./table.ts";

/** The keys that are present. */
export function withoutNulls(metadata: Readonly<Record<string, string | null>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(metadata).filter((entry): entry is [string, string] => entry[1] !== null));
}

/** The metadata of every column that has some, at any depth, with its path. */
export function knownMetadata(
  columns: readonly Column[],
): readonly (readonly [path: string, metadata: Readonly<Record<string, string>>])[] {
  return columnsWithin(columns)
    .map(({ path, column }) => [formatPath(path), withoutNulls(column.metadata)] as const)
    .filter(([, metadata]) => Object.keys(metadata).length > 0);
}

export function withoutMetadata({ name, type, nullable, computed }: Column): Column {
  const children = childColumns(type).map(withoutMetadata);
  return { name, type: withChildColumns(type, children), nullable, ...(computed !== undefined && { computed }) };
}

/**
 * `column` with the metadata of the column that it replaces. Columns inside are matched by name. An extension is one of a
 * type: under its name, others could not read values of another type.
 */
export function withMetadataOf(was: Column, column: Column): Column {
  const inside = childColumns(was.type);
  const children = childColumns(column.type).map((child) => {
    const other = inside.find(({ name }) => name === child.name);
    return other === undefined ? child : withMetadataOf(other, child);
  });
  const isSame = formatType(was.type) === formatType(column.type);
  const metadata = isSame ? was.metadata : was.metadata && withoutExtension(was.metadata);
  return { ...column, type: withChildColumns(column.type, children), ...(metadata && { metadata }) };
}
