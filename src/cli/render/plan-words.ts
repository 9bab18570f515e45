/** The words that a plan has in every format. Pure. */
import { byteCount, count } from "../../errors/migrate-error.ts";
import type { costShape } from "../../plan/assess/cost.ts";
import type { DocumentAction, PlanDocument } from "../../plan/document/plan-document.ts";
import type { RollbackPart, WholeRollback } from "../../plan/document/plan-summary.ts";
import type { Refusal } from "../../plan/refusal.ts";
import { withoutKnownSecrets } from "../../secrets/redact.ts";
import type { Printed } from "../json/shared.ts";
import { renderDuration } from "./times.ts";

type ShownCost = Printed<typeof costShape>;

/** What follows the names of the first and the last migration of a group. */
export function groupWords(calls: number, done = 0): string {
  return `, as a group: ${count(calls, "call")}${done === 0 ? "" : ` (${done} done already)`}`;
}

export function riskText({ text, rows }: Pick<DocumentAction["risks"][number], "text" | "rows">): string {
  if (rows === undefined) return text;
  return `${text}: ${rows === 0 ? "no row now" : `${count(rows, "row")} now`}`;
}

/** Why `up` refuses to run an action, and what does the same without a refusal, if that is known: numbered lines. */
export function refusalLines(refusal: Refusal): readonly [string, ...string[]] {
  const text = refusalText(refusal);
  if (refusal.reason !== "contract" || refusal.sequence.length === 0) return [text];
  return [`${text}; instead:`, ...refusal.sequence.map((step, index) => `${index + 1}. ${step}`)];
}

/** Why `up` refuses to run an action. */
export function refusalText(refusal: Refusal): string {
  switch (refusal.reason) {
    case "consent":
      return `needs consent: migrate up --accept ${refusal.consent}, or accepts = ["${refusal.consent}"] in its file`;
    case "forbidden":
      return `forbidden on this target: a step of rollback class ${refusal.class}`;
    case "failure":
      return `would fail: ${refusal.problem}`;
    case "contract":
      return `breaks ${refusal.broken.map(({ application, release, problem }) => `${application} ${release}, which ${problem}`).join("; ")}`;
    case "rewrite": {
      const { bytes, limit } = refusal;
      const is = bytes === null ? "its size is unknown" : `up to this step it is about ${byteCount(bytes)}`;
      return `forbidden on this target: a migration that rewrites more than ${byteCount(limit)}; ${is}`;
    }
  }
}

/** Why `up` or `down` would not run the plan, although its costs are stated. */
export function refusedByContract(contracts: PlanDocument["contracts"]): readonly string[] {
  return contracts === undefined || contracts.refused === 0 ? [] : [`${contracts.refused} refused by a contract`];
}

/** How a whole migration is rolled back, in the order in which that is done. */
export function rollbackText({ parts, ...about }: WholeRollback, costText: (cost: ShownCost) => string): string {
  return `${partsText(parts)} (${aboutBack(about, costText)})`;
}

/** The most parts of a rollback that are named, unless more of them restore an old version. */
const mostParts = 3;

/** Those that restore an old version are always named, because they undo other changes too. */
function partsText(parts: readonly RollbackPart[]): string {
  const others = parts.filter(({ restores }) => !restores);
  const named = Math.max(1, mostParts - (parts.length - others.length));
  // A single one takes hardly more room by its name than as "1 more".
  const hidden = new Set(others.length <= named + 1 ? [] : others.slice(named));
  const words: string[] = [];
  let gap = 0;
  for (const part of parts) {
    if (hidden.has(part)) {
      gap++;
      continue;
    }
    words.push(...gapWords(gap), part.text);
    gap = 0;
  }
  return [...words, ...gapWords(gap)].join(", then ");
}

function gapWords(gap: number): readonly string[] {
  return gap === 0 ? [] : [`${gap} more`];
}

/** Nobody may take the reason why an old version must be restored for what the rollback does. */
export function restoreText(text: string, because: string | undefined): string {
  return because === undefined ? text : `${text}, because in this migration ${because}`;
}

export function aboutBack(
  { class: is, reason, cost }: Pick<WholeRollback, "class" | "reason" | "cost">,
  costText: (cost: ShownCost) => string,
): string {
  return [is, reason, cost && costText(cost)].filter((words) => words !== undefined).join(", ");
}

/** Longer calls are cut. The document of --json has them complete. */
const longestCall = 200;

/** Several calls get numbers, because each is a commit of its own. */
export function numbered(calls: readonly string[]): readonly string[] {
  return calls.length < 2 ? calls.map(cut) : calls.map((call, at) => `${at + 1} of ${calls.length}: ${cut(call)}`);
}

function cut(call: string): string {
  // Before it is cut: afterwards a secret would no longer be recognised.
  const safe = withoutKnownSecrets(call);
  return safe.length <= longestCall ? safe : `${safe.slice(0, longestCall)} …`;
}

const unknownRows = "an unknown number of rows";

/** What it writes, how many versions that makes, and what code computes. */
export function costText(cost: ShownCost): string {
  const { computed } = cost;
  return [renderCost(cost), ...(computed === undefined ? [] : [renderComputed(computed)])].join("; ");
}

/** What is written, and how many versions that makes. */
export function renderCost(cost: ShownCost): string {
  return [renderWritten(cost), ...versionsIn(cost)].join(", ");
}

export function versionsIn({ versions }: ShownCost): readonly string[] {
  return versions === 0 ? [] : [count(versions, "version")];
}

export function renderWritten({ rows, bytes, added, indexes }: ShownCost): string {
  const of = (number: number | null) => (number === null ? unknownRows : count(number, "row"));
  const rewritten = bytes === null ? "" : `about ${byteCount(bytes)} in `;
  const size = bytes === null && rows !== null ? " of unknown size" : "";
  const written = [
    ...(rows === 0 ? [] : [`rewrites ${rewritten}${of(rows)}${size}`]),
    ...(added === 0 ? [] : [`writes ${of(added)}`]),
    ...indexes.map((index) => `builds index ${index}`),
  ];
  return written.length === 0 ? "metadata only" : written.join(", ");
}

/** What code computes. `stated`: the action, with the price and the limit; a total has none. */
export function renderComputed(
  { rows, calls, price, seconds }: NonNullable<ShownCost["computed"]>,
  { pricePer1000Rows: per1000, callsPerMinute: limit }: Readonly<Record<string, unknown>> = {},
): string {
  const at = typeof per1000 === "number" ? ` at ${String(per1000)} per 1,000 rows` : "";
  const per = typeof limit === "number" ? ` at ${count(limit, "call")} per minute` : "";
  return [
    `code computes ${rows === null ? unknownRows : `${count(rows, "row")} in ${count(calls!, "call")}`}`,
    ...(price === undefined ? [] : [`${price === null ? "cost unknown" : `about ${priceText(price)}`}${at}`]),
    ...(seconds === undefined ? [] : [`${seconds === null ? "time unknown" : atLeast(seconds)}${per}`]),
  ].join(", ");
}

function atLeast(seconds: number): string {
  return `at least ${renderDuration(seconds * 1_000)}`;
}

/** In the currency of the stated price. */
function priceText(price: number): string {
  const digits = price > 0 && price < 0.1 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 };
  return price.toLocaleString("en-US", { minimumFractionDigits: 2, ...digits });
}
