/** Tracks table versions around a migration for its records, and keeps those that a rollback restores. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerMigration } from "../../ledger/state/fold-migration.ts";
import type { Lease } from "../../ledger/lease/lease.ts";
import type { OwnVersions, TableVersions } from "../../ledger/state/record.ts";
import { isPartlyDone, mayHaveBegun, type PlannedProgress } from "../../plan/history/progress.ts";
import type { PlannedAction, PlannedMigration } from "../../plan/make-plan.ts";
import type { Action } from "../../actions/model/action.ts";
import { ownValue } from "../../schema/data-type.ts";
import { mostRepeats } from "../../targets/contract/retry.ts";
import type { Target } from "../../targets/contract/target.ts";
import type { Done } from "./send-action.ts";
import type { Emit } from "../events.ts";
import { identify, timeOfVersion } from "../check/foreign-changes.ts";
import { isBefore, keptFor, keptName } from "./version-names.ts";

/** What keeping a version needs. */
interface Keeping {
  readonly target: Target;
  readonly lease: Pick<Lease, "check" | "epoch">;
  readonly emit: Emit;
  /** The ledger's table. */
  readonly ledger: string;
  /** Whether a migration may lose what can't be brought back. */
  readonly mayLoseVersion?: ((planned: PlannedMigration) => boolean) | undefined;
}

/**
 * Keeps the versions before the migration, which its rollback restores, and returns them. Undefined if no versions are
 * needed, or if they are known and an action may have run since.
 */
export async function restorePoints(planned: PlannedMigration, keeping: Keeping): Promise<TableVersions | undefined> {
  const { target } = keeping;
  const { restores, inDoubt, tables } = planned;
  if (target.versions === undefined || isPartlyDone(planned)) return undefined;
  const points = new Map<string, OwnVersions>();
  let isKnown = true;
  for (const table of restores) {
    const known = inDoubt ? ownValue(tables, table) : undefined;
    if (known === undefined || (await isOfAnother(table, known, target))) continue;
    const later = await keptLater(table, known, planned, keeping);
    isKnown &&= later === undefined;
    points.set(table, later ?? known);
  }
  if (isKnown && points.size === restores.length) return undefined;
  for (const table of restores.filter((one) => !points.has(one))) {
    const point = await keepNewest(table, planned, keeping);
    if (point !== undefined) points.set(table, point);
  }
  return Object.fromEntries(points);
}

/**
 * The later version that is kept for the migration. A run that begins the migration again keeps one. It may be killed
 * before it records that version. Then it has not acted yet, and the recorded version may no longer be kept.
 */
async function keptLater(
  table: string,
  [version]: OwnVersions,
  { migration }: PlannedMigration,
  { target, ledger }: Keeping,
): Promise<OwnVersions | undefined> {
  if (version === null) return undefined;
  // A service that can't keep versions may not list any either.
  const kept = (await target.versions!.kept(table).catch(() => []))
    .filter((one) => keptFor(one, table, ledger, () => undefined)?.migration === migration.version)
    .reduce((last, one) => Math.max(last, one.version), version);
  if (kept === version) return undefined;
  return ownVersions(kept, null, false, [(await target.versions!.time(table, kept)) ?? null, null]);
}

/**
 * Keeps the newest version; undefined if there is none. If it can't be kept, throws ERR_VERSION_UNKEPT, or emits
 * `unkept` if the migration may lose data.
 */
async function keepNewest(
  table: string,
  planned: PlannedMigration,
  { target, lease, emit, ledger, mayLoseVersion }: Keeping,
): Promise<OwnVersions | undefined> {
  for (let tries = 1; ; tries++) {
    const snapshot = await target.describeTable(table);
    if (snapshot?.version === undefined) return undefined;
    const { version } = snapshot;
    const time = await timeOfVersion(table, snapshot, target);
    // A run that was suspended would keep a version that its successor has made.
    await lease.check();
    try {
      await target.versions!.keep(table, version, keptName(planned.migration.version, version, lease.epoch(), ledger));
    } catch (error) {
      if (isMigrateError(error, "ERR_TARGET_UNREACHABLE") || isMigrateError(error, "ERR_CREDENTIALS")) throw error;
      // Others have written since, and cleaned up the version that was described.
      if (tries < mostRepeats && (await target.describeTable(table))?.version !== version) continue;
      const { version: number, name } = planned.migration;
      const problem = target.explain(error);
      if (mayLoseVersion?.(planned) === false) {
        const { place } = planned.actions[0]!;
        throw new MigrateError("ERR_VERSION_UNKEPT", { ...place, table, version, problem }, { cause: error });
      }
      emit({ event: "unkept", version: number, name, table, problem });
    }
    return ownVersions(version, null, false, [time ?? null, null]);
  }
}

/** Whether the table was recreated since the version was recorded; the version was dropped with the old table. */
async function isOfAnother(table: string, [version, , , times]: OwnVersions, target: Target): Promise<boolean> {
  if (version === null) return false;
  return (await identify(table, [{ version, at: times?.[0] ?? undefined }], target)) === "another";
}

function ownVersions(
  before: number | null,
  after: number | null,
  others: NonNullable<OwnVersions[2]>,
  times: NonNullable<OwnVersions[3]>,
): OwnVersions {
  if (times.some((time) => time !== null)) return [before, after, others, times];
  return others === false ? [before, after] : [before, after, others];
}

export interface VersionsTrack {
  readonly tables: () => TableVersions;
  readonly begin: (points: TableVersions) => void;
  readonly note: (planned: Pick<PlannedAction, "action">, ending: Done) => void;
  /** Adds the times of versions that no snapshot had. */
  readonly date: (target: Pick<Target, "versions">) => Promise<void>;
}

/** `ran`: the migration's actions that are already done. */
export function trackVersions(
  { restores, tables: known, ...progress }: Pick<PlannedMigration, "restores" | "tables" | keyof PlannedProgress>,
  ran: readonly Action[] = [],
): VersionsTrack {
  const isBegun = mayHaveBegun(progress);
  let tables: TableVersions = isBegun ? known : {};
  const watched = new Set([...restores, ...(isBegun ? Object.keys(known) : [])]);
  // The name under which each table is recorded; undefined for a table that took another's name.
  const names = namesAfter(ran, known);
  return {
    tables: () => tables,
    begin: (points) => {
      tables = points;
    },
    note({ action }, { versionBefore: seen, versionAfter: left, commits = 1 }) {
      const [before, after] = [seen?.version ?? null, left?.version ?? null];
      const name = follow(action, names, ownValue(tables, action.table) !== undefined);
      if (name === undefined) return;
      const own = ownValue(tables, name);
      // A rename makes no version, and the table no longer has that name.
      if (action.kind === "renameTable" && own !== undefined) return;
      const isMade = action.kind === "createTable";
      if (isMade) watched.add(name);
      const from = isMade ? 0 : before;
      const last = own?.[1] ?? own?.[0] ?? from;
      const isAlone = from !== null && from === last && after !== null && (after === from || after - from === commits);
      const wasAlone = own === undefined || (own[1] === null && own[2] !== true) || own[2] === "none";
      const others = isAlone && wasAlone ? "none" : own?.[2] === true || (watched.has(name) && !isAlone);
      // A table that the migration has made had none.
      const first = own === undefined ? before : own[0];
      const firstTime = own === undefined ? seen?.at : own[3]?.[0];
      tables = { ...tables, [name]: ownVersions(first, after, others, [firstTime ?? null, left?.at ?? null]) };
    },
    async date({ versions }) {
      for (const [name, [before, after, others = false, times]] of Object.entries(tables)) {
        if (after === null || times?.[1] != null) continue;
        const [current = name] = [...names].find(([, known]) => known === name) ?? [];
        const time = await versions?.time(current, after).catch(() => undefined);
        tables = { ...tables, [name]: ownVersions(before, after, others, [times?.[0] ?? null, time ?? null]) };
      }
    },
  };
}

type RecordedNames = Map<string, string | undefined>;

/** The names under which tables are recorded, after the actions that an earlier run has done. */
function namesAfter(ran: readonly Action[], known: TableVersions): RecordedNames {
  const names: RecordedNames = new Map();
  const recorded = new Set(Object.keys(known).filter((name) => known[name]![0] !== null));
  for (const action of ran) {
    const name = follow(action, names, recorded.has(action.table));
    if (name !== undefined) recorded.add(name);
  }
  return names;
}

/** The name under which the action's table is recorded. `isRecorded`: whether a table of its name already is. */
function follow(action: Action, names: RecordedNames, isRecorded: boolean): string | undefined {
  const { table } = action;
  if (action.kind === "createTable" && isRecorded) names.set(table, undefined);
  const name = names.has(table) ? names.get(table) : table;
  if (action.kind === "renameTable") {
    // A table that is created under the name later is another one.
    names.delete(table);
    names.set(action.name, name);
  }
  return name;
}

/** A migration that gets another number. */
export interface RenumberedMigration {
  readonly version: number;
  readonly known: Pick<LedgerMigration, "version" | "tables">;
}

/**
 * Keeps the kept versions of these migrations under their new numbers too, before these are recorded: if the run is
 * killed in between, the next one does it again. Returns a function that releases the old names.
 */
export async function keepRenumbered(
  renumbered: readonly RenumberedMigration[],
  { versions, listTables }: Target,
  ledger: string,
  epoch: number,
): Promise<() => Promise<void>> {
  if (versions === undefined || renumbered.length === 0) return async () => {};
  const former: { readonly table: string; readonly name: string }[] = [];
  for (const table of await listTables()) {
    // Several runs may have kept one version for the same migration, and a name can be given once.
    const given = new Set<string>();
    for (const kept of await versions.kept(table)) {
      const { name, version } = kept;
      // The version must match too: a run that was killed here has kept others under a number that is the old one of the next.
      const one = renumbered.find(
        ({ known }) =>
          keptFor(kept, table, ledger, () => known.tables)?.migration === known.version &&
          isBefore(version, known.tables),
      );
      if (one === undefined) continue;
      const renamed = keptName(one.version, version, epoch, ledger);
      if (!given.has(renamed)) await versions.keep(table, version, renamed);
      given.add(renamed);
      former.push({ table, name });
    }
  }
  return async () => {
    for (const { table, name } of former) await versions.release(table, name).catch(() => undefined);
  };
}

/** Whether rolling back the following migrations reinserts rows that were written after a version kept for this one. */
export function isSince({ tables }: PlannedMigration, following: readonly PlannedMigration[]): boolean {
  const kept = new Set(Object.values(tables).map(([before]) => before));
  return following.some(({ actions }) =>
    actions.some(({ action }) => action.kind === "putBackRows" && kept.has(action.since ?? null)),
  );
}

/**
 * Releases the versions that are kept for a migration, and those that earlier epochs kept for it without recording them.
 * What can't be released now is left to `migrate prune`.
 */
export async function releaseRestorePoints(
  { migration, tables }: PlannedMigration,
  { versions }: Target,
  ledger: string,
  epoch: number,
): Promise<void> {
  for (const table of Object.keys(tables))
    for (const kept of (await versions?.kept(table).catch(() => undefined)) ?? []) {
      const found = keptFor(kept, table, ledger, () => tables);
      // A run that has taken over keeps what it needs itself.
      if (found?.migration === migration.version && found.epoch <= epoch)
        await versions?.release(table, kept.name).catch(() => undefined);
    }
}
