/**
 * Finds a key that a row shares with another one. The keys of a table can be too many for memory, so a table of bits
 * shows first which ones may be repeated, and only these are compared.
 */
import type { RowValue } from "../../../schema/row-values.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";

export interface Keys {
  readonly rows: Pick<RowAccess, "batches">;
  readonly table: string;
  /** An SQL predicate for the rows whose keys no other row may have; undefined for all. */
  readonly where: string | undefined;
  /** The key as SQL. */
  readonly key: string;
  /** About how many rows the table has. */
  readonly total: number;
}

/** One key in 300 is then compared for nothing. */
const bitsForRow = 16;
/** 128 MiB, twice. For 100 million rows, one key in 100 is then compared for nothing. Keys of more rows are looked at part by part. */
const mostBits = 2 ** 30;
const mostRows = 2 ** 27;

/** A key that a row has for which `where` holds, and another row as well. Rows without a key are left out. */
export async function findRepeated(keys: Keys): Promise<{ readonly key: RowValue } | undefined> {
  const parts = Math.ceil(keys.total / mostRows) || 1;
  for (let part = 0; part < parts; part++) {
    const suspects = await suspectsOf(keys, parts, part);
    const repeated = suspects.size === 0 ? suspects : await repeatedAmong(keys, suspects);
    if (repeated.size === 0) continue;
    for await (const some of keysOf(keys, keys.where)) {
      const key = some.find((one) => repeated.has(one));
      if (key !== undefined) return { key };
    }
  }
  return undefined;
}

/**
 * The hashes of keys of wanted rows that are among the bits of others. All repeated keys are among them. `where` may read a
 * large column, so it is evaluated once.
 */
async function suspectsOf(keys: Keys, parts: number, part: number): Promise<ReadonlySet<RowValue>> {
  const size = Math.min(mostBits, 2 ** Math.ceil(Math.log2(Math.max(64, (keys.total / parts) * bitsForRow))));
  const wanted = keys.where === undefined ? undefined : new Bits(size);
  const seen = new Bits(size);
  const suspects = new Set<number>();
  if (wanted !== undefined)
    for await (const some of keysOf(keys, keys.where))
      for (const key of some) {
        const [one, other] = hashesOf(key);
        if (one % parts === part) wanted.add(one, other);
      }
  for await (const some of keysOf(keys))
    for (const key of some) {
      const [one, other] = hashesOf(key);
      if (one % parts !== part || wanted?.has(one, other) === false) continue;
      if (seen.has(one, other)) suspects.add(both(one, other));
      seen.add(one, other);
    }
  return suspects;
}

class Bits {
  readonly #words: Uint32Array;
  readonly #mask: number;

  constructor(size: number) {
    this.#words = new Uint32Array(size / 32);
    this.#mask = size - 1;
  }

  has(one: number, other: number): boolean {
    return this.#at(one) && this.#at(other);
  }

  add(one: number, other: number): void {
    for (const hash of [one, other]) this.#words[(hash & this.#mask) >>> 5]! |= 1 << (hash & 31);
  }

  #at(hash: number): boolean {
    return (this.#words[(hash & this.#mask) >>> 5]! & (1 << (hash & 31))) !== 0;
  }
}

/** Those that two rows have in one version of the table. */
async function repeatedAmong(keys: Keys, suspects: ReadonlySet<RowValue>): Promise<ReadonlySet<RowValue>> {
  const seen = new Set<RowValue>();
  const repeated = new Set<RowValue>();
  for await (const some of keysOf(keys))
    for (const key of some) {
      if (!suspects.has(both(...hashesOf(key)))) continue;
      if (seen.has(key)) repeated.add(key);
      seen.add(key);
    }
  return repeated;
}

/** In batches: there may be millions. */
async function* keysOf({ rows, table, key }: Keys, where?: string): AsyncGenerator<readonly RowValue[]> {
  for await (const batch of rows.batches(table, { select: [["key", key]], where }))
    yield batch.map(({ key: own }) => own!).filter((own) => own !== null);
}

/** Two hashes of 32 bits each, as FNV-1a computes them from different beginnings, mixed at the end. */
function hashesOf(key: RowValue): [number, number] {
  const text = String(key);
  let one = 0x811c9dc5;
  let other = 0x1b873593;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x85ebca6b);
  }
  return [mixed(one), mixed(other)];
}

function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return Math.imul(once ^ (once >>> 13), 0xc2b2ae35) >>> 0;
}

/** A number that two different keys hardly ever share. It has 53 bits. */
function both(one: number, other: number): number {
  return one * 2 ** 21 + (other >>> 11);
}
