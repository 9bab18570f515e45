/** Tables whose files shallow clones of them read (`cloneTable`), so that a drop makes the clones unreadable. */
import type { Plan } from "../../plan/make-plan.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { Judge } from "./judge.ts";

/** Undefined if the plan drops no such table. Clones that it drops before do not count. */
export async function tablesWithClones(
  { migrations, now }: Plan,
  { clonesOf }: Pick<Target, "clonesOf">,
): Promise<Judge | undefined> {
  if (clonesOf === undefined) return undefined;
  const problems = new Map<string, string>();
  const dropped = new Set<string>();
  for (const { kind, table } of migrations.flatMap((one) => one.actions.map(({ action }) => action))) {
    if (kind !== "dropTable" || !now.has(table)) continue;
    const clones = (await clonesOf(table)).filter((name) => !dropped.has(name));
    dropped.add(table);
    if (clones.length > 0) problems.set(table, problemOf(table, clones));
  }
  return problems.size === 0
    ? undefined
    : ({ action: { kind, table } }) => (kind === "dropTable" ? problems.get(table) : undefined);
}

function problemOf(table: string, clones: readonly string[]): string {
  return `clones read the files of ${table}, and could not be read without it: ${clones.join(", ")}; drop them before, or copy their rows into other tables`;
}
