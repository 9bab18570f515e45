/** Marks migrations as applied that never ran here, if the tables are as they leave them. Changes no table. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { migrationsBegun, type LedgerState } from "../../ledger/state/ledger-state.ts";
import { formatMigration, formatVersion, type MigrationName } from "../../migrations/file-name.ts";
import type { Migration } from "../../migrations/load.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { withStepsThatRan } from "../../plan/history/renumbered.ts";
import { appliedFacts } from "../../plan/history/record-facts.ts";
import { withMarked } from "./resolve/marked.ts";
import { checkFilesOfRan, checkNotReverting, chosenFiles, pendingFiles } from "../../plan/history/pending.ts";
import { placesIn } from "../../plan/history/position.ts";
import { describeDifference, howToFix } from "../../plan/history/table-drift.ts";
import type { Target } from "../../targets/contract/target.ts";
import { areFormer, recordRecognised } from "../../run/prepare/record-renumbered.ts";
import { readConsistently, readLedger, ifCurrent } from "../../run/prepare/consistent-read.ts";
import { deferralEntries } from "../../run/deferred/find-deferred.ts";
import { checkConsistent } from "../../run/lease/audited-ledger.ts";
import { compareWithLedger, type Compared } from "../../run/prepare/compare-with-ledger.ts";
import { runContext, type MigratorOptions } from "../../run/run-context.ts";
import { recording, withLease, type Ledger } from "../../run/lease/with-lease.ts";

export interface BaselineChoice {
  /** Marks only up to this version. */
  readonly to?: number | undefined;
  /** Reports what would be marked, and marks nothing. */
  readonly dryRun?: boolean | undefined;
}

export interface Baseline {
  /** The migrations that were marked, or would be. */
  readonly migrations: readonly MigrationName[];
  /** Whether columns were compared; otherwise only whether the tables exist. */
  readonly columns: boolean;
}

/** Marks the chosen pending migrations. Throws ERR_BASELINE_DIFFERS, ERR_BASELINE_BEGUN. */
export async function baseline(
  options: MigratorOptions,
  { to, dryRun = false }: BaselineChoice = {},
): Promise<Baseline> {
  const context = runContext(options);
  const { target, migrations: source, runner } = context;
  const files = source.list();
  const chosen = chosenFiles(files, { to });
  const factsOf = (migration: Migration) => appliedFacts(migration, target.capabilities);
  let loaded: readonly Migration[] | undefined;
  const resultOf = (marked: readonly Migration[]): Baseline => ({
    migrations: marked.map(({ version, name }) => ({ version, name })),
    columns: target.capabilities.describes,
  });
  const settled = (state: LedgerState) => (pendingFiles(chosen, state).length === 0 ? resultOf([]) : undefined);
  /** The migrations to mark. Throws if the tables differ. */
  const findMarked = async (state: LedgerState) => {
    loaded ??= await loadMigrations(source, files);
    const migrations = withStepsThatRan(loaded, state);
    await checkConsistent(context, state);
    checkNothingInDoubt(state, migrations, runner.run);
    checkFilesOfRan(files, migrations, state, target.capabilities);
    const pending = new Set(pendingFiles(chosen, state).map(({ version }) => version));
    const marked = migrations.filter(({ version }) => pending.has(version));
    const after = withMarked(state, marked.map(factsOf));
    const compared = await compareWithLedger(context, after, migrations);
    if (compared.differences.length === 0) return { marked, deferred: deferralEntries(compared.described) };
    throw differs(marked.at(-1)!, compared, hintFor(compared, migrations, state, target));
  };
  const look = (read: Ledger) => ifCurrent(context, read, () => findMarked(read.state));

  if (dryRun)
    return await readConsistently(
      context,
      () => readLedger(context, files),
      async (read) => settled(read.state) ?? (await look(read).then((found) => found && resultOf(found.marked))),
    );
  if (areFormer(files)) await recordRecognised(context, files);
  return await withLease(context, {
    resultIfDone: async ({ state }) => settled(state),
    async prepare(read) {
      const found = await look(read);
      if (found === undefined) return undefined;
      const { marked, deferred } = found;
      const entries = marked.map((one) => ({ event: "baselined", ...factsOf(one) }) as const);
      return recording(context, { entries: [...deferred, ...entries], result: resultOf(marked) });
    },
  });
}

/** Throws ERR_BASELINE_BEGUN or ERR_REVERTING if a migration has or may have begun: it may have changed tables. */
function checkNothingInDoubt(state: LedgerState, migrations: readonly Migration[], run: string): void {
  checkNotReverting(state);
  const [version] = migrationsBegun(state, run);
  if (version === undefined) return;
  const known = state.migrations.get(version) ?? migrations.find((one) => one.version === version);
  throw new MigrateError("ERR_BASELINE_BEGUN", { migration: known ? formatMigration(known) : formatVersion(version) });
}

function differs(last: Migration, { differences }: Compared, hint: string): MigrateError {
  return new MigrateError("ERR_BASELINE_DIFFERS", {
    last: formatMigration(last),
    differences: differences.map(describeDifference),
    hint,
  });
}

function hintFor(
  { described, differences }: Compared,
  migrations: readonly Migration[],
  state: LedgerState,
  { capabilities }: Target,
): string {
  const { fits, row } = placesIn(migrations, state, described, capabilities);
  const whole = fits.filter(({ done, isMidway }) => {
    const last = row.actions[done - 1];
    return !isMidway && last?.number === last?.total;
  });
  const place = whole.at(-1);
  if (place?.done === 0) return "none of them is there: migrate up makes them";
  const version = place === undefined ? undefined : row.actions[place.done - 1]!.migration.version;
  if (version !== undefined && state.migrations.get(version)?.status !== "applied")
    return `they are as they were ${place!.words}: migrate baseline --to ${place!.choice}`;
  return version === undefined
    ? `${howToFix(differences)}; or change the migrations until they lead there`
    : `they are as the ledger records: migrate up applies the rest`;
}
