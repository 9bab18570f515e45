/** How far earlier runs got that have computed the rows of a table in the order of their addresses, a page at a time. */
import { mostPageRows } from "./found-rows.ts";
import { fragmentOf } from "./results.ts";

/**
 * How many results are remembered: all of a page that a killed run has computed in part are among the last ones, unless
 * applications have since moved as many rows.
 */
const remembered = 2 * mostPageRows;

export class Reached {
  /** The addresses of the last rows that were computed, by their fragments. All rows of fragments before are computed. */
  readonly #rows = new Map<number, Set<number>>();
  #size = 0;
  #complete = -1;
  #most = 2 * remembered;

  add(address: number): void {
    const fragment = fragmentOf(address);
    if (fragment <= this.#complete) return;
    const rows = this.#rows.get(fragment) ?? new Set();
    this.#rows.set(fragment, rows);
    this.#size += rows.has(address) ? 0 : 1;
    rows.add(address);
    // Only now and then, as it sorts.
    if (this.#size < this.#most) return;
    this.#forget();
    this.#most = this.#size + remembered;
  }

  has(address: number): boolean {
    return this.#rows.get(fragmentOf(address))?.has(address) === true;
  }

  /** How many rows are known to be computed in the fragments that may have others. */
  get size(): number {
    return this.#size;
  }

  /** The first fragment of which rows may not be computed. */
  get next(): number {
    this.#forget();
    return this.#complete + 1;
  }

  /** All rows up to those of this fragment are computed. */
  complete(fragment: number): void {
    this.#rows.clear();
    this.#size = 0;
    this.#complete = fragment;
  }

  #forget(): void {
    for (const fragment of [...this.#rows.keys()].toSorted((one, other) => one - other)) {
      const { size } = this.#rows.get(fragment)!;
      if (this.#size - size < remembered) return;
      this.#rows.delete(fragment);
      this.#size -= size;
      this.#complete = fragment;
    }
  }
}
