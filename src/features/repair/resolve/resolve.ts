/** Marks one migration as reverted or as adopted in the ledger. Changes no table. */
import {
  absentFrom,
  count,
  isMigrateError,
  MigrateError,
  type MigrationsPlace,
} from "../../../errors/migrate-error.ts";
import { foldLedger } from "../../../ledger/state/fold.ts";
import { groupInDoubt, migrationsBegun, type LedgerState } from "../../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../../ledger/state/fold-migration.ts";
import { groupEntry, isNamed, type LedgerEntry } from "../../../ledger/state/record.ts";
import { formatMigration, formatVersion, type MigrationName } from "../../../migrations/file-name.ts";
import type { Migration } from "../../../migrations/load.ts";
import { loadMigrations } from "../../../migrations/source.ts";
import { checkFilesOfRan, placeOfFirst } from "../../../plan/history/pending.ts";
import { describeDifference, howToFix, type TableDifference } from "../../../plan/history/table-drift.ts";
import { withStepsThatRan, checkNamesOfNow } from "../../../plan/history/renumbered.ts";
import { markAdopted, markReverted, type Marking } from "./resolved-records.ts";
import type { Tables } from "../../../schema/table.ts";
import type { Target } from "../../../targets/contract/target.ts";
import { checkConsistent } from "../../../run/lease/audited-ledger.ts";
import { readCurrent } from "../../../run/prepare/consistent-read.ts";
import { deferralEntries } from "../../../run/deferred/find-deferred.ts";
import { compareWithLedger } from "../../../run/prepare/compare-with-ledger.ts";
import { holderWords } from "../../../run/lease/describe-holder.ts";
import { runContext, type MigratorOptions, type RunContext } from "../../../run/run-context.ts";
import { recording, withLease, type Ledger } from "../../../run/lease/with-lease.ts";

/** Set either `reverted` or `adopted`, to the number of a migration, or number and name: `0006_add_headlines`. */
export interface ResolveChoice {
  /** Marks it as never run: for a migration whose file is lost, or whose changes were removed by hand. */
  readonly reverted?: number | string | undefined;
  /** Marks it as applied by its current file: for tables that are already as that file leaves them. */
  readonly adopted?: number | string | undefined;
  /** Marks the migration, instead of only reporting what that means. */
  readonly yes?: boolean | undefined;
}

export interface Resolution {
  readonly migration: MigrationName;
  readonly as: "reverted" | "adopted";
  /** What the ledger records, how the tables compare, and what follows, as text. */
  readonly means: readonly string[];
  /** The differences that `verify` would report afterwards; undefined if unknown. */
  readonly differences: readonly TableDifference[] | undefined;
  /** The holder of the lease, as text; undefined if there is none but this run. */
  readonly lease: string | undefined;
  readonly done: boolean;
}

interface FoundResolution {
  readonly resolution: Omit<Resolution, "done">;
  readonly entries: readonly LedgerEntry[];
  /** Another migration, which stays in doubt. */
  readonly next: number | undefined;
}

/** `shown`: what the user agreed to; refuses if that has changed. Throws ERR_RESOLVE, ERR_RESOLVE_UNKNOWN. */
export async function resolve(
  options: MigratorOptions,
  choice: ResolveChoice,
  shown?: Pick<Resolution, "means">,
): Promise<Resolution> {
  const context = runContext(options);
  const { journal } = context;
  const examine = async ({ state }: Pick<Ledger, "state">): Promise<FoundResolution> => {
    await checkConsistent(context, state);
    return await findResolution(context, choice, state);
  };
  if (choice.yes !== true) {
    const found = await readCurrent(
      context,
      async () => {
        const records = await journal.read();
        return { records, state: foldLedger(records) };
      },
      examine,
      () => true,
    );
    return { ...found.resolution, done: false };
  }
  return await withLease(context, {
    async prepare({ state }) {
      const found = await examine({ state });
      if (shown !== undefined && shown.means.join("\n") !== found.resolution.means.join("\n"))
        throw refused("the ledger, the files or the tables have changed since this was shown; run it again");
      return recording(context, { ...found, result: { ...found.resolution, done: true } });
    },
  });
}

function refused(problem: string): MigrateError {
  return new MigrateError("ERR_RESOLVE", { problem });
}

async function findResolution(
  context: RunContext,
  choice: ResolveChoice,
  state: LedgerState,
): Promise<FoundResolution> {
  const { target, migrations: source, clock, runner } = context;
  const files = source.list();
  checkNamesOfNow(files, state);
  const place = placeOfFirst(files);
  const { version, name, as } = chosen(choice);
  const begun = migrationsBegun(state, runner.run);
  const group = groupInDoubt(state, runner.run);
  // The others of its group go on as a group without it.
  const rest = as === "reverted" && group.has(version) ? [...group].filter((one) => one !== version) : [];
  const other = begun.find((one) => one !== version && !rest.includes(one));
  const unfinished = files.find((file) => file.version === other);
  if (unfinished !== undefined)
    throw refused(`${formatMigration(unfinished)} was begun but not finished; run migrate up or migrate down first`);
  const loaded = await loadMigrations(source, files);
  const file = loaded.find((one) => one.version === version);
  const known = state.migrations.get(version);
  const recorded = known ?? (begun.includes(version) ? { version, name: file?.name ?? "unknown" } : undefined);
  const wanted = as === "adopted" ? file : recorded;
  if (wanted === undefined || (name !== undefined && !isNamed(wanted, name)))
    throw new MigrateError("ERR_RESOLVE_UNKNOWN", {
      choice: `--${as} ${name === undefined ? formatVersion(version) : formatMigration({ version, name })}`,
      where: as === "adopted" ? (place.bundle ?? "the migrations folder") : "the ledger",
      there: wanted && formatMigration(wanted),
    });
  const migration = { version, name: wanted.name };
  const marking = as === "adopted" ? markAdopted(state, file!, target.capabilities) : markReverted(state, migration);
  const compared = await comparedAfter(marking, loaded, context, { as, migration });
  const deferred = deferralEntries(compared.described ?? new Map());
  const now = recorded === undefined ? [] : [ledgerWords(known, recorded, file, place)];
  const means = [...now, ...(as === "adopted" ? adoptedWords(migration, target) : revertedWords(file, compared))];
  const lease = state.holder?.run === runner.run ? undefined : holderWords(state, clock);
  const resolution = { migration, as, means, differences: compared.differences, lease };
  const left = rest.length === 0 ? [] : [groupEntry(rest)];
  return { resolution, entries: [...deferred, ...marking.entries, ...left], next: other ?? rest[0] };
}

function chosen({ reverted, adopted }: ResolveChoice): Pick<Resolution, "as"> & { version: number; name?: string } {
  const as = adopted === undefined ? "reverted" : "adopted";
  const [, digits, name] = /^(\d{1,9})(?:_(.+))?$/.exec(String(adopted ?? reverted)) ?? [];
  if ((reverted === undefined) === (adopted === undefined) || digits === undefined)
    throw new MigrateError("ERR_USAGE", {
      problem: "say which migration, and what it is: --reverted 0006, or --adopted 0006_add_headlines",
    });
  return { as, version: Number(digits), ...(name !== undefined && { name }) };
}

interface ComparedAfter {
  readonly differences: readonly TableDifference[] | undefined;
  readonly described?: Tables | undefined;
  /** Why it is unknown what the tables should be afterwards. */
  readonly unknown?: string;
}

/** Compares the tables with the ledger as it would be. Throws ERR_RESOLVE. */
async function comparedAfter(
  { after }: Marking,
  loaded: readonly Migration[],
  context: RunContext,
  { as, migration }: Pick<Resolution, "as" | "migration">,
): Promise<ComparedAfter> {
  const { capabilities } = context.target;
  const migrations = withStepsThatRan(loaded, after);
  try {
    checkFilesOfRan(context.migrations.list(), migrations, after, capabilities);
    const { described, differences } = await compareWithLedger(context, after, migrations);
    if (as === "reverted" || differences.length === 0) return { described, differences };
    const found = differences.map(describeDifference).join("; ");
    throw refused(
      `the tables are not as ${formatMigration(migration)} leaves them: ${found}; ${howToFix(differences)}`,
    );
  } catch (error) {
    if (!isMigrateError(error) || error.outcome !== "refused" || isMigrateError(error, "ERR_RESOLVE")) throw error;
    // Migrations that ran later depend on it: without it, nothing could be planned any more.
    if (as === "adopted" || isMigrateError(error, "ERR_STEP_IMPOSSIBLE"))
      throw refused(`the other migrations do not go together with that: ${error.message}`);
    return { differences: undefined, unknown: error.message };
  }
}

type Recorded = MigrationName & Pick<LedgerMigration, "isNameCut">;

function ledgerWords(
  known: LedgerMigration | undefined,
  recorded: Recorded,
  file: Migration | undefined,
  place: MigrationsPlace,
): string {
  const isIt = file !== undefined && isNamed(recorded, file.name);
  const here = isIt
    ? place.bundle === undefined
      ? "its file is here"
      : `it is in ${place.bundle}`
    : absentFrom(place);
  const words = (status: string) => `${formatMigration(recorded)} ${status}; ${here}`;
  if (known === undefined) return words("has begun, and how far it ran is not recorded");
  const { status, step, total, reversal } = known;
  if (reversal !== undefined)
    return words(`is being rolled back, ${reversal.step} of ${count(reversal.total, "action")} done`);
  return words(status === "applied" ? "is applied here" : `has begun, ${step} of ${count(total, "action")} done`);
}

function adoptedWords(migration: MigrationName, { name, capabilities }: Target): readonly string[] {
  const leaves = `the tables are as ${formatMigration(migration)} leaves them; what is in their rows was not compared`;
  return [
    capabilities.describes ? leaves : `${name} can't describe its tables: only whether they exist was compared`,
    `${formatMigration(migration)} will count as applied without having run here`,
  ];
}

function revertedWords(file: Migration | undefined, { differences = [], unknown }: ComparedAfter): readonly string[] {
  const next =
    file === undefined
      ? "it will count as never run"
      : `it will count as never run, so ${formatMigration(file)} will be pending: the next migrate up runs it, with all that it does to rows`;
  if (unknown !== undefined) return [next, `whether the tables fit that is unknown: ${unknown}`];
  if (differences.length === 0) return [next, "the tables are as the other migrations leave them"];
  const way = "migrate verify will report that as drift; fix it by hand, or adopt it with migrate verify --write";
  return [
    next,
    "the tables are not as the other migrations leave them:",
    ...differences.map((one) => `  ${describeDifference(one)}`),
    way,
  ];
}
