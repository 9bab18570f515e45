/** Renders a plan for a comment on a pull request: what a reviewer must decide comes first, details are folded. */
import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import type { DocumentAction, DocumentMigration, PlanDocument } from "../../plan/document/plan-document.ts";
import {
  groupEnds,
  isRefused,
  mayLoseData,
  summariesOf,
  verdictText,
  type MigrationSummary,
} from "../../plan/document/plan-summary.ts";
import type { Refusal } from "../../plan/refusal.ts";
import { code, fenced, prose, tableRow } from "./markdown.ts";
import { markerOf, targetLabel, type PlanAbout } from "./no-plan-markdown.ts";
import {
  costText,
  groupWords,
  numbered,
  refusalLines,
  refusedByContract,
  renderCost,
  riskText,
  rollbackText,
} from "../../cli/render/plan-words.ts";
import { releaseNames } from "../../cli/render/contracts.ts";
import { renderTime } from "../../cli/render/times.ts";

/** GitHub refuses a comment of more than 65,536 characters. */
const budgets = { refusals: 8_000, table: 20_000, steps: 28_000 };
const mostRows = 20;
/** Longer texts in a table are cut. */
const longestText = 300;

/**
 * The lines. The first is a comment with the target and the direction: a later comment that begins with the same line
 * replaces this one.
 */
export function planMarkdown(plan: PlanDocument, about: PlanAbout): readonly string[] {
  const { direction } = plan;
  const where = targetLabel(plan, about);
  const marker = markerOf(plan, about);
  const summaries = summariesOf(plan);
  const sub = `<sub>${footer(plan, about)}</sub>`;
  if (summaries.length === 0)
    return [
      marker,
      `Nothing to ${direction === "up" ? "apply to" : "roll back on"} ${code(where)}.`,
      "",
      ...alertsOf(plan, summaries).flatMap((lines) => [...lines, ""]),
      ...contractLines(plan),
      sub,
    ];
  return [
    marker,
    heading(plan, summaries, where),
    ...alertsOf(plan, summaries).flatMap((lines) => ["", ...lines]),
    "",
    ...tableOf(plan, summaries),
    "",
    totalLine(plan),
    "",
    ...contractLines(plan),
    ...stepsOf(plan, summaries),
    "",
    sub,
  ];
}

function footer({ direction }: PlanDocument, { tool, at, saved }: PlanAbout): string {
  const runs =
    saved === undefined ? "" : ` ${code(`migrate ${direction} --plan ${saved}`)} runs exactly this plan, once.`;
  return `Planned by ${tool} against the tables of ${renderTime(at)}.${runs}`;
}

function heading({ direction, verdict }: PlanDocument, summaries: readonly MigrationSummary[], where: string): string {
  const what = `${count(summaries.length, "migration")} ${direction === "up" ? "for" : "to roll back on"}`;
  return `### ${what} ${code(where)}: ${verdictText(verdict, summaries)}`;
}

/** What must be decided before this plan can run, and what is lost. */
function alertsOf(
  { blocked, accepted = [], contracts }: PlanDocument,
  summaries: readonly MigrationSummary[],
): readonly (readonly string[])[] {
  const refusals = summaries.flatMap(({ migration }) =>
    migration.actions.flatMap((action) => refusalItem(migration, action)),
  );
  const blocks = blocked === undefined ? [] : [...blocked.problems, blocked.hint].map((words) => `- ${short(words)}`);
  return [
    ...alert("CAUTION", [...refusals, ...blocks]),
    ...alert(
      "WARNING",
      accepted.map((words) => `- ${short(words)}`),
    ),
    ...alert(
      "NOTE",
      (contracts?.notes ?? []).map((words) => `- ${short(words)}`),
    ),
  ];
}

function refusalItem(migration: DocumentMigration, { text, refusal }: DocumentAction): readonly string[] {
  if (refusal === undefined) return [];
  const [why, ...sequence] = refusalLines(refusal);
  const first = `- ${nameOf(migration)}: ${short(text)}: ${short(why)}`;
  return [[first, ...sequence.map((step) => `  ${prose(step)}`)].join("\n")];
}

/** `items`: each may have several lines. */
function alert(kind: string, items: readonly string[]): readonly (readonly string[])[] {
  const shown = fitting([...new Set(items)], budgets.refusals, "- and $ more").flatMap((item) => item.split("\n"));
  return items.length === 0 ? [] : [[`[!${kind}]`, ...shown].map((line) => `> ${line}`)];
}

/** One row per migration, the most dangerous first. */
function tableOf({ direction }: PlanDocument, summaries: readonly MigrationSummary[]): readonly string[] {
  const isBack = direction === "down";
  const sorted = summaries.map((summary) => ({ summary, ...dangerOf(summary) })).toSorted((a, b) => a.rank - b.rank);
  const rows = sorted.map(({ summary, icon }) =>
    tableRow([
      `${icon}\u00a0${nameOf(summary.migration)}${progressOf(summary)}`,
      riskCell(summary),
      ...(isBack ? [] : [rollbackCell(summary)]),
      costCell(summary),
    ]),
  );
  const columns = ["migration", "risk", ...(isBack ? [] : ["rollback"]), "cost"];
  const kept = fitting(rows.slice(0, mostRows), budgets.table);
  const more = rows.length - kept.length;
  return [
    tableRow(columns),
    tableRow(columns.map(() => "---")),
    ...kept,
    ...(more === 0 ? [] : ["", `${count(more, "migration")} with less risk: see below.`]),
    ...(sorted.every(({ summary }, index) => summary === summaries[index])
      ? []
      : ["", "Sorted by risk. They run in the order in which the steps below list them."]),
  ];
}

function progressOf({ migration: { done, total }, unfinished }: MigrationSummary): string {
  if (done > 0) return ` (${done} of ${total} done)`;
  return unfinished ? " (unfinished)" : "";
}

/** By rank. They consist of one character each, because what is printed has no invisible ones. */
const dangers = ["⛔", "⏳", "🔶", "🔶", "🔶", "✅", "✅"] as const;

/** `rank`: 0 for the most dangerous migrations. */
function dangerOf(summary: MigrationSummary): { readonly rank: number; readonly icon: string } {
  const { unfinished, risks, rollback } = summary;
  const is = [
    isRefused(summary),
    unfinished,
    rollback?.class === "none",
    mayLoseData(summary),
    risks.length > 0,
    rollback?.class === "restore",
  ].indexOf(true);
  const rank = is === -1 ? dangers.length - 1 : is;
  return { rank, icon: dangers[rank]! };
}

function riskCell({ risks, refusals }: MigrationSummary): string {
  const texts = [...refusals.flatMap(brokenBy), ...risks.map(riskText)];
  return texts.length === 0 ? "none" : fitting([...new Set(texts)].map(short), 2_000, "$ more").join("<br>");
}

/** "breaks search 1.4.0": the alert above states how. */
function brokenBy(refusal: Refusal): readonly string[] {
  return refusal.reason === "contract" ? [`breaks ${releaseNames(refusal.broken)}`] : [];
}

function rollbackCell({ rollback }: MigrationSummary): string {
  if (rollback === undefined) return "–";
  const { class: is, reason = "" } = rollback;
  if (is === "written") return "its file exports `down`";
  if (is === "none") return `**none**: ${short(reason)}`;
  return is === "restore" ? "**restore** of an old version" : is;
}

function costCell({ group, cost }: MigrationSummary): string {
  if (group !== undefined) return "in a group";
  return cost === undefined ? "–" : prose(costText(cost));
}

function totalLine({ totals, contracts }: PlanDocument): string {
  if (totals === undefined) return "";
  const parts = [costText(totals), ...refusedByContract(contracts)];
  return `In total: ${prose(parts.join("; "))}.`;
}

function contractLines({ contracts }: PlanDocument): readonly string[] {
  return contracts === undefined ? [] : [`Contracts: ${short(releaseNames(contracts.releases))}.`, ""];
}

/** All steps with their calls, folded. The calls of a group are before the steps of its first migration. */
function stepsOf(plan: PlanDocument, summaries: readonly MigrationSummary[]): readonly string[] {
  const parts = summaries.flatMap(({ migration, group, rollback }) => [
    ...(group?.versions[0] === migration.version ? [groupSteps(group, plan)] : []),
    migrationSteps(migration, rollback),
  ]);
  return [
    "<details>",
    "<summary>Steps and calls</summary>",
    ...fitting(
      parts.map((lines) => lines.join("\n")),
      budgets.steps,
      "\n`migrate plan --verbose` also shows the steps of $ more.",
    ).flatMap((part) => part.split("\n")),
    "",
    "</details>",
  ];
}

function groupSteps(group: NonNullable<MigrationSummary["group"]>, plan: PlanDocument): readonly string[] {
  const names = groupEnds(group, plan).map(nameOf).join(" to ");
  return ["", `**${names}**${groupWords(group.total, group.done)}`, "", ...group.actions.flatMap(stepLines)];
}

function migrationSteps(migration: DocumentMigration, rollback: MigrationSummary["rollback"]): readonly string[] {
  return ["", `**${nameOf(migration)}**`, "", ...migration.actions.flatMap(stepLines), ...rollbackLines(rollback)];
}

function rollbackLines(rollback: MigrationSummary["rollback"]): readonly string[] {
  if (rollback === undefined || rollback.class === "none") return [];
  if (rollback.class !== "written") return [`- rollback: ${prose(rollbackText(rollback, renderCost))}`];
  return [`- rollback, as its file exports: ${prose(rollback.parts.map(({ text }) => text).join(", then "))}`];
}

function stepLines({ text, cost, calls }: Pick<DocumentAction, "text" | "cost" | "calls">): readonly string[] {
  return [`- ${prose(cost === undefined ? text : `${text} (${costText(cost)})`)}`, ...callsOf(calls)];
}

function callsOf(calls: readonly string[] = []): readonly string[] {
  return calls.length === 0 ? [] : fenced(numbered(calls)).map((line) => `  ${line}`);
}

function nameOf(migration: DocumentMigration): string {
  return code(cut(formatMigration(migration)));
}

function short(text: string): string {
  return prose(cut(text));
}

function cut(text: string): string {
  return text.length <= longestText ? text : `${text.slice(0, longestText)} …`;
}

/** The first parts, as many as fit into that many characters. `more`: a last part if some do not, with $ for their number. */
function fitting(parts: readonly string[], budget: number, more?: string): readonly string[] {
  let length = 0;
  const kept: string[] = [];
  for (const part of parts) {
    length += part.length + 1;
    if (length > budget) break;
    kept.push(part);
  }
  const rest = parts.length - kept.length;
  return more === undefined || rest === 0 ? kept : [...kept, more.replace("$", String(rest))];
}
