/** Writes drift as the steps of a next migration, which adopts it. Changes nothing. */
import { MigrateError } from "../../../errors/migrate-error.ts";
import { formatMigration } from "../../../migrations/file-name.ts";
import { loadMigrations } from "../../../migrations/source.ts";
import { adopt, tablesAfterSteps, undeclarable, type Adoption } from "./adopt-tables.ts";
import { diffCapabilities } from "../generate/diff-tables.ts";
import type { DiffAnswer } from "../generate/diff-columns.ts";
import { inOrderOf } from "../generate/order-steps.ts";
import { replayHistory } from "../../../plan/history/replay.ts";
import { describeDifference, differencesOf, type TableDifference } from "../../../plan/history/table-drift.ts";
import { change, databaseOf, differences, type Database } from "../../../schema/table.ts";
import type { Step } from "../../../steps/registry.ts";
import type { Ledger } from "../../../run/lease/with-lease.ts";
import { readLedger, readCurrent } from "../../../run/prepare/consistent-read.ts";
import { describeForPlan } from "../../../run/prepare/describe-tables.ts";
import { compareWithLedger } from "../../../run/prepare/compare-with-ledger.ts";
import { requireApplied } from "./require-applied.ts";
import { movedTables } from "./moved-tables.ts";
import { runContext, type MigratorOptions } from "../../../run/run-context.ts";
import { checkDeclarable } from "./pull.ts";

interface Drift {
  readonly differences: readonly TableDifference[];
  /** The steps that lead to the live tables, given answers to open questions. Throws ERR_ADOPT_IMPOSSIBLE. */
  adopt(answers: readonly DiffAnswer[]): Adoption;
}

const byHand = "fix that by hand";

/** Throws ERR_ADOPT_REFUSED, ERR_ADOPT_PENDING, ERR_ADOPT_IMPOSSIBLE. */
export async function findDrift(options: MigratorOptions): Promise<Drift> {
  const context = runContext(options);
  const { target, ledger, migrations: source } = context;
  const { capabilities } = target;
  if (!capabilities.describes)
    throw new MigrateError("ERR_ADOPT_REFUSED", {
      problem: `${target.name} can't describe its tables`,
      hint: 'use the dialect "namespace" if the service has it',
    });
  const files = source.list();
  const loaded = await loadMigrations(source, files);
  const findDifferences = async ({ state }: Ledger) => {
    const migrations = await requireApplied(
      context,
      state,
      loaded,
      (pending) => new MigrateError("ERR_ADOPT_PENDING", { migration: formatMigration(pending), target: target.name }),
    );
    const { differences } = await compareWithLedger(context, state, migrations);
    const known = replayHistory(migrations, state, capabilities);
    const names = differences.map(({ table }) => table);
    const found = await describeForPlan(target, names, new Set(names), true);
    return { differences, known, names, found };
  };
  const {
    differences: drift,
    known,
    names,
    found,
  } = await readCurrent(
    context,
    () => readLedger(context, files),
    findDifferences,
    (compared) => compared.differences.length > 0,
  );
  const there = databaseOf(found);
  checkDeclarable(undeclarable(there), byHand);
  const tables = new Map([...known].filter(([name]) => !names.includes(name)));
  change(tables, found);
  const gone = new Map([...known].filter(([name]) => names.includes(name) && !there.has(name)));
  const moved = await movedTables(gone, new Set([...known.keys(), ...names]), target, ledger);
  return {
    differences: drift,
    adopt(answers) {
      const all = new Map([...tables, ...moved.chosen(answers)]);
      const made = adopt(known, all, { answers, ...diffCapabilities(capabilities) });
      // A table that was only renamed must not be adopted as dropped: the migration would drop it on every database.
      const adoption = { ...made, unsure: moved.unsure(made, answers) };
      if (adoption.unsure.length + adoption.impossible.length === 0)
        checkDeclarable(differencesAfter(known, adoption.steps, names, there), byHand);
      return adoption;
    },
  };
}

/** The differences that remain after the steps. With any left, `baseline` would refuse to mark the migration. */
function differencesAfter(
  known: Database,
  steps: readonly Step[],
  names: readonly string[],
  there: Database,
): readonly string[] {
  const after = tablesAfterSteps(known, steps);
  return names.flatMap((name) => {
    const [should, is] = [after.get(name), there.get(name)];
    const others = differences(should, inOrderOf(should, is));
    return differencesOf(name, should, is).map((one) =>
      describeDifference({
        ...one,
        differences: one.differences.map((words) => (others.includes(words) ? words : `${words} (${orderHint})`)),
      }),
    );
  });
}

/** The way out of a difference in column order: a column that was dropped and recreated is the last one. */
const orderHint = "of one that was recreated say how with --retype 'TABLE.COLUMN:TYPE using SQL'";
