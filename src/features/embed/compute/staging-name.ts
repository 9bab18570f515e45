import { stepHash } from "../../../migrations/checksum.ts";
import type { Shard } from "./shard.ts";

/** A column for which code of the project computes values. */
interface StagedColumn {
  readonly table: string;
  readonly path: string;
}

/** The table in which values are collected until they are merged. Markers of a ledger have no such names. */
export function stagingName(ledger: string, { table, path }: StagedColumn, shard?: Shard): string {
  return withShard(`${ledger}.computed-${stepHash({ table, path })}`, shard);
}

/** The first table in which values of a column are collected that is not there yet. */
export function resultsName(ledger: string, column: StagedColumn, shard?: Shard): string {
  return withShard(`${ledger}${resultsPart(column)}`, shard);
}

export interface Parts {
  /** The tables that are there, in order. */
  readonly parts: readonly string[];
  /** The name of one that follows them, from 0 on. */
  readonly nameOf: (next: number) => string;
}

const partNumber = /\.(\d+)(?=$|-\d+-of-\d+$)/;

/** The tables that follow this first one, and hold more of the same results. */
export function partsOf(tables: readonly string[], first: string): Parts {
  const parts = tables.filter((table) => table.replace(partNumber, "") === first).toSorted(byPart);
  const last = parts.at(-1);
  const end = last === undefined ? 0 : partOf(last) + 1;
  const named = (part: number) => first.replace(/(-\d+-of-\d+)?$/, (shard) => `.${part}${shard}`);
  return { parts, nameOf: (next) => (end + next === 0 ? first : named(end + next)) };
}

/**
 * Those of these tables that are such tables of this column, of whichever shard and ledger, in order. They are dropped
 * from the last to the first: a run that finds some of them relies on those before.
 */
export function resultsOf(tables: readonly string[], column: StagedColumn): readonly string[] {
  return tables.filter((table) => table.includes(resultsPart(column))).toSorted(byPart);
}

/** Compares the numbers of parts. */
export function byPart(one: string, other: string): number {
  return partOf(one) - partOf(other);
}

function partOf(table: string): number {
  return Number(partNumber.exec(table)?.[1] ?? 0);
}

function resultsPart({ table, path }: StagedColumn): string {
  return `.results-${stepHash({ table, path })}`;
}

/** Those of these tables that hold values of this column, whichever shard has computed them. */
export function stagingsOf(tables: readonly string[], ledger: string, action: StagedColumn): readonly string[] {
  const name = stagingName(ledger, action);
  return tables.filter((table) => table === name || table.startsWith(`${name}-`));
}

/** The ledger of the lease under which a column is prepared, or one shard of it. */
export function preparingName(ledger: string, { table, path }: StagedColumn, shard?: Shard): string {
  return withShard(`${ledger}.preparing-${stepHash({ table, path })}`, shard);
}

/** Those of these tables that are such ledgers of this column. */
export function preparingsOf(tables: readonly string[], ledger: string, column: StagedColumn): readonly string[] {
  const name = preparingName(ledger, column);
  return tables.filter((table) => table === name || table.startsWith(`${name}-`));
}

function withShard(name: string, shard: Shard | undefined): string {
  return shard === undefined ? name : `${name}-${shard.index}-of-${shard.of}`;
}

/** Whether these tables are those of two shards of as many. */
export function areSiblings(one: string, other: string): boolean {
  return isOfShard(one) && ofHowMany(one) === ofHowMany(other);
}

/** Whether a table is that of a shard. */
export function isOfShard(name: string): boolean {
  return ofHowMany(name) !== undefined;
}

function ofHowMany(name: string): string | undefined {
  return /-of-\d+$/.exec(name)?.[0];
}

/** Whether a table is the ledger of a lease under which a column is prepared. */
export function isPreparing(name: string, ledger: string): boolean {
  return name.startsWith(`${ledger}.preparing-`);
}
