/** Takes the calls of one module or command from the budget of the run. */
import type { Computation } from "../../../actions/model/computation.ts";
import { firstLine } from "../../../errors/migrate-error.ts";
import type { Budget } from "../../../run/calls/budget.ts";

/** A call that may be made. */
export interface PaidCall {
  /** `report`: returns what the call has cost, or undefined if the code does not report it. */
  succeeded(report: () => unknown): void;
  failed(error: unknown): void;
}

/** Why a call may not be made: a limit, or that its cost is unknown. */
export interface Refused {
  readonly limit?: string;
  readonly problem?: string;
}

const way = "state pricePer1000Rows in the step, or let the code report what a call costs";

export const unknownCost = `the cost of a call is unknown, so --max-cost can't be applied; ${way}`;

export class Spending {
  readonly #budget: Budget;
  /** What a row costs: as the step states, or at most by what the code has reported. */
  #perRow: number | undefined;
  #hasReported = false;
  #problem: string | undefined;
  /** Ends when the first call has ended, if only that shows what a call costs. */
  #first: PromiseWithResolvers<void> | undefined;

  constructor(budget: Budget, { pricePer1000Rows: price }: Pick<Computation, "pricePer1000Rows">) {
    this.#budget = budget;
    this.#perRow = price === undefined ? undefined : price / 1_000;
  }

  /** Waits for the first call if it must show what the next one costs. */
  async begin(rows: number): Promise<PaidCall | Refused> {
    if (this.#budget.limitsCost) while (this.#isUnknown && this.#first !== undefined) await this.#first.promise;
    if (this.#problem !== undefined) return { problem: this.#problem };
    const expected = this.#perRow === undefined ? undefined : this.#perRow * rows;
    const limit = this.#budget.take(expected);
    if (limit !== undefined) return { limit };
    const first = (this.#first = expected === undefined ? Promise.withResolvers<void>() : undefined);
    return {
      succeeded: (report) => {
        if (this.#budget.limitsCost) this.#budget.correct(expected, this.#costOf(report, rows) ?? expected ?? 0);
        first?.resolve();
      },
      failed: (error) => {
        // A service that refuses a call does not charge for it. Of any other failure, that is unknown.
        if (hasStatus(error)) this.#budget.correct(expected, 0);
        if (this.#first === first) this.#first = undefined;
        first?.resolve();
      },
    };
  }

  get #isUnknown(): boolean {
    return this.#perRow === undefined && this.#problem === undefined;
  }

  #costOf(report: () => unknown, rows: number): number | undefined {
    const cost = reported(report);
    if (typeof cost === "number" && Number.isFinite(cost) && cost >= 0) {
      const perRow = cost / rows;
      this.#perRow = this.#hasReported ? Math.max(this.#perRow!, perRow) : perRow;
      this.#hasReported = true;
      return cost;
    }
    if (cost !== undefined) this.#problem ??= `it reports a cost that is no number from 0: ${String(cost)}`;
    else if (this.#perRow === undefined) this.#problem ??= unknownCost;
    return undefined;
  }
}

function reported(report: () => unknown): unknown {
  try {
    return report();
  } catch (error) {
    return firstLine(error);
  }
}

function hasStatus(error: unknown): boolean {
  const { status, statusCode = status } = (error ?? {}) as { readonly status?: unknown; readonly statusCode?: unknown };
  return typeof statusCode === "number";
}
