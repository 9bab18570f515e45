/** What taking back what a run has applied would be, told while people still know what they did. Pure. */
import type { MigrationName } from "../../migrations/file-name.ts";
import { nothing, totalOf, type Cost } from "./cost.ts";
import type { PlannedAction, PlannedMigration } from "../make-plan.ts";

export interface Recovery {
  /** The migration that is the last one then; undefined where there is none. */
  readonly to: MigrationName | undefined;
  readonly actions: number;
  /** How many of them write values anew, and in how many rows all in all; null where nobody can tell. */
  readonly rewrites: number | null;
  readonly rows: number | null;
  /** The last one of this run that can't be taken back. */
  readonly stays: MigrationName | undefined;
}

/** What an action costs, and what it costs to take it back, where other actions do. */
export type Costs = ReadonlyMap<
  PlannedAction,
  { readonly cost: Cost; readonly back: { readonly cost: Cost } | undefined }
>;

/**
 * `before`: the last migration before the run. Undefined where a migration had begun before the run: what was done of it then
 * is not among its actions.
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

/** A version that is restored brings back all that its migration did to the table. */
function costsBack({ actions, writtenDown }: PlannedMigration, costs: Costs): readonly Cost[] {
  if (writtenDown !== undefined) return writtenDown.map(() => nothing);
  const restored = new Set(actions.flatMap(({ rollback }) => rollback?.restores ?? []));
  const others = actions.filter(({ rollback }) => rollback !== undefined && rollback.class !== "restore");
  return [
    ...[...restored].map(() => ({ ...nothing, versions: 1 })),
    ...others.flatMap((one) => costs.get(one)?.back?.cost ?? []),
  ];
}
