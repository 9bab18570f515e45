/** Reports what is wrong with the ledger and, on request, rebuilds it under the lease. Changes no other table. */
import { MigrateError } from "../../../errors/migrate-error.ts";
import { foldLedger } from "../../../ledger/state/fold.ts";
import { loadMigrations } from "../../../migrations/source.ts";
import { withStepsThatRan, checkNamesOfNow } from "../../../plan/history/renumbered.ts";
import { checkChoice } from "./chosen-position.ts";
import { auditConsistently } from "../../../run/lease/audited-ledger.ts";
import { readCurrent } from "../../../run/prepare/consistent-read.ts";
import type { Remedy } from "./remedy.ts";
import { diagnose, type Diagnosis } from "./diagnose.ts";
import { runContext, type MigratorOptions } from "../../../run/run-context.ts";
import { recording, withLease, type Ledger } from "../../../run/lease/with-lease.ts";

interface RepairChoice {
  /** Executes the remedy, instead of only reporting it. */
  readonly yes?: boolean | undefined;
  /**
   * The position of the tables in history, if several fit: `3`; `3.2` for two actions of migration 3; or `start` for
   * before the first migration.
   */
  readonly to?: string | undefined;
}

interface Repair {
  /** What was found, as text. */
  readonly sees: readonly string[];
  readonly does: Remedy["kind"];
  /** What repair would do, or has done, as text. */
  readonly words: string;
  readonly done: boolean;
  /** Why there is no remedy. */
  readonly refusal: MigrateError | undefined;
}

export async function repair(options: MigratorOptions, { yes = false, to }: RepairChoice = {}): Promise<Repair> {
  const context = runContext(options);
  const { target, migrations: source, runner } = context;
  if (to !== undefined && !target.capabilities.describes) {
    const problem = `--to needs a target that can describe its tables, and ${target.name} can't; leave it out`;
    throw new MigrateError("ERR_USAGE", { problem });
  }
  const files = source.list();
  const migrations = await loadMigrations(source, files);
  if (to !== undefined) checkChoice(to, migrations, target.capabilities);
  const examine = async ({ records }: Pick<Ledger, "records">) => {
    const state = foldLedger(records);
    checkNamesOfNow(files, state);
    return await diagnose({ ...context, files, choice: to, records, migrations: withStepsThatRan(migrations, state) });
  };

  const found = await readCurrent(
    context,
    async () => {
      const { records } = await auditConsistently(context);
      return { records, state: foldLedger(records) };
    },
    examine,
    ({ remedy }) => remedy.kind !== "nothing",
  );
  if (!yes || found.remedy.kind !== "rebuild") return resultOf(found, false);
  return await withLease(context, {
    async prepare({ records }) {
      // Leave out what taking the lease has written: a valid record, after one that may not be.
      const found = await examine({ records: records.filter(({ run }) => run !== runner.run) });
      return found.remedy.kind === "rebuild"
        ? recording(context, { ...found.remedy, result: resultOf(found, true) })
        : { first: undefined, act: async () => resultOf(found, false) };
    },
  });
}

function resultOf({ sees, remedy }: Diagnosis, done: boolean): Repair {
  return {
    sees,
    does: remedy.kind,
    words: remedy.kind === "rebuild" ? remedy.words : remedy.kind === "nothing" ? "nothing needs to be repaired" : "",
    done,
    refusal: remedy.kind === "refused" ? remedy.error : undefined,
  };
}
