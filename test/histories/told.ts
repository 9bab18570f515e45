/** What runs tell of themselves: what is promised before, and how far they got. */
import type { Migration } from "../../src/migrations/load.ts";
import { plan } from "../../src/commands/plan.ts";
import { status } from "../../src/commands/status.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import type { Applied, UpStage } from "./stages.ts";

/** Of each migration the classes that its plan gives for rolling it back; of none where there is no plan. */
export async function promisedClasses(options: MigratorOptions): Promise<ReadonlyMap<number, Applied["classes"]>> {
  const planned = await plan(options).catch(() => undefined);
  return new Map(
    (planned?.migrations ?? []).map(({ migration, actions }) => [
      migration.version,
      new Set(actions.flatMap(({ rollback }) => rollback?.class ?? [])),
    ]),
  );
}

/** After how many of the stages the ledger says that the run ended. */
export async function recordedEnd(
  stages: readonly UpStage[],
  known: readonly Applied[],
  options: MigratorOptions,
): Promise<number> {
  const { applied, pending } = await status(options);
  const ended = stages.findLastIndex(({ version }) => applied.some((one) => one.version === version)) + 1;
  const partial = pending.find(({ version }) => version === stages[ended]?.version)?.partial;
  const before = known.find(({ migration }) => migration.version === partial?.version)?.ran.length ?? 0;
  const own = (partial?.step ?? 0) - before;
  return own > 0 ? ended + own + (before === 0 ? 1 : 0) : ended;
}

export function wordsOfMigration({ version, steps }: Migration): string {
  return `${version} ${steps.map((step) => JSON.stringify(step)).join(", ")}`;
}
