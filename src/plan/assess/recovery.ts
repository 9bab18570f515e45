/** What rolling back a run would take, which `up` reports at its end. Pure. */
import type { MigrationName } from "../../migrations/file-name.ts";
import { nothing, totalOf, type Cost } from "./cost.ts";
import type { PlannedAction, PlannedMigration } from "../make-plan.ts";

export interface Recovery {
  /** The last applied migration after the rollback; undefined if there is none. */
  readonly to: MigrationName | undefined;
  readonly actions: number;
  /** How many of these actions rewrite values, and in how many rows in total; null if unknown. */
  readonly rewrites: number | null;
  readonly rows: number | null;
  /** The last migration of the run that cannot be rolled back. */
  readonly stays: MigrationName | undefined;
}

/** The cost of each action, and of its rollback if it has one of its own. */
export type Costs = ReadonlyMap<
  PlannedAction,
  { readonly cost: Cost; readonly back: { readonly cost: Cost } | undefined }
>;

/**
 * `before`: the last migration before the run. Undefined if a migration had begun before the run, because its actions
 * do not include what was done of it then.
 */
export function recoveryOf(
  migrations: readonly PlannedMigration[],
  before: MigrationName | undefined,
  costs: Costs,
): Recovery | undefined {
  if (migrations.some(({ done, midway, doubtful }) => done > 0 || midway !== undefined || doubtful)) return undefined;
  const final = migrations.findLastIndex(isFinal);
  const reversible = migrations.slice(final + 1);
  const back = reversible.flatMap((one) => costsBack(one, costs));
  const stays = migrations[final] && nameOf(migrations[final]);
  const { rows } = totalOf(back);
  const isKnown = reversible.every(({ migration }) => migration.down === undefined);
  return {
    to: stays ?? before,
    actions: back.length,
    rewrites: isKnown ? back.filter((cost) => cost.rows !== 0).length : null,
    rows: isKnown ? rows : null,
    stays,
  };
}

function nameOf({ migration: { version, name } }: PlannedMigration): MigrationName {
  return { version, name };
}

function isFinal({ actions }: PlannedMigration): boolean {
  return actions.some(({ rollback }) => rollback?.class === "none");
}

/** Restoring one version of a table undoes all that the migration did to it. */
function costsBack({ actions, writtenDown }: PlannedMigration, costs: Costs): readonly Cost[] {
  if (writtenDown !== undefined) return writtenDown.map(() => nothing);
  const restored = new Set(actions.flatMap(({ rollback }) => rollback?.restores ?? []));
  const others = actions.filter(({ rollback }) => rollback !== undefined && rollback.class !== "restore");
  return [
    ...[...restored].map(() => ({ ...nothing, versions: 1 })),
    ...others.flatMap((one) => costs.get(one)?.back?.cost ?? []),
  ];
}
