/** Renders a plan for people. */
import { byteCount, count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { totalOf, type costShape } from "../../plan/assess/cost.ts";
import { migrationsOf, type DocumentGroup, type PlanDocument } from "../../plan/document/plan-document.ts";
import type { Refusal } from "../../plan/refusal.ts";
import type { Output } from "../command/output.ts";
import type { Printed } from "../json/shared.ts";
import { releaseNames } from "./contracts.ts";
import { newDatabaseNotes } from "./new-database.ts";
import { renderDuration } from "./times.ts";
import { withoutKnownSecrets } from "../../secrets/redact.ts";

type Migration = ReturnType<typeof migrationsOf>[number];
type Action = Migration["actions"][number];
type Cost = Printed<typeof costShape>;
type Rollback = NonNullable<Action["rollback"]>;

/** Longer calls are cut. The document of --json has them complete. */
const longestCall = 200;

/** Per migration what it does, what that costs and risks, and the way back. With --verbose also each call. */
export function renderPlan(plan: PlanDocument, output: Output): void {
  const migrations = migrationsOf(plan);
  if (migrations.length === 0) output.result(plan.direction === "up" ? "nothing to do" : "nothing to roll back");
  const groups = new Map(plan.groups?.flatMap((group) => group.versions.map((version) => [version, group] as const)));
  for (const migration of migrations) {
    const group = groups.get(migration.version);
    if (group?.versions[0] === migration.version) renderGroup(group, migrations, output);
    renderMigration(migration, group === undefined ? "" : "  ", output);
  }
  if (plan.stepByStep === true)
    output.result("a saved plan runs its migrations one by one; migrate up without it runs some of them as a group");
  for (const words of plan.accepted ?? []) output.result({ style: "yellow", text: words });
  if (migrations.length > 0) renderTotals(plan, output);
  renderContracts(plan, output);
  for (const note of newDatabaseNotes(plan.newDatabase)) output.progress(note);
}

function renderTotals({ totals, contracts }: PlanDocument, output: Output): void {
  if (totals === undefined) return;
  const { migrations, actions, ...cost } = totals;
  const about = [renderCost(cost), ...refusedByContract(contracts)].join("; ");
  output.result(`${count(migrations, "migration")}, ${count(actions, "action")}: ${about}`);
  if (actions > 1 && cost.computed !== undefined) output.result(renderComputed(cost.computed));
}

function renderContracts({ contracts }: PlanDocument, output: Output): void {
  if (contracts === undefined) return;
  output.result(`contracts: ${releaseNames(contracts.releases)}`);
  for (const words of contracts.notes) output.progress(`note: ${words}`);
}

/** Why `up` or `down` would not run the plan, although its costs are stated. */
export function refusedByContract(contracts: PlanDocument["contracts"]): readonly string[] {
  return contracts === undefined || contracts.refused === 0 ? [] : [`${contracts.refused} refused by a contract`];
}

/** What leads to the declared schema: no migration has these actions, and nothing is kept for a way back. */
export function renderDifference(plan: PlanDocument, output: Output): void {
  for (const action of migrationsOf(plan).flatMap(({ actions }) => actions))
    renderAction({ ...action, rollback: undefined, refusal: undefined }, "  ", output);
}

/** The calls that the group makes. Its migrations follow. */
function renderGroup(
  { versions, done, total, actions }: DocumentGroup,
  all: readonly Migration[],
  output: Output,
): void {
  const ends = [versions[0], versions.at(-1)].map((version) => all.find((one) => one.version === version)!);
  const part = done === 0 ? "" : ` (${done} done already)`;
  output.result([
    { style: "bold", text: ends.map(formatMigration).join(" to ") },
    `, as a group: ${count(total, "call")}${part}`,
  ]);
  for (const action of actions) renderCalls(action, "  ", output);
  output.result("  instead of these actions, which have the same result:");
}

function renderMigration(migration: Migration, indent: string, output: Output): void {
  const { done, total, actions, down, unfinished } = migration;
  const begun = unfinished === true && indent === "" ? " (begun, and not finished)" : "";
  const part = done === 0 ? begun : ` (${done} of ${count(total, "action")} done already)`;
  output.result([indent, { style: "bold", text: formatMigration(migration) }, part]);
  for (const action of actions) renderAction(action, `${indent}  `, output);
  if (!output.verbose) renderWayBack(actions, `${indent}  `, output);
  if (down !== undefined)
    output.result({ style: "dim", text: `${indent}  back, as its file exports: ${down.join(", then ")}` });
}

type Called = Pick<Action, "text" | "calls" | "cost" | "action">;

function renderCalls({ text, calls = [], cost, action }: Called, indent: string, output: Output): void {
  const written = cost && (isCatchUp(action) ? "rewrites only rows that others write meanwhile" : renderWritten(cost));
  const about = cost === undefined ? "" : ` (${[written, ...(output.verbose ? versionsIn(cost) : [])].join(", ")})`;
  output.result([`${indent}${text}`, { style: "dim", text: about }]);
  if (cost?.computed !== undefined) output.result(`${indent}  ${renderComputed(cost.computed, action)}`);
  if (output.verbose) for (const call of numbered(calls)) output.result({ style: "dim", text: `${indent}  ${call}` });
}

/** Which rows it rewrites is unknown before. As long as nobody writes, there are none. */
function isCatchUp(action: Called["action"]): boolean {
  return action["kind"] === "catchUpColumn";
}

function renderAction(action: Action, indent: string, output: Output): void {
  const { risks, rollback, refusal } = action;
  const line = (style: "dim" | "yellow" | "red", text: string) => output.result({ style, text: `${indent}  ${text}` });
  renderCalls(action, indent, output);
  for (const { text: risk, rows } of risks)
    line("yellow", `risk: ${risk}${rows === undefined ? "" : `: ${rowsNow(rows)}`}`);
  if (output.verbose && rollback?.class === "none") line("yellow", `can't be rolled back: ${rollback.reason}`);
  else if (output.verbose && rollback !== undefined) {
    const isRestored = rollback.class === "restore";
    const text = isRestored ? rollbackText(rollback) : rollback.text;
    const about = aboutBack(isRestored ? { ...rollback, reason: undefined } : rollback, renderCost);
    line("dim", `back: ${text} (${about})`);
    for (const call of numbered(rollback.calls ?? [])) line("dim", `  ${call}`);
  }
  if (refusal === undefined) return;
  const sequence = sequenceOf(refusal);
  line("red", `${refusalText(refusal)}${sequence.length === 0 ? "" : "; instead:"}`);
  for (const text of sequence) line("red", text);
}

/**
 * How something is rolled back. If an old version must be restored, with the reason: nobody may take that for what the
 * rollback does.
 */
export function rollbackText(rollback: {
  readonly class: Rollback["class"] | "written";
  readonly text: string;
  readonly reason?: string | undefined;
}): string {
  const { class: is, text, reason } = rollback;
  if (is === "restore" && reason !== undefined) return `${text}, because in this migration ${reason}`;
  return [text, reason].filter((words) => words !== undefined && words !== "").join("; ");
}

/** The most parts of a way back that are named, unless more of them restore an old version. */
const mostParts = 3;
const classes = ["exact", "checked", "restore", "none"] as const;

/** How the whole migration is rolled back, in the order in which that is done. */
function renderWayBack(actions: readonly Action[], indent: string, output: Output): void {
  const way = wayBackOf(actions);
  if (way?.class === "none") output.result({ style: "yellow", text: `${indent}can't be rolled back: ${way.reason}` });
  else if (way !== undefined)
    output.result({ style: "dim", text: `${indent}back: ${way.text} (${aboutBack(way, renderWritten)})` });
}

/** The rollback of a whole migration: its class is the weakest of all actions. Undefined if they have none. */
export function wayBackOf(
  actions: readonly Action[],
): Pick<Rollback, "class" | "text" | "reason" | "cost"> | undefined {
  const all = actions.flatMap(({ rollback = [] }) => rollback).toReversed();
  const impossible = all.filter((one) => one.class === "none").map(({ reason }) => reason);
  if (impossible.length > 0) return { class: "none", text: "", reason: distinct(impossible).join("; ") };
  // What goes with a table needs no action of its own.
  const own = all.filter((one) => one.actions.length > 0 || one.class === "restore");
  const parts = own.length > 0 ? own : all.slice(0, 1);
  if (parts.length === 0) return undefined;
  const reasons = parts.flatMap((one) => {
    // Why an old version must be restored is a risk of the step.
    if (one.class === "restore") return ["refused if rows were written since"];
    return one.class === "checked" ? (one.reason ?? []) : [];
  });
  return {
    class: classes.findLast((one) => parts.some((part) => part.class === one))!,
    text: partsText(parts),
    reason: distinct(reasons).join("; ") || undefined,
    cost: totalOf(parts.flatMap(({ cost = [] }) => cost)),
  };
}

/** The parts in their order. Those that restore an old version are always named, because they undo other changes too. */
function partsText(parts: readonly Rollback[]): string {
  const texts = distinct(parts.map(({ text }) => text));
  const restores = new Set(parts.filter((one) => one.class === "restore").map(({ text }) => text));
  const others = texts.filter((text) => !restores.has(text));
  const named = Math.max(1, mostParts - restores.size);
  // A single one takes hardly more room by its name than as "1 more".
  const hidden = new Set(others.length <= named + 1 ? [] : others.slice(named));
  const words: string[] = [];
  let gap = 0;
  for (const text of texts) {
    if (hidden.has(text)) {
      gap++;
      continue;
    }
    words.push(...gapWords(gap), text);
    gap = 0;
  }
  return [...words, ...gapWords(gap)].join(", then ");
}

function gapWords(gap: number): readonly string[] {
  return gap === 0 ? [] : [`${gap} more`];
}

function distinct<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Set(values)];
}

export function aboutBack(
  { class: is, reason, cost }: Pick<Rollback, "class" | "reason" | "cost">,
  costText: (cost: Cost) => string,
): string {
  return [is, reason, cost && costText(cost)].filter((words) => words !== undefined).join(", ");
}

/** Several calls get numbers, because each is a commit of its own. */
export function numbered(calls: readonly string[]): readonly string[] {
  return calls.length < 2 ? calls.map(cut) : calls.map((call, at) => `${at + 1} of ${calls.length}: ${cut(call)}`);
}

function cut(call: string): string {
  // Before it is cut: afterwards a secret would no longer be recognised.
  const safe = withoutKnownSecrets(call);
  return safe.length <= longestCall ? safe : `${safe.slice(0, longestCall)} …`;
}

export function rowsNow(rows: number): string {
  return rows === 0 ? "no row now" : `${count(rows, "row")} now`;
}

const unknownRows = "an unknown number of rows";

/** What is written, and how many versions that makes. */
export function renderCost(cost: Cost): string {
  return [renderWritten(cost), ...versionsIn(cost)].join(", ");
}

function versionsIn({ versions }: Cost): readonly string[] {
  return versions === 0 ? [] : [count(versions, "version")];
}

export function renderWritten({ rows, bytes, added, indexes }: Cost): string {
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
  { rows, calls, price, seconds }: NonNullable<Cost["computed"]>,
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

/** What does the same without a refusal, if that is known: numbered lines. */
export function sequenceOf(refusal: Refusal): readonly string[] {
  return refusal.reason === "contract" ? refusal.sequence.map((text, index) => `${index + 1}. ${text}`) : [];
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
