/** Compares the migration files with the ledger: finds what is pending, and refuses what must not run. Pure. */
import { count, MigrateError, type MigrationsPlace } from "../../errors/migrate-error.ts";
import { isHalfDone, workOf, type LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import { isNamed } from "../../ledger/state/record.ts";
import { begunHash, checksumOf, matchesHash, stepHash } from "../../migrations/checksum.ts";
import { formatGroup, formatMigration, formatVersion } from "../../migrations/file-name.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import type { Acceptance } from "../../migrations/acceptance.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Step } from "../../steps/registry.ts";
import { compileMigration, type Describing } from "../compile/compile.ts";

export interface Choice {
  /** Apply up to this version only. */
  readonly to?: number | undefined;
  readonly allowOutOfOrder?: boolean | undefined;
  /** Consent for this run, in addition to that in the files. */
  readonly accept?: readonly Acceptance[] | undefined;
}

/** A choice for a run. */
export interface RunChoice extends Choice {
  /** Applies this many migrations at most. */
  readonly steps?: number | undefined;
  /** Runs one migration after the other, and none as part of a group. */
  readonly stepByStep?: boolean | undefined;
}

/** The files up to the chosen version. Throws ERR_VERSION_UNKNOWN. */
export function chosenFiles(files: readonly MigrationFile[], { to }: Choice): readonly MigrationFile[] {
  if (to === undefined) return files;
  if (files.some(({ version }) => version === to)) return files.filter(({ version }) => version <= to);
  throw versionUnknown(to, files);
}

/** The error for a chosen version that has no file. */
export function versionUnknown(
  version: number,
  files: readonly Pick<MigrationFile, "version" | "name">[],
): MigrateError {
  const [first, last] = [files[0], files.at(-1)];
  const below = files.findLast((file) => file.version < version);
  const above = files.find((file) => file.version > version);
  const known =
    first === undefined
      ? "there are none yet"
      : below === undefined || above === undefined
        ? `they go from ${formatMigration(first)} to ${formatMigration(last!)}`
        : `did you mean ${formatMigration(below)} or ${formatMigration(above)}?`;
  return new MigrateError("ERR_VERSION_UNKNOWN", { version: formatVersion(version), known });
}

/** Files that are not applied, in order. */
export function pendingFiles(files: readonly MigrationFile[], { migrations }: LedgerState): readonly MigrationFile[] {
  return files.filter(({ version }) => migrations.get(version)?.status !== "applied");
}

/** Migrations that have run, at least in part, and have no file here, for example because a newer release ran them. */
export function missingFiles(files: readonly MigrationFile[], { migrations }: LedgerState): readonly LedgerMigration[] {
  const versions = new Set(files.map(({ version }) => version));
  return [...migrations.values()].filter(
    (known) => !versions.has(known.version) && (known.status === "applied" || isHalfDone(known)),
  );
}

/** Refuses to apply anything while a rollback is unfinished. */
export function checkNotReverting({ migrations }: LedgerState): void {
  const known = [...migrations.values()].find(({ reversal }) => reversal !== undefined);
  if (known !== undefined) throw new MigrateError("ERR_REVERTING", { version: formatMigration(known) });
}

interface Pending {
  readonly files: readonly MigrationFile[];
  readonly state: LedgerState;
  /** The versions of the migrations in doubt. */
  readonly inDoubt: ReadonlySet<number>;
  /** The versions of the group in doubt. */
  readonly group: ReadonlySet<number>;
  readonly choice: Choice;
}

/**
 * The chosen pending migrations in the order in which they may run. One that has begun comes first; if it is not
 * chosen, this throws ERR_BEGUN, because no other migration can run in the middle of it. Throws ERR_OUT_OF_ORDER for
 * one below a migration that has run, or may have run, unless that is allowed.
 */
export function orderPending({ files, state, inDoubt, group, choice }: Pending): readonly MigrationFile[] {
  const chosen = pendingFiles(chosenFiles(files, choice), state);
  if (chosen.length === 0) return chosen;
  const known = [...state.migrations.values()];
  const inPart = known.filter(isHalfDone);
  const ran = known.filter(({ status }) => status === "applied").map(({ version }) => version);
  const begun = new Set([...inDoubt, ...inPart.map(({ version }) => version)].filter((one) => !ran.includes(one)));
  const outside = [...begun]
    .filter((version) => !chosen.some((file) => file.version === version))
    .toSorted((one, other) => one - other)
    .at(-1);
  if (outside !== undefined) {
    const file = files.find(({ version }) => version === outside);
    if (file === undefined) throw begunWithoutFile(formatVersion(outside), files);
    const begunAs = group.has(outside) ? { group: formatGroup(group) } : {};
    throw new MigrateError("ERR_BEGUN", { version: formatVersion(outside), file: file.file, ...begunAs });
  }
  const firsts = firstNumbers(files);
  const firstOf = (version: number) => firsts.get(version) ?? version;
  const all = [...ran, ...begun].toSorted((one, other) => firstOf(one) - firstOf(other));
  const last = all.at(-1) ?? -1;
  const early = chosen.find(({ version }) => version < firstOf(last) && !begun.has(version));
  if (early === undefined) return chosen;
  const name = [...known, ...files].find(({ version }) => version === last)!;
  if (choice.allowOutOfOrder !== true)
    throw new MigrateError("ERR_OUT_OF_ORDER", { file: early.file, last: formatMigration(name) });
  return [
    ...chosen.filter(({ version }) => begun.has(version)),
    ...chosen.filter(({ version }) => !begun.has(version)),
  ];
}

/**
 * For migrations that were renumbered: the lowest number under which they may have run. Incoming migrations with a
 * higher number may run after them. Consecutive renumbered migrations of a branch count from their lowest number.
 */
function firstNumbers(files: readonly MigrationFile[]): ReadonlyMap<number, number> {
  const firsts = new Map<number, number>();
  let first = Infinity;
  for (const { version, was } of files) {
    first = was === undefined ? Infinity : Math.min(first, version, ...was.map((former) => former.version));
    if (was !== undefined) firsts.set(version, first);
  }
  return firsts;
}

/** Requires that every migration that has run still has its file, with the steps that ran. */
export function checkFilesOfRan(
  files: readonly MigrationFile[],
  migrations: readonly Migration[],
  state: LedgerState,
  describing: Describing,
): void {
  checkMissing(files, state);
  checkUnchanged(migrations, state, describing);
}

/** Refuses if a migration that has run has no file any more, because the expected tables are then unknown. */
export function checkMissing(files: readonly MigrationFile[], state: LedgerState): void {
  const [missing] = missingFiles(files, state);
  if (missing !== undefined)
    throw new MigrateError("ERR_MIGRATION_MISSING", {
      version: formatVersion(missing.version),
      name: missing.name,
      ...(missing.status === "partial" && { begun: true }),
      ...placeOfFirst(files),
    });
}

/** Migrations that have begun, or may have, and have no file here. Includes those that a holder is working on. */
export function begunElsewhere(
  files: readonly MigrationFile[],
  { migrations, inDoubt, holder }: LedgerState,
): readonly number[] {
  const half = [...migrations.values()].filter(isHalfDone).map(({ version }) => version);
  const atWork = (holder === undefined ? [] : workOf(holder)).filter(
    (one) => migrations.get(one)?.status !== "applied",
  );
  const here = new Set(files.map(({ version }) => version));
  return [...new Set([...half, ...inDoubt, ...atWork])].filter((version) => !here.has(version));
}

/**
 * Refuses to skip a migration that another release has left partial. `holder`: one that may be running; what it works
 * on is not refused.
 */
export function checkBegun(files: readonly MigrationFile[], state: LedgerState, holder?: LedgerState["holder"]): void {
  const atWork = holder === undefined ? [] : workOf(holder);
  const version = begunElsewhere(files, state).find((one) => !atWork.includes(one));
  if (version === undefined) return;
  const known = state.migrations.get(version);
  const migration = known === undefined ? formatVersion(version) : formatMigration(known);
  throw begunWithoutFile(migration, files);
}

/** The error for a migration that was begun and has none of these files. */
export function begunWithoutFile(version: string, files: readonly Placed[]): MigrateError {
  return new MigrateError("ERR_BEGUN", { version, file: undefined, ...placeOfFirst(files) });
}

type Placed = Pick<MigrationFile, "bundle" | "file" | "path">;

/** Where the migrations are read from, for messages. The name of the folder is unknown if it holds none. */
export function placeOfFirst([first]: readonly Placed[]): MigrationsPlace {
  if (first === undefined) return {};
  if (first.bundle !== undefined) return { bundle: first.bundle };
  const [folder] = first.path.slice(0, -first.file.length).replaceAll("\\", "/").split("/").filter(Boolean).slice(-1);
  return folder === undefined ? {} : { folder };
}

/**
 * Throws ERR_MIGRATION_CHANGED for a migration whose steps are not those that ran; its text alone may differ. Throws
 * ERR_NUMBER_USED for a new file with a used number, and ERR_LEDGER_CHANGED if the ledger was changed instead.
 */
export function checkUnchanged(migrations: readonly Migration[], state: LedgerState, describing: Describing): void {
  for (const migration of migrations) {
    const known = state.migrations.get(migration.version);
    if (known === undefined) continue;
    const { file, name, version } = migration;
    const begun = known.status === "partial";
    const between = begun ? changeOfBegun(migration, known, describing) : undefined;
    const change = begun ? changeOfPartial(migration, known, describing) : changeOfApplied(migration, known);
    if (change === undefined && between === undefined) continue;
    if (!isNamed(known, name))
      throw new MigrateError("ERR_NUMBER_USED", {
        file,
        version,
        other: formatMigration(known),
        is: begun ? "has begun" : "is applied",
      });
    if (change === undefined || !hasListedSteps(migration, known))
      throw new MigrateError("ERR_MIGRATION_CHANGED", {
        file,
        change: (change ?? between)!,
        ...(begun && { begun }),
        ...(matchesHash(migration.textHash, known.textHash) && { isSameText: true }),
      });
    const problem = `its record of ${formatMigration(known)} lists the steps that ${file} has, and another checksum or count`;
    throw new MigrateError("ERR_LEDGER_CHANGED", { problem });
  }
}

/** Whether the steps are exactly those that the ledger lists. Then the file is not what was changed. */
function hasListedSteps({ steps }: Migration, known: LedgerMigration): boolean {
  const ran = known.status === "applied" ? steps : steps.slice(0, known.steps.length);
  return (
    known.steps.length > 0 &&
    ran.length === known.steps.length &&
    ran.every((step, index) => stepHash(step) === known.steps[index])
  );
}

function changeOfApplied({ steps, checksum }: Migration, known: LedgerMigration): string | undefined {
  if (matchesHash(checksum, known.checksum)) return undefined;
  // A ledger of markers has no room for the hashes of single steps.
  if (known.steps.length === 0) return "its steps are not those that ran";
  return changeOfSteps(steps, known.steps, "ran");
}

/** How steps differ from those with these hashes, of which they were or are a migration. */
export function changeOfSteps(steps: readonly Step[], hashes: readonly string[], what: "ran" | "was planned"): string {
  const at = steps.findIndex((step, index) => stepHash(step) !== hashes[index]);
  if (at === -1) return `it has ${count(steps.length, "step")} instead of ${hashes.length}`;
  if (at >= hashes.length) return `step ${at + 1} (${steps[at]!.kind}) was added`;
  return `step ${at + 1} (${steps[at]!.kind}) is not the step that ${what}`;
}

function changeOfPartial(migration: Migration, known: LedgerMigration, describing: Describing): string | undefined {
  const { steps } = migration;
  // The steps that the actions done so far belong to.
  const ran = stepsBegun(migration, known.step, describing);
  if (ran !== undefined && matchesHash(checksumOf(ran), known.checksum)) return undefined;
  const begun = ran?.length ?? steps.length;
  const at = (ran ?? steps).findIndex((step, index) => stepHash(step) !== known.steps[index]);
  const step = known.steps.length === 0 ? "a step" : `step ${(at === -1 ? begun : at) + 1}`;
  return `${step} has already run`;
}

/** How a step has changed that was interrupted between two of its commits. */
function changeOfBegun(
  migration: Migration,
  { step: done, midway }: LedgerMigration,
  describing: Describing,
): string | undefined {
  if (midway === undefined) return undefined;
  const begun = stepsBegun(migration, done + 1, describing);
  if (begun !== undefined && begunHash(begun.at(-1)!) === midway.step) return undefined;
  const number = begun?.length ?? migration.steps.length + 1;
  return `step ${number} is between two of its commits, and another step cannot continue it`;
}

/** The steps that this many actions belong to; undefined if there are fewer actions. */
function stepsBegun(migration: Migration, actions: number, describing: Describing): readonly Step[] | undefined {
  if (actions === 0) return [];
  const last = compileMigration(migration, describing)[actions - 1];
  return last && migration.steps.slice(0, last.place.step);
}
