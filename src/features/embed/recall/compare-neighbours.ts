/** How many of the nearest rows of a row are the same by its old vector and by its new one. */
import { preparedName } from "../../../actions/rewrite/prepared-columns.ts";
import type { PrepareColumnAction } from "../../../actions/model/action.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { formatPath, parsePath } from "../../../schema/path.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { distanceOf, isVectorIndex } from "../../../schema/table-index.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import type { Target } from "../../../targets/contract/target.ts";

export interface SharedNeighbours {
  /** How many neighbours of each row were compared. */
  readonly k: number;
  readonly sampled: number;
  /** How many of them were the same, on average. */
  readonly shared: number;
}

const k = 10;
const sample = 50;
/** Each search compares all vectors of both columns: of more rows, that is too much for information. */
const mostRows = 10_000;

/** Undefined if one of the columns has no vectors, or if there are too many. */
export async function compareNeighbours(
  { table, path, type, key }: PrepareColumnAction,
  { rows, countRows }: Pick<Target, "countRows"> & { readonly rows: RowAccess },
): Promise<SharedNeighbours | undefined> {
  if (((await countRows?.(table)) ?? 0) > mostRows) return undefined;
  const old = parsePath(path)[0]!;
  const column = (await rows.columns(table))?.find(({ name }) => name === old);
  if (type.kind !== "fixedSizeList" || column?.type.kind !== "fixedSizeList") return undefined;
  const names = [old, preparedName(old)] as const;
  const search = searchIn(await distancesIn(table, names, rows), { table, key }, rows);
  const select = [["key", sqlPath([key])], ...names.map((name) => [name, sqlPath([name])] as const)] as const;
  const vectors = names.map((name) => `${sqlPath([name])} is not null`).join(" and ");
  const keys = await rows.read(table, { select: [select[0], hashOf(key)], where: vectors });
  const hashes = keys.map((row) => row["hash"] as string).toSorted();
  const last = hashes[Math.min(sample, hashes.length) - 1];
  if (last === undefined) return undefined;
  let shared = 0;
  const sampled = await rows.read(table, { select, where: `(${vectors}) and ${hashOf(key)[1]} <= '${last}'` });
  for (const row of sampled) {
    const [before, after] = await Promise.all(names.map(async (name) => await search(name, row)));
    shared += before!.filter((one) => after!.includes(one)).length;
  }
  return { k, sampled: sampled.length, shared: shared / sampled.length };
}

/** By it, the sample is drawn from all parts of the table, and is the same each time. */
function hashOf(key: string): readonly [name: string, sql: string] {
  return ["hash", `arrow_cast(md5(cast(${sqlPath([key])} as string)), 'Utf8')`];
}

/** The distance of the index on each column. */
export async function distancesIn(
  table: string,
  names: readonly string[],
  rows: RowAccess,
): Promise<ReadonlyMap<string, string>> {
  const indexes = Object.values(await rows.indexes(table)).filter((index) => isVectorIndex(index));
  return new Map(
    names.map((name) => [name, distanceOf(indexes.find((one) => parsePath(one.path)[0] === name) ?? { options: {} })]),
  );
}

interface Near {
  readonly table: string;
  readonly key: string;
  /** The name of the column of vectors. */
  readonly column: string;
  readonly distance: string;
  /** Whether to compare with every vector. Otherwise the search uses an index if there is one, as those of applications do. */
  readonly exact?: boolean;
  readonly limit: number;
}

/** The keys of the rows that are nearest to a vector, the nearest first. */
export async function keysNear(
  { table, key, column, exact = false, ...wanted }: Near,
  vector: readonly number[],
  rows: RowAccess,
): Promise<readonly string[]> {
  const select = [["key", sqlPath([key])]] as const;
  const found = await rows.nearest(table, {
    ...wanted,
    select,
    exact,
    column: formatPath([column]),
    vectors: [[...vector]],
  });
  return found.map((one) => String(one["key"]));
}

/** Finds the keys of the rows that are nearest to a row, without its own. */
function searchIn(
  distances: ReadonlyMap<string, string>,
  { table, key }: Pick<PrepareColumnAction, "table" | "key">,
  rows: RowAccess,
) {
  return async (name: string, row: RowValues): Promise<readonly string[]> => {
    const wanted = { table, key, column: name, distance: distances.get(name)!, exact: true, limit: k + 1 };
    const keys = await keysNear(wanted, row[name] as readonly number[], rows);
    return keys.filter((one) => one !== String(row["key"])).slice(0, k);
  };
}
