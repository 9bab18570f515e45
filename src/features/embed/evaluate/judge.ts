/** How good the rows are that queries have found. Pure. */
import type { PrepareColumnAction } from "../../../actions/model/action.ts";
import { FillFailed } from "../calls/fill-failed.ts";
import type { Evaluated, EvaluatedQuery } from "../../../run/events.ts";
import { evaluationWords } from "../../../cli/render/recall.ts";

/** The keys that a query has found, the nearest first. */
export interface QueryResult {
  readonly query: string;
  readonly expected: readonly string[] | undefined;
  /** Undefined if the query has no vector of the old model. */
  readonly old: readonly string[] | undefined;
  readonly new: readonly string[];
}

/** How many queries are shown: the worst ones. */
const mostShown = 3;

export function judged(found: readonly QueryResult[], k: number): Evaluated {
  const asked = found.filter((one) => one.expected !== undefined);
  const compared = found.filter((one) => one.old !== undefined);
  const known = asked.filter((one) => one.old !== undefined);
  const recall = asked.length > 0 && {
    queries: asked.length,
    new: mean(asked.map((one) => share(one.new, one.expected!, k))),
    // Only of the same queries are the two comparable.
    ...(known.length === asked.length && { old: mean(known.map((one) => share(one.old!, one.expected!, k))) }),
  };
  const overlap = compared.length > 0 && {
    queries: compared.length,
    shared: mean(compared.map((one) => share(one.new, one.old!, k))),
  };
  const shown = (asked.length > 0 ? asked : compared).toSorted((one, other) => scoreOf(one, k) - scoreOf(other, k));
  const samples: readonly EvaluatedQuery[] = shown.slice(0, mostShown);
  return { k, queries: found.length, ...(recall && { recall }), ...(overlap && { overlap }), samples };
}

function scoreOf({ expected, old, new: fresh }: QueryResult, k: number): number {
  return share(fresh, expected ?? old!, k);
}

/** How many of the wanted keys were found, of those that k can hold. */
function share(found: readonly string[], wanted: readonly string[], k: number): number {
  const most = Math.min(k, wanted.length);
  return most === 0 ? 1 : found.filter((one) => wanted.includes(one)).length / most;
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

/**
 * What `least` is compared with: the recall if a query states what it expects, or else the overlap. In a database that has
 * none of these rows, such as a new one, there is nothing to judge.
 */
export function decisive({ recall, overlap }: Evaluated, hasExpected: boolean): number {
  return hasExpected || recall === undefined ? (recall?.new ?? overlap!.shared) : 1;
}

/** The queries of the application find too little in the new values. */
export class EvaluationTooLow extends FillFailed {
  constructor({ table, path, evaluate }: PrepareColumnAction, evaluated: Evaluated) {
    super(
      `the new values of ${table}.${path} are not good enough for the queries of ${evaluate!.file}: ${evaluationWords(evaluated)}, and \`least\` is ${evaluate!.least}; use another model, correct the queries, or lower \`least\``,
    );
  }
}
