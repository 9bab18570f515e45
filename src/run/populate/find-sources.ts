/**
 * Compares a populated table with its sources: which of them lack rows, and which rows are outdated. Reads keys and marks
 * alone, in order and each once; of a large table in parts, so that the marks of one are in memory at a time.
 */
import type { PopulateTableAction } from "../../actions/model/action.ts";
import { isMarkOf, sourceMarkSql } from "../../actions/rewrite/populating.ts";
import { rowAddress } from "../../actions/rewrite/source-marks.ts";
import type { Column } from "../../schema/data-type.ts";
import type { RowValue } from "../../schema/row-values.ts";
import { sqlPath, sqlText } from "../../schema/sql.ts";
import type { RowAccess } from "../../targets/contract/row-access.ts";
import { FillFailed } from "../calls/fill-failed.ts";
import { keysIn, mostKeys, repeated } from "../compute/found-rows.ts";
import { inShard, type Shard } from "../compute/shard.ts";

/** Rows of the populated table that have the same source and the same mark. */
interface SameRows {
  readonly mark: string | null;
  rows: number;
}

/** A source, and those of its rows that it is not to have. */
export interface FoundSource {
  readonly key: RowValue;
  /** Its mark now if it lacks rows; undefined if it has them, or is gone. */
  readonly lacks: string | undefined;
  /** Where it is stored, if the table has addresses. */
  readonly address: number | undefined;
  readonly outdated: readonly (string | null)[];
}

export interface FindContext {
  readonly action: PopulateTableAction;
  readonly rows: RowAccess;
  /** Whether the rows of the source table have addresses. */
  readonly hasAddresses: boolean;
  /** Whether the populated table has no rows yet that were computed. */
  readonly isEmpty: boolean;
  /** How many rows the source table has, if that is known. */
  readonly sources: number | undefined;
}

/** For how many sources the marks are in memory. */
const mostKnown = 200_000;

const whole: Shard = { index: 1, of: 1 };

/** The sources that lack rows, or have rows that they are not to have, and those of former rows. */
export async function* findSources(context: FindContext, most = mostKnown): AsyncGenerator<FoundSource> {
  if (context.isEmpty) return yield* sourcesIn(whole, context, new Map(), undefined);
  const of = Math.max(1, Math.ceil((context.sources ?? 0) / most));
  for (let index = 1; index <= of; index++) yield* findIn({ index, of }, context, most);
}

async function* findIn(part: Shard, context: FindContext, most: number): AsyncGenerator<FoundSource> {
  const known = await rowsIn(part, context, most);
  if (known !== undefined) return yield* sourcesIn(part, context, known, new Set());
  const { index, of } = part;
  yield* findIn({ index: 2 * index - 1, of: 2 * of }, context, most);
  yield* findIn({ index: 2 * index, of: 2 * of }, context, most);
}

/** The rows of the populated table by their source; undefined if they are of too many. */
async function rowsIn(
  part: Shard,
  { action: { table, source, mark }, rows }: FindContext,
  most: number,
): Promise<Map<string, SameRows[]> | undefined> {
  const known = new Map<string, SameRows[]>();
  const select = [
    ["source", sqlPath([source])],
    ["mark", sqlPath([mark])],
  ] as const;
  for await (const batch of rows.batches(table, {
    select,
    where: inPart(part, source, `${sqlPath([source])} is not null`),
  })) {
    for (const row of batch) {
      const key = String(row["source"]);
      const own = known.get(key);
      const same = own?.find((one) => one.mark === row["mark"]);
      if (same !== undefined) same.rows++;
      else if (own === undefined) known.set(key, [{ mark: row["mark"] as string | null, rows: 1 }]);
      else own.push({ mark: row["mark"] as string | null, rows: 1 });
    }
    if (known.size > most) return undefined;
  }
  return known;
}

/** `seen`: gets the keys of the part, if they are compared. */
async function* sourcesIn(
  part: Shard,
  { action, rows, hasAddresses }: FindContext,
  known: Map<string, SameRows[]>,
  seen: Set<string> | undefined,
): AsyncGenerator<FoundSource> {
  const { from, key, where } = action;
  const select = [
    ["key", sqlPath([key])],
    ["now", sourceMarkSql(action)],
    ...(hasAddresses ? [[rowAddress, rowAddress] as const] : []),
  ] as const;
  for await (const batch of rows.batches(from, { select, where: inPart(part, key, where) }))
    for (const row of batch) {
      const own = row["key"] ?? null;
      if (own === null) throw new FillFailed(`${from}.${key} is null in a row, so it can't identify rows`);
      const text = String(own);
      if (seen?.has(text) === true) throw new FillFailed(repeated(from, key, own));
      seen?.add(text);
      const there = known.get(text) ?? [];
      known.delete(text);
      const now = row["now"] as string;
      // Of rows that were appended twice, those of one append stay.
      const right = there.find((one) => one.mark !== null && isMarkOf(one.mark, now, one.rows));
      const outdated = there.filter((one) => one !== right).map(({ mark }) => mark);
      if (right !== undefined && outdated.length === 0) continue;
      const address = hasAddresses ? Number(row[rowAddress]) : undefined;
      yield { key: own, lacks: right === undefined ? now : undefined, address, outdated };
    }
  for (const [gone, there] of known)
    yield { key: gone, lacks: undefined, address: undefined, outdated: there.map(({ mark }) => mark) };
}

function inPart(part: Shard, key: string, where: string | undefined): string | undefined {
  const own = part.of === 1 ? undefined : inShard(part, key);
  return where === undefined || own === undefined ? (where ?? own) : `(${where}) and ${own}`;
}

/** SQL predicates for the outdated rows of these sources, for some of them each. */
export function outdatedRows(
  sources: readonly Pick<FoundSource, "key" | "outdated">[],
  { source, mark }: Pick<PopulateTableAction, "source" | "mark">,
  type: Column["type"],
): readonly string[] {
  // A mark belongs to one source. Rows without one are found by their source.
  const marks = sources.flatMap(({ outdated }) => outdated.filter((one) => one !== null));
  const bare = sources.filter(({ outdated }) => outdated.includes(null));
  const column = { name: source, type, nullable: true };
  return [
    ...pagesOf(marks).map(
      (some) => `${sqlPath([source])} is not null and ${sqlPath([mark])} in (${some.map(sqlText).join(", ")})`,
    ),
    ...pagesOf(bare).map((some) => {
      const keys = keysIn(
        some.map(({ key }) => ({ [source]: key })),
        column,
      );
      return `${keys} and ${sqlPath([mark])} is null`;
    }),
  ];
}

export function pagesOf<Item>(items: readonly Item[], size = mostKeys): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, page) =>
    items.slice(page * size, (page + 1) * size),
  );
}
