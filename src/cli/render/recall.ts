/** Renders what searches have found. Pure. */
import { count, formatNumber } from "../../errors/migrate-error.ts";
import type { Evaluated, EvaluatedQuery, MeasuredRecall } from "../../run/events.ts";

/** A share between 0 and 1. Never rounded up, so that no value looks like the one that it misses. */
export function formatRecall(recall: number): string {
  return String(Math.floor(recall * 1_000) / 1_000);
}

export function describeRecall(k: number, { recall, sampled, ...median }: MeasuredRecall): string {
  if (recall === undefined) return "no vectors to measure its recall with";
  const times = `${median.indexMilliseconds!.toFixed(1)} ms with the index, ${median.exactMilliseconds!.toFixed(1)} ms without`;
  return `recall@${k} ${formatRecall(recall)} with ${count(sampled, "vector")}; ${times}`;
}

export function evaluationWords({ k, recall, overlap }: Evaluated): string {
  const before = recall?.old === undefined ? "" : `, ${formatRecall(recall.old)} with the old values`;
  const words = recall && `recall@${k} ${formatRecall(recall.new)} for ${queryCount(recall.queries)}${before}`;
  const same =
    overlap &&
    `${formatRecall(overlap.shared)} of the ${k} nearest rows of ${queryCount(overlap.queries)} are the same as with the old values`;
  return [words, same].filter((one) => one !== undefined).join("; ");
}

function queryCount(queries: number): string {
  return queries === 1 ? "1 query" : `${formatNumber(queries)} queries`;
}

/** What a query has found, in one line. */
export function sampleWords({ query, expected, old, new: fresh }: EvaluatedQuery): string {
  const parts = [
    ...(expected === undefined ? [] : [`expected ${some(expected)}`]),
    ...(old === undefined ? [] : [`old ${some(old)}`]),
    `new ${some(fresh)}`,
  ];
  const short = query.length > mostText ? `${query.slice(0, mostText)}…` : query;
  return `${JSON.stringify(short)}: ${parts.join("; ")}`;
}

const mostText = 60;
const mostKeys = 5;

function some(keys: readonly string[]): string {
  if (keys.length === 0) return "none";
  return `${keys.slice(0, mostKeys).join(", ")}${keys.length > mostKeys ? ", …" : ""}`;
}
