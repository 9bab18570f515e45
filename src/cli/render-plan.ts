/** A plan for people. */
import { count } from "../errors.ts";
import { formatMigration } from "../migrations/file-name.ts";
import { migrationsOf, type PlanDocument } from "../plan/document.ts";
import type { Output } from "./output.ts";

type Migration = ReturnType<typeof migrationsOf>[number];
type Action = Migration["actions"][number];

export function renderPlan(plan: PlanDocument, output: Output): void {
  const migrations = migrationsOf(plan);
  if (migrations.length === 0) output.result(plan.direction === "up" ? "nothing to do" : "nothing to take back");
  for (const migration of migrations) {
    const { done, total, actions, down } = migration;
    const part = done === 0 ? "" : ` (${done} of ${count(total, "action")} done already)`;
    output.result(`${output.styled("bold", formatMigration(migration))}${part}`);
    for (const action of actions) renderAction(action, output);
    if (down !== undefined) output.result(output.styled("dim", `  back, as its file says: ${down.join(", then ")}`));
  }
}

function renderAction({ text, commits = [], risks, rollback, refusal }: Action, output: Output): void {
  output.result(`  ${text}`);
  for (const [index, commit] of commits.entries())
    output.result(output.styled("dim", `    ${index + 1} of ${count(commits.length, "commit")}: ${commit.text}`));
  for (const risk of risks) output.result(output.styled("yellow", `    ${risk.text}`));
  if (rollback !== undefined) output.result(rollbackLine(rollback, output));
  if (refusal !== undefined) output.result(output.styled("red", `    ${refusalText(refusal)}`));
}

function refusalText(refusal: NonNullable<Action["refusal"]>): string {
  return refusal.reason === "consent"
    ? `needs consent: accepts = ["${refusal.consent}"] in its file, or --accept ${refusal.consent}`
    : `forbidden on this target: a step of rollback class ${refusal.class}`;
}

function rollbackLine({ class: is, text, reason }: NonNullable<Action["rollback"]>, output: Output): string {
  if (is === "none") return output.styled("yellow", `    can't be taken back: ${reason}`);
  return output.styled("dim", `    back: ${text} (${[is, reason].filter((word) => word !== undefined).join(", ")})`);
}
