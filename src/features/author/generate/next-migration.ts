/** Checks that a migration can work after the existing ones before it is written, and derives its rollback. */
import { isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import type { Acceptance } from "../../../migrations/acceptance.ts";
import { checksumOf } from "../../../migrations/checksum.ts";
import type { MigrationFile } from "../../../migrations/list-files.ts";
import type { Migration } from "../../../migrations/load.ts";
import { checkRefusals, withRefusals } from "../../../plan/assess/guards.ts";
import { type PlannedMigration } from "../../../plan/make-plan.ts";
import { rollbackOf } from "../../../plan/rollback/rollback.ts";
import { databaseOf } from "../../../schema/table.ts";
import { stepsOfAction } from "./from-action.ts";
import type { Step } from "../../../steps/registry.ts";
import {
  checkMigrations,
  planningInput,
  type CheckedMigrations,
} from "../../shared/check-migrations/check-migrations.ts";
import { planWhatWorks, tablesBefore } from "../../shared/check-migrations/plan-what-works.ts";
import type { MigratorOptions } from "../../../run/run-context.ts";

/**
 * Checks the existing files: at the first call, and again if they have changed meanwhile, because a prompt may wait for
 * long.
 */
export function checkOnce(options: MigratorOptions): () => Promise<CheckedMigrations> {
  let last: CheckedMigrations | undefined;
  return async () => {
    const isRead =
      last !== undefined &&
      areRead(
        last,
        options.migrations.list(() => {}),
      );
    return isRead ? last! : (last = await checkMigrations(options));
  };
}

function areRead({ read }: CheckedMigrations, files: readonly MigrationFile[]): boolean {
  const isSame = ({ path, textHash }: MigrationFile, index: number) =>
    path === read[index]!.file.path && textHash === read[index]!.file.textHash;
  return files.length === read.length && files.every(isSame);
}

/** Throws the first problem of the existing files or of these steps. */
export function planNext(
  { problems, sound }: CheckedMigrations,
  options: MigratorOptions,
  file: Omit<MigrationFile, "textHash">,
  steps: readonly Step[],
): PlannedMigration {
  const migration: Migration = { ...file, textHash: "", steps, checksum: checksumOf(steps) };
  const refuse = (problem: MigrateError): never => {
    throw problem;
  };
  problems.forEach(refuse);
  return planWhatWorks([{ migration, doubts: [] }], planningInput(options), refuse, [], sound.after).migrations[0]!;
}

/**
 * Requires that the consent to be written into the file is enough for `up`. `hasDown`: whether the file will export its
 * rollback; then `up` does not classify rollbacks. Throws ERR_CONSENT.
 */
export function checkConsent(
  planned: PlannedMigration,
  { guards, target }: Pick<MigratorOptions, "guards" | "target">,
  accept: readonly Acceptance[],
  hasDown: boolean,
): void {
  const actions = planned.actions.map((one) => (hasDown ? { ...one, rollback: undefined } : one));
  const plan = { migrations: [{ ...planned, actions }], now: new Map() };
  // `up` decides on the rows of its target.
  const lost = new Map(actions.map((one) => [one, 0]));
  checkRefusals(withRefusals(plan, { accepts: guards?.accepts }, accept, lost), target.name);
}

/**
 * The steps that roll the migration back, as `down` would derive them. `isChecked`: whether `down` would look for
 * blockers before these steps; it does not do so for steps that a file exports. Throws ERR_IRREVERSIBLE.
 */
export function stepsBack(
  planned: PlannedMigration,
  { target }: MigratorOptions,
): { readonly steps: readonly Step[]; readonly isChecked: boolean } {
  const { migration, actions, total } = planned;
  const irreversible = (problem: string) =>
    new MigrateError("ERR_IRREVERSIBLE", { ...actions[0]!.place, problem, hint: "leave --down out" });
  try {
    const { actions: back, blockers } = rollbackOf(
      migration,
      total,
      databaseOf(tablesBefore(planned)),
      target.capabilities,
    );
    const steps = back.flatMap(({ action }) => {
      const own = stepsOfAction(action);
      if (own === undefined) throw irreversible(`no step does what rolls it back (${action.kind})`);
      return own;
    });
    return { steps, isChecked: blockers.length > 0 };
  } catch (error) {
    if (!isMigrateError(error, "ERR_IRREVERSIBLE")) throw error;
    throw new MigrateError("ERR_IRREVERSIBLE", { ...error.details, hint: "leave --down out" }, { cause: error });
  }
}
