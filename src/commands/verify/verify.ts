/** Checks the tables against the ledger, and the ledger itself for tampering. Changes nothing. */
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerFinding } from "../../ledger/audit/audit.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import type { Migration } from "../../migrations/load.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { checkFilesOfRan, pendingFiles } from "../../plan/history/pending.ts";
import { placesIn } from "../../plan/history/position.ts";
import { areAll, howToFix, type TableDifference } from "../../plan/history/table-drift.ts";
import { withStepsThatRan } from "../../plan/history/renumbered.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { Ledger } from "../../run/lease/with-lease.ts";
import { readLedger, readCurrent } from "../../run/prepare/consistent-read.ts";
import { auditConsistently, checkConsistent } from "../../run/lease/audited-ledger.ts";
import { placeIfNew } from "../../run/check/new-database.ts";
import { deferralOf, type Deferral } from "../../run/deferral-text.ts";
import { countDeferred } from "../../run/deferred/find-deferred.ts";
import { type StaleColumn } from "../../run/stale-text.ts";
import { doubtWords } from "../../run/lease/describe-holder.ts";
import { compareWithLedger, type Compared } from "../../run/prepare/compare-with-ledger.ts";
import { dateOf } from "./date-drift.ts";
import { computingOf, runContext, type MigratorOptions } from "../../run/run-context.ts";

interface TablesVerdict {
  /** How many of the compared tables exist. */
  readonly tables: number;
  /** Whether columns were compared; otherwise only whether the tables exist. */
  readonly columns: boolean;
  readonly differences: readonly TableDifference[];
  /** What to do about the differences; undefined if there are none. */
  readonly hint: string | undefined;
  /** The indexes that wait until their tables hold enough vectors, which is no difference. */
  readonly deferred: readonly Deferral[];
  /** The watched columns with rows that lack a right value. */
  readonly stale: readonly StaleColumn[];
  /** The migrations in doubt or under way, as text. What they change is no difference. */
  readonly doubts: readonly string[];
  /** Where the database is, if it has no tables yet: then nothing was compared. */
  readonly newDatabase: string | undefined;
}

/** Compares all tables of migrations with what the ledger implies. Throws ERR_LEDGER_CHANGED. */
export async function verifyTables(options: MigratorOptions): Promise<TablesVerdict> {
  const context = runContext(options);
  const { target, migrations: source, runner, clock } = context;
  const files = source.list();
  const loaded = await loadMigrations(source, files);
  const compareAll = async ({ state }: Ledger) => {
    await checkConsistent(context, state);
    const migrations = withStepsThatRan(loaded, state);
    checkFilesOfRan(files, migrations, state, target.capabilities);
    return { ...(await compareWithLedger(context, state, migrations)), state, migrations };
  };
  const { described, differences, expected, state, migrations } = await readCurrent(
    context,
    () => readLedger(context, files),
    compareAll,
    (found) => found.differences.length > 0,
  );
  // A table whose columns are as recorded may have rows that can't be read.
  const damaged = target.damaged?.(described.keys());
  if (damaged !== undefined) throw damaged;
  const dated = await Promise.all(
    differences.map(async (one) => ({
      ...one,
      ...(await dateOf(one, { expected: expected.get(one.table), state, target })),
    })),
  );
  const tables = [...described.values()].filter((table) => table !== undefined).length;
  const hint =
    dated.length === 0 ? undefined : hintFor({ described, differences: dated }, files, migrations, state, target);
  const doubts = doubtWords(state, runner.run, clock);
  const deferred = (await countDeferred(described, target, state)).map(deferralOf);
  const stale = await (await computingOf(context)).listStale(context, state);
  const newDatabase = tables === 0 ? await placeIfNew(context, state) : undefined;
  return {
    tables,
    deferred,
    stale,
    columns: target.capabilities.describes,
    differences: dated,
    hint,
    doubts,
    newDatabase,
  };
}

/** `repair` helps if the tables are at another position in history, or if records were lost. */
function hintFor(
  { described, differences }: Compared,
  files: readonly MigrationFile[],
  migrations: readonly Migration[],
  state: LedgerState,
  { capabilities }: Target,
): string {
  const helps = capabilities.describes
    ? placesIn(migrations, state, described, capabilities).fits.length > 0
    : !areAll("gone", differences);
  // Where only tables are gone, repair would record that they were never created.
  if (helps)
    return areAll("gone", differences)
      ? `${howToFix(differences)}; without one, see migrate repair`
      : "see migrate repair";
  if (state.migrations.size === 0)
    return `if the ledger was lost, see migrate repair; otherwise ${howToFix(differences)}`;
  const isPending = pendingFiles(files, state).length > 0;
  // A pending migration may create or rename what is there or gone too early.
  if (!capabilities.describes || (isPending && !areAll("changed", differences))) return howToFix(differences);
  const gone = differences.flatMap((one) => (one.kind === "gone" ? [one.table] : []));
  const leads = gone.length === 0 ? "leads there" : `drops ${gone.join(", ")} in every other database too`;
  return `${howToFix(differences)}; or ${isPending ? "move the files of pending migrations out of the folder and " : ""}run migrate verify --write, which writes a migration that ${leads}${isPending ? "; then give the pending ones higher numbers" : ""}`;
}

interface LedgerVerdict {
  readonly records: number;
  readonly findings: readonly LedgerFinding[];
}

/** Looks for records that were changed, removed or added. */
export async function verifyLedger(options: MigratorOptions): Promise<LedgerVerdict> {
  const { records, findings } = await auditConsistently(runContext(options));
  return { records: records.length, findings };
}
