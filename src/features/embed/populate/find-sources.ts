/**
 * Compares a populated table with its sources: which of them lack rows, and which rows are outdated. Reads keys and marks
 * alone, in order and each once; of a large table in parts, so that the marks of one are in memory at a time.
 */
import type { PopulateTableAction } from "../../../actions/model/action.ts";
import { isMarkOf, sourceMarkSql } from "./populated-marks.ts";
import { rowAddress } from "../../../actions/rewrite/source-marks.ts";
import { isInteger, type Column } from "../../../schema/data-type.ts";
import type { RowValue, RowValues } from "../../../schema/row-values.ts";
import { sqlPath, sqlText } from "../../../schema/sql.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import { inShard } from "../compute/shard.ts";
import { FillFailed } from "../calls/fill-failed.ts";
import { keysIn, mostKeys, repeated } from "../compute/found-rows.ts";

/** Rows of the populated table that have the same source and the same mark. */
export interface SameRows {
  readonly mark: string | null;
  rows: number;
  /** The addresses of the first and the last of them; NaN if the table has none. */
  first: number;
  last: number;
}

/** A source, and those of its rows that it is not to have. */
export interface FoundSource {
  readonly key: RowValue;
  /** Its mark now if it lacks rows; undefined if it has them, or is gone. */
  readonly lacks: string | undefined;
  /** Where it is stored, if the table has addresses. */
  readonly address: number | undefined;
  readonly outdated: readonly SameRows[];
}

export interface FindContext {
  readonly action: PopulateTableAction;
  readonly rows: RowAccess;
  /** Whether the rows of both tables have addresses. */
  readonly hasAddresses: boolean;
  /** Whether the populated table has no rows yet that were computed. */
  readonly isEmpty: boolean;
  /** Whether parts are blocks of whole numbers; otherwise they are by hashes of the keys. */
  readonly byBlocks: boolean;
  /** How many rows the source table has, if that is known. */
  readonly sources: number | undefined;
}

/** For how many sources the marks are in memory. */
const mostKnown = 200_000;

/** One of `of` parts of the sources, from 0. */
interface Part {
  readonly index: number;
  readonly of: number;
}

const whole: Part = { index: 0, of: 1 };

/** The sources that lack rows, or have rows that they are not to have, and those of former rows. */
export async function* findSources(context: FindContext, most = mostKnown): AsyncGenerator<FoundSource> {
  if (context.isEmpty) return yield* sourcesIn(whole, context, new Map(), undefined);
  const of = Math.max(1, Math.ceil((context.sources ?? 0) / most));
  for (let index = 0; index < of; index++) yield* findIn({ index, of }, context, most);
}

async function* findIn(part: Part, context: FindContext, most: number): AsyncGenerator<FoundSource> {
  const known = await rowsIn(part, context, most);
  if (known !== undefined) return yield* sourcesIn(part, context, known, new Set());
  const { index, of } = part;
  const halves = context.byBlocks ? [index, index + of] : [2 * index, 2 * index + 1];
  for (const half of halves) yield* findIn({ index: half, of: 2 * of }, context, most);
}

/** The rows of the populated table by their source; undefined if they are of too many. */
async function rowsIn(
  part: Part,
  { action: { table, source, mark }, rows, hasAddresses, byBlocks }: FindContext,
  most: number,
): Promise<Map<string, SameRows[]> | undefined> {
  const known = new Map<string, SameRows[]>();
  const select = [["source", sqlPath([source])], ["mark", sqlPath([mark])], ...addressed(hasAddresses)] as const;
  for await (const batch of rows.batches(table, {
    select,
    where: inPart(part, source, byBlocks, `${sqlPath([source])} is not null`),
  })) {
    for (const row of batch) {
      const key = String(row["source"]);
      const [marked, address] = [row["mark"] as string | null, addressOf(row)];
      const own = known.get(key);
      const same = own?.find(({ mark: one }) => one === marked);
      const alone = { mark: marked, rows: 1, first: address, last: address };
      if (same !== undefined) extend(same, address);
      else if (own === undefined) known.set(key, [alone]);
      else own.push(alone);
    }
    if (known.size > most) return undefined;
  }
  return known;
}

/** `seen`: gets the keys of the part, if they are compared. */
async function* sourcesIn(
  part: Part,
  { action, rows, hasAddresses, byBlocks }: FindContext,
  known: Map<string, SameRows[]>,
  seen: Set<string> | undefined,
): AsyncGenerator<FoundSource> {
  const { from, key, where } = action;
  const select = [["key", sqlPath([key])], ["now", sourceMarkSql(action)], ...addressed(hasAddresses)] as const;
  for await (const batch of rows.batches(from, { select, where: inPart(part, key, byBlocks, where) }))
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
      const outdated = there.filter((one) => one !== right);
      if (right !== undefined && outdated.length === 0) continue;
      const address = hasAddresses ? addressOf(row) : undefined;
      yield { key: own, lacks: right === undefined ? now : undefined, address, outdated };
    }
  for (const [gone, there] of known) yield { key: gone, lacks: undefined, address: undefined, outdated: there };
}

function addressed(hasAddresses: boolean): readonly (readonly [string, string])[] {
  return hasAddresses ? [[rowAddress, rowAddress]] : [];
}

/** NaN if it was not read. */
function addressOf(row: RowValues): number {
  return Number(row[rowAddress]);
}

function extend(same: SameRows, address: number): void {
  same.rows++;
  same.first = Math.min(same.first, address);
  same.last = Math.max(same.last, address);
}

/** Whether the keys are whole numbers of which both tables have the same blocks. */
export function canBeBlocks(...keys: readonly Column[]): boolean {
  return keys.every(({ type }) => isInteger(type) && type.kind !== "uint64");
}

/** How many whole numbers that follow each other are in one part: their rows are mostly stored one after the other too. */
const block = 10_000;

/** A predicate for the rows of a part, the same in both tables: `key` is the column of the keys. */
function inPart({ index, of }: Part, key: string, byBlocks: boolean, where?: string): string | undefined {
  const blocks = `abs(${sqlPath([key])} / ${block}) % ${of} = ${index}`;
  const own = of === 1 ? undefined : byBlocks ? blocks : inShard({ index: index + 1, of }, key);
  return where === undefined || own === undefined ? (where ?? own) : `(${where}) and ${own}`;
}

/** In how many ranges of addresses the rows of a predicate may be: more would nest too deeply for the engine's parser. */
const mostRanges = 100;

/**
 * SQL predicates for the outdated rows of these sources, for some of them each. Their addresses, if they are in few ranges:
 * the engine then reads no column, and compares each row with few values.
 */
export function outdatedRows(
  sources: readonly Pick<FoundSource, "key" | "outdated">[],
  action: Pick<PopulateTableAction, "source" | "mark">,
  type: Column["type"],
): readonly string[] {
  const all = sources.flatMap(({ outdated }) => outdated);
  const ranges = rangesOf(all);
  if (ranges !== undefined && ranges.length * mostKeys <= all.length * mostRanges) {
    const within = ([first, last]: Range) => `(${rowAddress} >= ${first} and ${rowAddress} <= ${last})`;
    return pagesOf(ranges, mostRanges).map((some) => some.map(within).join(" or "));
  }
  return outdatedByMark(sources, action, type);
}

type Range = readonly [first: number, last: number];

/** The ranges of addresses in which there are no other rows; undefined if there are such rows, or no addresses. */
function rangesOf(all: readonly SameRows[]): readonly Range[] | undefined {
  const ranges: [first: number, last: number][] = [];
  for (const { first, last, rows } of all.toSorted((one, other) => one.first - other.first)) {
    // Others may have deleted some between them.
    if (last - first + 1 !== rows) return undefined;
    const range = ranges.at(-1);
    if (range?.[1] === first - 1) range[1] = last;
    else ranges.push([first, last]);
  }
  return ranges;
}

function outdatedByMark(
  sources: readonly Pick<FoundSource, "key" | "outdated">[],
  { source, mark }: Pick<PopulateTableAction, "source" | "mark">,
  type: Column["type"],
): readonly string[] {
  // A mark belongs to one source. Rows without one are found by their source.
  const marks = sources.flatMap(({ outdated }) => outdated.flatMap((one) => one.mark ?? []));
  const bare = sources.filter(({ outdated }) => outdated.some((one) => one.mark === null));
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
