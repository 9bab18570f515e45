/** Renders a plan for people. */
import { count } from "../../errors/migrate-error.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { migrationsOf, type DocumentAction, type PlanDocument } from "../../plan/document/plan-document.ts";
import { groupEnds, summariesOf, verdictText, type MigrationSummary } from "../../plan/document/plan-summary.ts";
import type { Output } from "../command/output.ts";
import { releaseNames } from "./contracts.ts";
import { newDatabaseNotes } from "./new-database.ts";
import {
  aboutBack,
  groupWords,
  numbered,
  refusalLines,
  refusedByContract,
  renderComputed,
  renderCost,
  renderWritten,
  restoreText,
  riskText,
  rollbackText,
  versionsIn,
} from "./plan-words.ts";

/** Per migration what it does, what that costs and risks, and the way back. With --verbose also each call. */
export function renderPlan(plan: PlanDocument, output: Output): void {
  const summaries = summariesOf(plan);
  if (summaries.length === 0) output.result(plan.direction === "up" ? "nothing to do" : "nothing to roll back");
  for (const summary of summaries) {
    if (summary.group?.versions[0] === summary.migration.version) renderGroup(summary.group, plan, output);
    renderMigration(summary, summary.group === undefined ? "" : "  ", output);
  }
  if (plan.stepByStep === true)
    output.result("a saved plan runs its migrations one by one; migrate up without it runs some of them as a group");
  for (const words of plan.accepted ?? []) output.result({ style: "yellow", text: words });
  if (summaries.length > 0) renderTotals(plan, output);
  renderContracts(plan, output);
  for (const note of newDatabaseNotes(plan.newDatabase)) output.progress(note);
}

/** The last line. Of nothing, the first one states it. */
export function renderVerdict(plan: PlanDocument, output: Output): void {
  const { verdict } = plan;
  if (verdict === "nothing") return;
  const style = ({ ready: "green", consent: "yellow", refused: "red" } as const)[verdict];
  output.result({ style, text: `verdict: ${verdictText(verdict, summariesOf(plan))}` });
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

/** What leads to the declared schema: no migration has these actions, and nothing is kept for a way back. */
export function renderDifference(plan: PlanDocument, output: Output): void {
  for (const action of migrationsOf(plan).flatMap(({ actions }) => actions))
    renderAction({ ...action, rollback: undefined, refusal: undefined }, "  ", output);
}

/** The calls that the group makes. Its migrations follow. */
function renderGroup(group: NonNullable<MigrationSummary["group"]>, plan: PlanDocument, output: Output): void {
  const { done, total, actions } = group;
  const names = groupEnds(group, plan).map(formatMigration).join(" to ");
  output.result([{ style: "bold", text: names }, groupWords(total, done)]);
  for (const action of actions) renderCalls(action, "  ", output);
  output.result("  instead of these actions, which have the same result:");
}

function renderMigration({ migration, group, unfinished, rollback }: MigrationSummary, indent: string, output: Output) {
  const { done, total, actions } = migration;
  const begun = unfinished && group === undefined ? " (begun, and not finished)" : "";
  const part = done === 0 ? begun : ` (${done} of ${count(total, "action")} done already)`;
  output.result([indent, { style: "bold", text: formatMigration(migration) }, part]);
  for (const action of actions) renderAction(action, `${indent}  `, output);
  renderRollback(rollback, `${indent}  `, output);
}

/** With --verbose, each action has its own instead, unless the file exports `down`. */
function renderRollback(rollback: MigrationSummary["rollback"], indent: string, output: Output): void {
  if (rollback === undefined || (output.verbose && rollback.class !== "written")) return;
  const { class: is, parts, reason } = rollback;
  if (is === "none") return output.result({ style: "yellow", text: `${indent}can't be rolled back: ${reason}` });
  const written = () => `back, as its file exports: ${parts.map(({ text }) => text).join(", then ")}`;
  const text = is === "written" ? written() : `back: ${rollbackText(rollback, renderWritten)}`;
  output.result({ style: "dim", text: `${indent}${text}` });
}

type Called = Pick<DocumentAction, "text" | "calls" | "cost" | "action">;

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

function renderAction(action: DocumentAction, indent: string, output: Output): void {
  const { undoes, risks, rollback, refusal } = action;
  const line = (style: "dim" | "yellow" | "red", text: string) => output.result({ style, text: `${indent}  ${text}` });
  renderCalls(action, indent, output);
  if (undoes !== undefined) line("yellow", `undoes: ${undoes.join("; ")}`);
  for (const risk of risks) line(isQuiet(risk) ? "dim" : "yellow", `risk: ${riskText(risk)}`);
  if (output.verbose && rollback?.class === "none") line("yellow", `can't be rolled back: ${rollback.reason}`);
  else if (output.verbose && rollback !== undefined) {
    line("dim", `back: ${actionRollbackText(rollback)}`);
    for (const call of numbered(rollback.calls ?? [])) line("dim", `  ${call}`);
  }
  for (const text of refusal === undefined ? [] : refusalLines(refusal)) line("red", text);
}

/** Whether it concerns no row now. Of a deferred index, the rows are those that are there, and none is too few. */
function isQuiet({ kind, rows }: DocumentAction["risks"][number]): boolean {
  return rows === 0 && kind !== "deferral";
}

function actionRollbackText({ class: is, text, reason, cost }: NonNullable<DocumentAction["rollback"]>): string {
  if (is !== "restore") return `${text} (${aboutBack({ class: is, reason, cost }, renderCost)})`;
  return `${restoreText(text, reason)} (${aboutBack({ class: is, reason: undefined, cost }, renderCost)})`;
}
