/** Executes a group of migrations: one call for each table, several at a time. */
import { isError } from "../../checks/realm.ts";
import { count, firstLine, MigrateError } from "../../errors/migrate-error.ts";
import { groupEntry, type LedgerEntry, type TableVersions } from "../../ledger/state/record.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { recordFacts } from "../../plan/history/record-facts.ts";
import type { GroupCall, MigrationGroup } from "../../plan/group/group-migrations.ts";
import type { PlannedMigration } from "../../plan/make-plan.ts";
import { executeAction, metadataError } from "./action-events.ts";
import { elapsed, isHeld, isStated, isTakenOver, lastRanIn, type RunProgress } from "./migration-progress.ts";
import { trackVersions } from "./restore-points.ts";
import type { FailedCall } from "./send-action.ts";

/** How many calls are made at a time. */
const mostAtOnce = 8;

/** The entry that must be in the ledger before the first call of the group. */
export function groupRecord({ migrations }: MigrationGroup): LedgerEntry {
  return groupEntry(migrations.map(({ migration }) => migration.version));
}

interface GroupProgress extends RunProgress {
  readonly group: MigrationGroup;
  /** The error if a call has lost something of others. The calls count, so it is reported once they are recorded. */
  lost: MigrateError | undefined;
}

/**
 * Returns the records of the migrations' ends, and the error that the run must end with after they are recorded, if a call
 * has lost something of others. If the group is stopped, records that, and throws.
 */
export async function executeGroup(
  group: MigrationGroup,
  applied: number,
  execution: RunProgress["execution"],
): Promise<{ readonly records: readonly LedgerEntry[]; readonly lost: MigrateError | undefined }> {
  const { clock, emit, target } = execution;
  const versions = trackVersions({ restores: [], tables: {}, done: 0, inDoubt: false, midway: undefined });
  const progress: GroupProgress = {
    group,
    execution,
    applied,
    started: clock.steady(),
    versions,
    done: 0,
    lost: undefined,
  };
  const migrations = group.migrations.map(({ migration: { version, name } }) => ({ version, name }));
  emit({ event: "group", migrations, calls: group.calls.length });
  for (const planned of group.migrations)
    await execution.runHooks?.before(planned.migration).catch(async (error: unknown) => {
      throw await stopped(progress, planned, error, false);
    });
  await checkStated(progress);
  await makeCalls(progress);
  await versions.date(target);
  const tables = versionsByMigration(progress);
  const duration = elapsed(progress);
  const records = group.migrations.map((planned): LedgerEntry => {
    const { migration, total, attempt, units } = planned;
    const done = { step: total, total, attempt, duration, tables: tables.get(planned)! };
    return { event: "applied", ...recordFacts(migration, units, done) };
  });
  return { records, lost: progress.lost };
}

/**
 * Makes sure that the beginning of the group was recorded before another run could take over, so that it finishes the same
 * group. Each call checks the lease too, but a group whose migrations cancel each other out has none.
 */
async function checkStated(progress: GroupProgress): Promise<void> {
  const { group, execution } = progress;
  await execution.lease.check().catch(async (error: unknown) => {
    throw await stopped(progress, group.migrations[0]!, error, false);
  });
}

/** Makes the calls. After the first that fails, no other begins; those under way are waited for. */
async function makeCalls(progress: GroupProgress): Promise<void> {
  const { group, execution } = progress;
  const left = [...group.calls];
  const failures: { readonly call: GroupCall; readonly failed: FailedCall }[] = [];
  const worker = async (): Promise<void> => {
    while (failures.length === 0 && execution.signal?.aborted !== true) {
      const call = left.shift();
      if (call === undefined) return;
      const failed = await makeCall(call, progress);
      if (failed !== undefined) failures.push({ call, failed });
    }
  };
  await Promise.all(Array.from({ length: Math.min(mostAtOnce, left.length) }, worker));
  const [first] = failures;
  if (first !== undefined)
    throw await stopped(
      progress,
      first.call.last,
      first.failed.error,
      failures.some(({ failed }) => failed.inDoubt),
      first.call,
    );
  if (left.length > 0) throw await interrupted(progress);
}

/** Returns what went wrong, if anything did. */
async function makeCall({ action, last, number }: GroupCall, progress: GroupProgress): Promise<FailedCall | undefined> {
  const { group, execution, versions } = progress;
  const { version, name } = last.migration;
  const place = { version, name, action: number, total: last.total };
  const ending = await executeAction(action, group.inDoubt, {
    ...execution,
    midway: undefined,
    note: noteNothing,
    place,
    bound: execution.bound.get(action.action.table),
  });
  if ("error" in ending) return ending;
  versions.note(action, ending);
  progress.done++;
  progress.lost ??= metadataError(place, ending.harm);
  return undefined;
}

/** A call of a group is one commit, so it is never between two of them. */
async function noteNothing(): Promise<void> {
  throw new TypeError("a call of a group is one commit");
}

/** The versions of each table, with the first migration of the group that changes it: it is rolled back last. */
function versionsByMigration({ group, versions }: GroupProgress): ReadonlyMap<PlannedMigration, TableVersions> {
  const tables = versions.tables();
  const all = new Map<PlannedMigration, TableVersions>(group.migrations.map((planned) => [planned, {}]));
  for (const { first, action } of group.calls) {
    const { table } = action.action;
    const own = tables[table];
    if (own !== undefined) all.set(first, { ...all.get(first), [table]: own });
  }
  return all;
}

/**
 * The error that the run ends with. It is recorded here if the ledger may be written. `call`: the one that failed; undefined
 * if a hook or the lease did.
 */
async function stopped(
  progress: GroupProgress,
  planned: PlannedMigration,
  cause: unknown,
  inDoubt: boolean,
  call?: GroupCall,
): Promise<unknown> {
  const { emit } = progress.execution;
  const { migration, direction, total } = planned;
  if (isHeld(cause)) {
    const { version, name } = migration;
    const { applied } = progress;
    emit({ event: "left", version, name, direction, isTakenOver: isTakenOver(cause), applied, done: 0, total });
    return cause;
  }
  const { error, detail } =
    call === undefined || isStated(cause)
      ? { error: cause, detail: isError(cause) ? cause.message : firstLine(cause) }
      : failureOf(progress, call, cause, inDoubt);
  await release(progress, planned, { event: "failed", detail }, inDoubt).catch(() => {});
  return error;
}

function failureOf(progress: GroupProgress, call: GroupCall, cause: unknown, inDoubt: boolean) {
  const { group, execution, applied, done } = progress;
  const { text, action } = call.action;
  const [first, last] = [call.first, call.last].map((planned) => formatMigration(planned.migration));
  const details = {
    text,
    table: action.table,
    migrations: first === last ? last! : `${first} to ${last}`,
    problem: execution.target.explain(cause),
    applied,
    ...partOf(group, done),
    isBegun: isBegun(progress, inDoubt),
  };
  const back = details.isBegun ? {} : lastRanIn(execution);
  // What `down` would roll back changes, so it is not recorded.
  const detail = new MigrateError("ERR_GROUP_FAILED", details).message;
  return { error: new MigrateError("ERR_GROUP_FAILED", { ...details, ...back }, { cause }), detail };
}

async function interrupted(progress: GroupProgress): Promise<MigrateError> {
  const { group, applied, done } = progress;
  await release(progress, group.migrations[0]!, { event: "interrupted" }, false);
  const { from, until, calls } = partOf(group, done);
  const part = done === 0 ? "" : `, ${done} of ${count(calls, "call")} for ${from} to ${until} were made`;
  const were = applied === 1 ? "migration was" : "migrations were";
  return new MigrateError("ERR_INTERRUPTED", {
    done: `${applied} ${were} applied${part}; run migrate up to continue`,
  });
}

/** Whether a call may have been made, so that the group must be finished as a group. */
function isBegun({ group, done }: GroupProgress, inDoubt: boolean): boolean {
  return group.inDoubt || inDoubt || done > 0;
}

/** Ends the epoch. The group stays in doubt if a call may have been made. */
async function release(
  progress: GroupProgress,
  planned: PlannedMigration,
  entry: LedgerEntry,
  inDoubt: boolean,
): Promise<void> {
  const { group, execution } = progress;
  const first = isBegun(progress, inDoubt) ? group.migrations[0]!.migration.version : undefined;
  const { migration, total, attempt } = planned;
  const nothing = recordFacts(migration, [], { step: 0, total, attempt, duration: elapsed(progress), tables: {} });
  await execution.lease.release([{ ...entry, ...nothing }], first);
}

function partOf({ migrations, calls }: MigrationGroup, done: number) {
  const [from, until] = [migrations[0]!, migrations.at(-1)!].map(({ migration }) => formatMigration(migration));
  return { from: from!, until: until!, done, calls: calls.length };
}
