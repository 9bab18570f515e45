/** Reads the indexes of a table. The engine's client lists only indexes of kinds that it has a name for. */
import type { FoundIndex } from "../schema/table-index.ts";
import { formatPath } from "../schema/path.ts";
import { columnPaths } from "../schema/table.ts";
import { nativeTable, readColumns, type AnyTable } from "./engine.ts";
import { indexesInManifest, type IndexEntry } from "./manifest/index-section.ts";

/** The indexes by name. `folder` is that of the database, if it is in one. */
export async function readIndexes(
  table: AnyTable,
  folder: string | undefined,
): Promise<Readonly<Record<string, FoundIndex>>> {
  // Lazy: a run with nothing pending reads no index.
  const { toIndex, unknownIndex } = await import("../wire/lance/lance-index.ts");
  const listed = (await table.listIndices()).flatMap(({ name, indexType, columns, indexDetails }) => {
    const index = toIndex(indexType, columns[0], indexDetails);
    return index === undefined ? [] : [[name, index] as const];
  });
  const others = await unlistedIndexes(table, new Set(listed.map(([name]) => name)), folder);
  return Object.fromEntries([...listed, ...others.map(({ name, kind, path }) => [name, unknownIndex(kind, path)])]);
}

/** Indexes that the client does not list. In an object store, only those with their default name are found. */
export async function unlistedIndexes(
  table: AnyTable,
  listed: ReadonlySet<string>,
  folder: string | undefined,
): Promise<readonly IndexEntry[]> {
  const place = folder === undefined ? undefined : { folder, table: table.name, version: await table.version() };
  const all = (place && indexesInManifest(place)) ?? (await askedFor(table));
  return all.filter(({ name }) => !listed.has(name));
}

/** The client gives statistics even for an index that it does not list, if asked by name. */
async function askedFor(table: AnyTable): Promise<readonly IndexEntry[]> {
  const found: IndexEntry[] = [];
  for (const path of columnPaths(await readColumns(table))) {
    const name = `${path.join(".")}_idx`;
    if ((await nativeTable(table).indexStats(name)) !== null)
      found.push({ name, path: formatPath(path), kind: undefined });
  }
  return found;
}
