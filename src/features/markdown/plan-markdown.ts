/** Renders a plan for a comment on a pull request: what a reviewer must decide comes first, details are folded. */
import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { totalOf } from "../../plan/assess/cost.ts";
import { migrationsOf, type DocumentGroup, type PlanDocument } from "../../plan/document/plan-document.ts";
import { code, fenced, prose, tableRow } from "./markdown.ts";
import { markerOf, targetLabel, type PlanAbout } from "./no-plan-markdown.ts";
import {
  aboutBack,
  numbered,
  refusalText,
  refusedByContract,
  renderComputed,
  renderCost,
  rowsNow,
  sequenceOf,
  wayBackOf,
} from "../../cli/render/plan.ts";
import { releaseNames } from "../../cli/render/contracts.ts";
import { renderTime } from "../../cli/render/times.ts";

type Migration = ReturnType<typeof migrationsOf>[number];
type Action = Migration["actions"][number];
type Cost = NonNullable<Action["cost"]>;

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
  const migrations = migrationsOf(plan);
  const sub = `<sub>${footer(plan, about)}</sub>`;
  if (migrations.length === 0)
    return [
      marker,
      `Nothing to ${direction === "up" ? "apply to" : "roll back on"} ${code(where)}.`,
      "",
      ...alertsOf(plan).flatMap((lines) => [...lines, ""]),
      ...contractLines(plan),
      sub,
    ];
  return [
    marker,
    heading(plan, where),
    ...alertsOf(plan).flatMap((lines) => ["", ...lines]),
    "",
    ...tableOf(plan),
    "",
    totalLine(plan),
    "",
    ...contractLines(plan),
    ...stepsOf(plan),
    "",
    sub,
  ];
}

function footer({ direction }: PlanDocument, { tool, at, saved }: PlanAbout): string {
  const runs =
    saved === undefined ? "" : ` ${code(`migrate ${direction} --plan ${saved}`)} runs exactly this plan, once.`;
  return `Planned by ${tool} against the tables of ${renderTime(at)}.${runs}`;
}

function heading(plan: PlanDocument, where: string): string {
  const migrations = migrationsOf(plan);
  const of = (is: (migration: Migration) => boolean) => migrations.filter(is).length;
  const verdicts = [
    [of(isRefused), "refused"],
    [of(({ unfinished }) => unfinished === true), "unfinished"],
    [of(({ actions }) => actions.some(losesData)), "may lose data"],
    [of(({ actions }) => wayBackOf(actions)?.class === "none"), "can't be rolled back"],
  ] as const;
  const shown = verdicts.filter(([number]) => number > 0).map(([number, words]) => `${number} ${words}`);
  const what = `${count(migrations.length, "migration")} ${plan.direction === "up" ? "for" : "to roll back on"}`;
  return `### ${what} ${code(where)}${shown.length === 0 ? "" : `: ${shown.join(", ")}`}`;
}

function isRefused({ actions }: Migration): boolean {
  return actions.some(({ refusal }) => refusal !== undefined);
}

function losesData({ risks }: Action): boolean {
  return risks.some(({ kind, rows }) => kind === "loss" && rows !== 0);
}

/** What must be decided before this plan can run, and what is lost. */
function alertsOf(plan: PlanDocument): readonly (readonly string[])[] {
  const { blocked, accepted = [], contracts } = plan;
  const refusals = migrationsOf(plan).flatMap((migration) =>
    migration.actions.flatMap(({ refusal, text }) =>
      refusal === undefined
        ? []
        : [
            `- ${nameOf(migration)} is **refused**: ${short(text)}: ${short(refusalText(refusal))}`,
            ...sequenceOf(refusal).map((step) => `  ${prose(step)}`),
          ].join("\n"),
    ),
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

/** `items`: each may have several lines. */
function alert(kind: string, items: readonly string[]): readonly (readonly string[])[] {
  const shown = fitting([...new Set(items)], budgets.refusals, "- and $ more").flatMap((item) => item.split("\n"));
  return items.length === 0 ? [] : [[`[!${kind}]`, ...shown].map((line) => `> ${line}`)];
}

/** One row per migration, the most dangerous first. */
function tableOf({ groups = [], pending, reverting }: PlanDocument): readonly string[] {
  const grouped = new Set(groups.flatMap(({ versions }) => versions));
  const migrations = pending ?? reverting ?? [];
  const sorted = migrations
    .map((migration) => ({ migration, ...dangerOf(migration) }))
    .toSorted((a, b) => a.rank - b.rank);
  const rows = sorted.map(({ migration, icon }) =>
    tableRow([
      `${icon}\u00a0${nameOf(migration)}${progressOf(migration)}`,
      riskCell(migration),
      ...(pending === undefined ? [] : [rollbackCell(migration)]),
      grouped.has(migration.version) ? "in a group" : prose(costText(migration.actions)),
    ]),
  );
  const columns = ["migration", "risk", ...(pending === undefined ? [] : ["rollback"]), "cost"];
  const kept = fitting(rows.slice(0, mostRows), budgets.table);
  const more = rows.length - kept.length;
  return [
    tableRow(columns),
    tableRow(columns.map(() => "---")),
    ...kept,
    ...(more === 0 ? [] : ["", `${count(more, "migration")} with less risk: see below.`]),
    ...(sorted.every(({ migration }, index) => migration === migrations[index])
      ? []
      : ["", "Sorted by risk. They run in the order in which the steps below list them."]),
  ];
}

function progressOf({ unfinished, done, total }: Migration): string {
  if (done > 0) return ` (${done} of ${total} done)`;
  return unfinished === true ? " (unfinished)" : "";
}

/** By rank. They consist of one character each, because what is printed has no invisible ones. */
const dangers = ["⛔", "⏳", "🔶", "🔶", "🔶", "✅", "✅"] as const;

/** `rank`: 0 for the most dangerous migrations. */
function dangerOf(migration: Migration): { readonly rank: number; readonly icon: string } {
  const { actions, unfinished } = migration;
  const back = wayBackOf(actions)?.class;
  const is = [
    isRefused(migration),
    unfinished === true,
    back === "none",
    actions.some(losesData),
    actions.some(({ risks }) => risks.length > 0),
    back === "restore",
  ].indexOf(true);
  const rank = is === -1 ? dangers.length - 1 : is;
  return { rank, icon: dangers[rank]! };
}

function riskCell({ actions }: Migration): string {
  const texts = actions.flatMap(({ risks, refusal }) => [...brokenBy(refusal), ...risks.map(riskText)]);
  return texts.length === 0 ? "none" : fitting([...new Set(texts)].map(short), 2_000, "$ more").join("<br>");
}

/** "breaks search 1.4.0": the alert above states how. */
function brokenBy(refusal: Action["refusal"]): readonly string[] {
  return refusal?.reason === "contract" ? [`breaks ${releaseNames(refusal.broken)}`] : [];
}

function riskText({ text, rows }: Action["risks"][number]): string {
  return rows === undefined ? text : `${text}: ${rowsNow(rows)}`;
}

function rollbackCell({ actions, down }: Migration): string {
  if (down !== undefined) return "its file exports `down`";
  const way = wayBackOf(actions);
  if (way === undefined) return "–";
  const { class: is, reason } = way;
  if (is === "none") return `**none**: ${short(reason ?? "")}`;
  return is === "restore" ? "**restore** of an old version" : is;
}

function costText(actions: readonly Action[]): string {
  const cost = totalOf(actions.flatMap(({ cost: own = [] }) => own));
  return [renderCost(cost), ...computedIn(cost)].join("; ");
}

function computedIn({ computed }: Cost): readonly string[] {
  return computed === undefined ? [] : [renderComputed(computed)];
}

function totalLine({ totals, contracts }: PlanDocument): string {
  if (totals === undefined) return "";
  const parts = [renderCost(totals), ...computedIn(totals), ...refusedByContract(contracts)];
  return `In total: ${prose(parts.join("; "))}.`;
}

function contractLines({ contracts }: PlanDocument): readonly string[] {
  return contracts === undefined ? [] : [`Contracts: ${short(releaseNames(contracts.releases))}.`, ""];
}

/** All steps with their calls, folded. */
function stepsOf({ groups = [], ...plan }: PlanDocument): readonly string[] {
  const parts = [...groups.map(groupSteps), ...migrationsOf(plan).map(migrationSteps)].map((lines) => lines.join("\n"));
  return [
    "<details>",
    "<summary>Steps and calls</summary>",
    ...fitting(parts, budgets.steps, "\n`migrate plan --verbose` also shows the steps of $ more.").flatMap((part) =>
      part.split("\n"),
    ),
    "",
    "</details>",
  ];
}

function groupSteps({ versions, actions, total, done }: DocumentGroup): readonly string[] {
  const left = done === 0 ? "" : `, ${done} done already`;
  const title = `**${versions.map((version) => String(version).padStart(4, "0")).join(", ")}** run as a group (${count(total, "call")}${left}):`;
  return ["", title, "", ...actions.flatMap(({ text, cost, calls }) => [stepLine(text, cost), ...callsOf(calls)])];
}

function migrationSteps(migration: Migration): readonly string[] {
  const { actions, down } = migration;
  const back = wayBackOf(actions);
  return [
    "",
    `**${nameOf(migration)}**`,
    "",
    ...actions.flatMap(({ text, cost, calls }) => [stepLine(text, cost), ...callsOf(calls)]),
    ...(back === undefined || back.class === "none"
      ? []
      : [`- rollback: ${prose(`${back.text} (${aboutBack(back, renderCost)})`)}`]),
    ...(down === undefined ? [] : [`- rollback, as its file exports: ${prose(down.join(", then "))}`]),
  ];
}

function stepLine(text: string, cost: Cost | undefined): string {
  return `- ${prose(cost === undefined ? text : `${text} (${[renderCost(cost), ...computedIn(cost)].join("; ")})`)}`;
}

function callsOf(calls: readonly string[] = []): readonly string[] {
  return calls.length === 0 ? [] : fenced(numbered(calls)).map((line) => `  ${line}`);
}

function nameOf(migration: Migration): string {
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
