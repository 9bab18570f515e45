/** Tables of results: values that were computed before their column was there, each with the address of its row. */
import type { FillColumnAction } from "../../../actions/model/action.ts";
import { failedMark, rowAddress } from "../../../actions/rewrite/source-marks.ts";
import { stepHash } from "../../../migrations/checksum.ts";
import { sameType, type Column } from "../../../schema/data-type.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { sqlPath } from "../../../schema/sql.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";
import { cut, memberOf, type RowRange, type Shard } from "./shard.ts";

/** Where the row was when its value was computed. */
export const addressColumn: Column = { name: "_lance_migrate_address", type: { kind: "int64" }, nullable: true };

/** An address is the number of a fragment of the table, and behind these 32 bits that of the row in it. */
const rowsPerFragment = 2 ** 32;

export function fragmentOf(address: number): number {
  return Math.floor(address / rowsPerFragment);
}

export function addressIn(fragment: number, row: number): number {
  return fragment * rowsPerFragment + row;
}

/** A part of a table, whose rows have neighbouring addresses. Each append makes one. */
export interface Fragment {
  readonly number: number;
  /** Its rows that are not deleted, in order. */
  readonly ranges: readonly RowRange[];
}

/** The fragments of a table from one on, in order, with those of their rows that a shard computes. Reads only the addresses. */
export async function fragmentsIn(
  table: string,
  rows: Pick<RowAccess, "batches">,
  from = 0,
  shard?: Shard,
): Promise<readonly Fragment[]> {
  const isWanted = shard === undefined ? () => true : memberOf(shard);
  const found = new Map<number, [first: number, end: number][]>();
  const wanted = { select: [[rowAddress, rowAddress]], where: inRange(addressIn(from, 0), Infinity) } as const;
  for await (const batch of rows.batches(table, wanted))
    for (const row of batch) {
      const address = Number(row[rowAddress]);
      const number = fragmentOf(address);
      const at = address - addressIn(number, 0);
      let ranges = found.get(number);
      if (ranges === undefined) found.set(number, (ranges = []));
      if (!isWanted(number, at)) continue;
      const last = ranges.at(-1);
      if (last?.[1] === at) last[1]++;
      else ranges.push([at, at + 1]);
    }
  return [...found]
    .map(([number, ranges]) => ({ number, ranges: ranges.toSorted(([one], [other]) => one - other) }))
    .toSorted((one, other) => one.number - other.number);
}

/** The first of the rows of these fragments, and the others. */
export function cutFragments(
  fragments: readonly Fragment[],
  rows: number,
): readonly [taken: readonly Fragment[], left: readonly Fragment[]] {
  const taken: Fragment[] = [];
  let wanted = rows;
  for (const [at, { number, ranges }] of fragments.entries()) {
    const [some, others] = cut(ranges, wanted);
    if (some.length > 0) taken.push({ number, ranges: some });
    wanted -= some.reduce((sum, [first, end]) => sum + end - first, 0);
    if (others.length > 0) return [taken, [{ number, ranges: others }, ...fragments.slice(at + 1)]];
  }
  return [taken, []];
}

/** The address of the first of these rows, and the one behind the last. */
export function spanOf(fragments: readonly Fragment[]): readonly [first: number, end: number] {
  const [first, last] = [fragments[0]!, fragments.at(-1)!];
  return [addressIn(first.number, first.ranges[0]![0]), addressIn(last.number, last.ranges.at(-1)![1])];
}

/** An SQL predicate for these rows, by which the engine reads no others: of a range, it would read more. */
export function areIn(fragments: readonly Fragment[]): string {
  const addresses = fragments.flatMap(({ number, ranges }) =>
    ranges.flatMap(([first, end]) => Array.from({ length: end - first }, (_, at) => addressIn(number, first + at))),
  );
  return addresses.length === 0 ? "false" : `${rowAddress} in (${addresses.join(", ")})`;
}

/** An SQL predicate for the rows at these addresses. */
export function inRange(first: number, end: number): string {
  const from = `${rowAddress} >= ${first}`;
  return end === Infinity ? from : `${from} and ${rowAddress} < ${end}`;
}

export function addressOf(result: RowValues): number {
  return Number(result[addressColumn.name]);
}

/** The same in all rows: what the values were computed from, and the last fragment that there was before. */
export const originColumn: Column = { name: "_lance_migrate_origin", type: { kind: "utf8" }, nullable: true };

/** Those of a table of results. `values`: those that a staging table has. */
export function resultColumns(values: readonly Column[]): readonly Column[] {
  return [...values, addressColumn, originColumn];
}

export function resultOrigin({ version, from }: Pick<FillColumnAction, "version" | "from">, fragments: number): string {
  return `${stepHash({ version, from })} ${fragments}`;
}

/** An SQL predicate for the results of rows for which the code did not fail. */
export function hasSucceeded(mark: string): string {
  return `not starts_with(${sqlPath([mark])}, '${failedMark}')`;
}

/**
 * The last fragment that there was before these results; undefined if they are of no use: there are none, or they are of
 * other types, of other code, or from other columns. `values`: some of the columns of a staging table.
 */
export async function fragmentsBefore(
  results: string,
  values: readonly Pick<Column, "name" | "type">[],
  how: Pick<FillColumnAction, "version" | "from">,
  rows: Pick<RowAccess, "columns" | "read">,
): Promise<number | undefined> {
  const columns = (await rows.columns(results)) ?? [];
  const isThere = (wanted: Pick<Column, "name" | "type">) =>
    columns.some((one) => one.name === wanted.name && sameType(one.type, wanted.type));
  if (![...values, originColumn].every(isThere)) return undefined;
  const select = [[originColumn.name, sqlPath([originColumn.name])]] as const;
  const [first] = await rows.read(results, { select, limit: 1 });
  const origin = first?.[originColumn.name] as string | undefined;
  const fragments = Number(origin?.split(" ")[1]);
  return origin === resultOrigin(how, fragments) ? fragments : undefined;
}
