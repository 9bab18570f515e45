/** Migrations that stand for others which the ledger knows: renumbered by `rebase`, or combined by `squash`. Pure. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { isHalfDone, type LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import { isNamed, type LedgerEntry } from "../../ledger/state/record.ts";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import { checksumOf, matchesHash } from "../../migrations/checksum.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Former } from "../../migrations/former-names.ts";
import type { Describing } from "../compile/compile.ts";
import { appliedFacts, entriesFromLedger } from "./record-facts.ts";

export interface Recognised {
  readonly file: MigrationFile;
  /** The migrations that it stands for, as the ledger knows them. */
  readonly known: readonly LedgerMigration[];
}

/** The files that stand for migrations which the ledger knows under other names. */
export function recognisedIn(files: readonly MigrationFile[], state: LedgerState): readonly Recognised[] {
  return files.flatMap((file) => {
    const { was = [], replaces = [] } = file;
    const others = [...was, ...replaces].filter(({ version, name }) => version !== file.version || name !== file.name);
    const known = [...new Set(others.flatMap((former) => knownAs(former, state) ?? []))];
    return known.length === 0 ? [] : [{ file, known }];
  });
}

function knownAs({ version, name, checksum }: Former, { migrations }: LedgerState): LedgerMigration | undefined {
  const known = migrations.get(version);
  // A ledger of markers has room only for the beginning of a checksum.
  const isIt = known !== undefined && isNamed(known, name) && known.checksum.startsWith(checksum);
  return isIt ? known : undefined;
}

/** What a ledger knows of a list of former names. */
interface Coverage {
  readonly isKnown: boolean;
  /** The migrations that it knows neither by their names nor as all that became them. */
  readonly lacks: readonly Former[];
}

/** Of the items that became this migration; of those that the file itself replaces if there is none. */
function coverageOf(list: readonly Former[], state: LedgerState, became?: string): Coverage {
  const all = list.filter((former) => former.became === became);
  const parts = [...new Set(all.map(({ version }) => version))].map((number): Coverage => {
    // A ledger has one migration for each number, so items with the same number are alternatives.
    const names = all.filter(({ version }) => version === number);
    if (names.some((former) => knownAs(former, state) !== undefined)) return { isKnown: true, lacks: [] };
    // Only earlier items, so that a list that goes round in a circle ends too.
    const earlier = coverageOf(list.slice(0, list.indexOf(names[0]!)), state, formatMigration(names[0]!));
    return earlier.isKnown ? earlier : { isKnown: false, lacks: [names[0]!] };
  });
  return { isKnown: parts.some(({ isKnown }) => isKnown), lacks: parts.flatMap(({ lacks }) => lacks) };
}

/** Refuses files that cannot take the place of what they stand for. Throws ERR_REPLACES. */
export function checkRecognised(recognised: readonly Recognised[], state: LedgerState): void {
  const gone = new Set(recognised.flatMap(({ known }) => known));
  const claims = new Map<LedgerMigration, string>();
  for (const {
    file: { file, version: number, replaces = [] },
    known,
  } of recognised) {
    const refused = (problem: string) => new MigrateError("ERR_REPLACES", { file, problem });
    for (const one of known) {
      const other = claims.get(one);
      if (other !== undefined)
        throw refused(`${formatMigration(one)}, and so does ${other}; take was out of the one that was copied`);
      claims.set(one, file);
    }
    // With the same checksum, a run that was killed has recorded it already. With another one, it is another migration,
    // which the ledger would lose.
    const there = state.migrations.get(number);
    if (there !== undefined && !gone.has(there) && there.checksum !== known[0]!.checksum)
      throw refused(
        `${known.map(formatMigration).join(", ")}, but ${formatMigration(there)} ran here under its number; roll that back first: migrate down, with the files as they were`,
      );
    const [lacking] = coverageOf(replaces, state).lacks;
    const half = known.find((one) => isHalfDone(one) || one.status !== "applied");
    if (lacking !== undefined)
      throw refused(
        `${formatMigration(known.at(-1)!)} is applied here, and ${formatMigration(lacking)} is not; run migrate up first with a release that still has the file of ${formatMigration(lacking)}`,
      );
    if (half !== undefined)
      throw refused(
        `${formatMigration(half)} is half-done here; run migrate up first with a release that still has its file`,
      );
    const [inDoubt = state.late[0]?.version] = state.inDoubt;
    if (inDoubt !== undefined)
      throw refused(
        `${formatVersion(inDoubt)} may have run further than is recorded; deploy the release before it first`,
      );
  }
}

export interface RanInOtherOrder {
  readonly file: string;
  /** What ran in which order, as text. */
  readonly words: string;
  /** The number up to which the migrations ran in their order. */
  readonly to: number;
}

/** The first file whose migrations ran in another order, or with another one among them: columns may differ in order. */
export function ranInOtherOrder(
  recognised: readonly Recognised[],
  { migrations }: LedgerState,
): RanInOtherOrder | undefined {
  const inOrder = [...migrations.values()].toSorted((one, other) => one.order - other.order);
  for (const { file, known } of recognised) {
    if (file.replaces === undefined) continue;
    const orders = known.map(({ order }) => order);
    const [first, last] = [Math.min(...orders), Math.max(...orders)];
    const ran = inOrder.filter(({ order }) => order >= first && order <= last);
    const at = ran.findIndex((one, index) => one !== known[index]);
    if (at === -1) continue;
    const [early, late] = [ran[at]!, known[at]!].map(formatMigration);
    return { file: file.file, words: `${early} ran here before ${late}`, to: known[at - 1]?.version ?? 0 };
  }
  return undefined;
}

/** Refuses a ledger that does not have the new names yet. Throws ERR_REPLACES. */
export function checkNamesOfNow(files: readonly MigrationFile[], state: LedgerState): void {
  const [one] = recognisedIn(files, state);
  if (one === undefined) return;
  const problem = `${one.known.map(formatMigration).join(", ")}; the next migrate up records that`;
  throw new MigrateError("ERR_REPLACES", { file: one.file.file, problem });
}

/**
 * Records the whole ledger again, with the new names. `migrations`: the loaded files that stand for several, by
 * version.
 */
export function entriesOf(
  recognised: readonly Recognised[],
  state: LedgerState,
  migrations: ReadonlyMap<number, Migration>,
  describing: Describing,
): readonly LedgerEntry[] {
  const gone = new Set(recognised.flatMap(({ known }) => known.map(({ version }) => version)));
  const kept = [...state.migrations].filter(([version]) => !gone.has(version));
  const renamed = recognised.map(({ file, known }) => {
    const ordered = known.toSorted((one, other) => one.order - other.order);
    const last = ordered.at(-1)!;
    const detail = `ran as ${known.map(formatMigration).join(", ")}`;
    const own = migrations.get(file.version);
    if (own === undefined) return { ...last, version: file.version, name: file.name, detail };
    const duration = known.reduce((sum, one) => sum + one.duration, 0);
    // What ran among them comes after it, as on a new database.
    return { ...last, ...appliedFacts(own, describing), order: ordered[0]!.order, duration, detail };
  });
  return entriesFromLedger({
    ...state,
    migrations: new Map([...kept, ...renamed.map((one) => [one.version, one] as const)]),
  });
}

/** The migrations with the steps that ran, if these were others: a column may have had another name at that point. */
export function withStepsThatRan(
  migrations: readonly Migration[],
  { migrations: known }: LedgerState,
): readonly Migration[] {
  return migrations.map((migration) => {
    const { ran, version } = migration;
    const recorded = known.get(version)?.checksum;
    const steps = ran?.find((one) => matchesHash(checksumOf(one), recorded));
    // A `down` in the file uses the current names, so it is left out.
    return steps === undefined ? migration : { ...migration, steps, checksum: checksumOf(steps), down: undefined };
  });
}
