/** What a run may spend on calls of code of the project, and what it has spent. Pure. */
import { count } from "../../errors/migrate-error.ts";

export interface Limits {
  /** How many calls may begin, repeated ones included. */
  readonly maxCalls?: number | undefined;
  /** What all calls together may cost, in the unit of the prices that steps state. */
  readonly maxCost?: number | undefined;
}

/** For sums of fractions: what is larger by less is the same. */
const rounding = 1e-9;

/** Shared by all that computes values in a run. */
export class Budget {
  readonly #limits: Limits;
  #calls = 0;
  /** Of calls under way, what they are expected to cost. */
  #cost = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get limitsCost(): boolean {
    return this.#limits.maxCost !== undefined;
  }

  /** Takes a call. Returns the limit that it would exceed, or undefined if it may begin. `cost`: undefined if unknown. */
  take(cost: number | undefined): string | undefined {
    const { maxCalls = Infinity, maxCost = Infinity } = this.#limits;
    if (this.#calls >= maxCalls) return `${count(maxCalls, "call")} (--max-calls)`;
    const isSpent = cost === undefined ? this.#cost >= maxCost : this.#cost + cost > maxCost * (1 + rounding);
    if (isSpent) return `a cost of ${maxCost} (--max-cost), of which ${Number(this.#cost.toPrecision(6))} is spent`;
    this.#calls++;
    this.#cost += cost ?? 0;
    return undefined;
  }

  /** A call has cost something else than was expected when it was taken. */
  correct(expected: number | undefined, cost: number): void {
    this.#cost += cost - (expected ?? 0);
  }
}
