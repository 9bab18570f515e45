/** The values that code has computed for equal sources, so that it computes them once. */
import { hash } from "node:crypto";
import type { RowValue, RowValues } from "../../../schema/row-values.ts";

/** How much memory the values may take. Those that were not used for longest are dropped first. */
const usualBytes = 32 * 2 ** 20;
/** What a value takes besides its content. */
const besides = 256;

interface KnownValue {
  readonly value: RowValue;
  readonly bytes: number;
  /** Whether rows have the value, so that its memory can't be used for another one. */
  readonly isUsed?: boolean;
}

export class KnownValues {
  readonly #from: readonly string[];
  readonly #mark: string | undefined;
  readonly #mostBytes: number;
  /** In the order in which they were last used. */
  readonly #values = new Map<string, KnownValue>();
  /** One iterator for all drops: a new one would pass everything that was dropped before. */
  readonly #oldest = this.#values.keys();
  #bytes = 0;

  /** `from`: the columns that the code reads. `mark`: one that is equal if they are, and only then, if there is one. */
  constructor(from: readonly string[], mark?: string, mostBytes = usualBytes) {
    this.#from = from;
    this.#mark = mark;
    this.#mostBytes = mostBytes;
  }

  /** The rows with equal sources together, each with its value if that is known. In order of the first row of each. */
  grouped(rows: readonly RowValues[]): readonly RepeatedRows[] {
    const found = new Map<
      string,
      { rows: RowValues[]; readonly value: RowValue | undefined; readonly sources: string }
    >();
    for (const row of rows) {
      const sources = this.#sourcesOf(row);
      const group = found.get(sources);
      if (group === undefined) found.set(sources, { rows: [row], value: this.#use(sources), sources });
      else group.rows.push(row);
    }
    return [...found.values()];
  }

  add({ sources }: RepeatedRows, value: RowValue): void {
    const bytes = bytesOf(value) + besides;
    if (bytes > this.#mostBytes) return;
    this.#drop(sources);
    this.#bytes += bytes;
    let dropped: KnownValue | undefined;
    while (this.#bytes > this.#mostBytes) dropped = this.#drop(this.#oldest.next().value!);
    this.#values.set(sources, { value: ownValue(value, dropped), bytes });
  }

  #use(sources: string): RowValue | undefined {
    const known = this.#values.get(sources);
    if (known === undefined) return undefined;
    this.#values.delete(sources);
    this.#values.set(sources, { ...known, isUsed: true });
    return known.value;
  }

  #drop(sources: string): KnownValue | undefined {
    const known = this.#values.get(sources);
    this.#bytes -= known?.bytes ?? 0;
    this.#values.delete(sources);
    return known;
  }

  #sourcesOf(row: RowValues): string {
    if (this.#mark !== undefined) return row[this.#mark] as string;
    const values = this.#from.map((name) => row[name] ?? null);
    return hash("sha256", JSON.stringify(values, distinct), "base64url");
  }
}

/** Rows with equal sources. */
export interface RepeatedRows {
  readonly rows: readonly RowValues[];
  /** Undefined if it must be computed. */
  readonly value: RowValue | undefined;
  /** The same for all of them, and for no others. */
  readonly sources: string;
}

/**
 * Code may return a part of a buffer that holds the values of a whole call, so vectors are copied: if possible into the
 * memory of a value that was dropped. There may be millions, which would keep the garbage collector busy.
 */
function ownValue(value: RowValue, dropped: KnownValue | undefined): RowValue {
  if (!ArrayBuffer.isView(value)) return value;
  const vector = value as unknown as Float32Array;
  const free = (dropped?.isUsed === true ? undefined : dropped?.value) as unknown as Float32Array | undefined;
  if (free?.constructor !== vector.constructor || free.length !== vector.length)
    // A Buffer has a `slice` of its own, which copies nothing.
    return Uint8Array.prototype.slice.call(vector) as unknown as RowValue;
  free.set(vector);
  return free as unknown as RowValue;
}

/** JSON has neither infinite numbers nor a negative zero, and no large integers. */
function distinct(_key: string, value: unknown): unknown {
  const isOdd = typeof value === "number" && (!Number.isFinite(value) || Object.is(value, -0));
  if (isOdd || typeof value === "bigint") return { number: Object.is(value, -0) ? "-0" : String(value) };
  return value;
}

function bytesOf(value: unknown): number {
  if (typeof value === "string") return 2 * value.length;
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== "object" || value === null) return 8;
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return items.reduce((sum: number, item) => sum + bytesOf(item), 8);
}
