/** Folds the records of a ledger, in the order (epoch, number), into its state. Pure. */
import { migrationFacts, foldMigration, type LedgerMigration } from "./fold-migration.ts";
import { isDone, type LateCall, type LedgerState } from "./ledger-state.ts";
import { byPlace, groupOf, saysDeferred, type LedgerRecord, type PartialAction } from "./record.ts";

/** The states of frozen lists, which can't change: the markers journal folds a list to check it, and its reader again. */
const folded = new WeakMap<readonly LedgerRecord[], LedgerState>();

export function foldLedger(records: readonly LedgerRecord[]): LedgerState {
  const state = folded.get(records) ?? stateAfter(records);
  if (Object.isFrozen(records)) folded.set(records, state);
  return state;
}

function stateAfter(records: readonly LedgerRecord[]): LedgerState {
  const sorted = records.toSorted(byPlace);
  const fold = emptyFold();
  for (let order = 0; order < sorted.length; order++) {
    const record = sorted[order]!;
    if (record.epoch !== fold.taken?.epoch) beginEpoch(fold, record);
    foldHolder(fold, record);
    if (record.event === "rebuilt") rebuild(fold);
    foldWork(fold, record);
    foldMigrations(fold, record, order);
  }
  return stateOf(fold, sorted);
}

type Fold = ReturnType<typeof emptyFold>;

/** What no record states yet. */
function emptyFold() {
  return {
    /** The record that took the current epoch. */
    taken: undefined as LedgerRecord | undefined,
    isReleased: true,
    next: undefined as number | undefined,
    /** The group that `next` belongs to. */
    group: new Set<number>(),
    lease: 0,
    longestLease: 0,
    migrations: new Map<number, LedgerMigration>(),
    /** The same, by the records of the current epoch alone. */
    own: new Map<number, LedgerMigration>(),
    inDoubt: new Set<number>(),
    /** The last group in doubt, also those of it that are no longer in doubt. */
    doubtedGroup: new Set<number>(),
    /** What the run of this epoch rolls back. If an older epoch records one of them as rolled back, it is not in doubt. */
    reverting: new Set<number>(),
    /** Migrations that were rolled back and have not begun since. */
    rolledBack: new Set<number>(),
    /** The last epoch that worked on a migration. */
    lastEpochs: new Map<number, number>(),
    /** By version, direction and action. */
    midways: new Map<string, PartialAction>(),
    /** Also those that were checked. The calls of a group may all come late. */
    late: [] as LateCall[],
    /** The epochs whose late call was checked. */
    checked: new Set<number>(),
    deferral: undefined as string | undefined,
  };
}

function beginEpoch(fold: Fold, record: LedgerRecord): void {
  if (!fold.isReleased) doubt(fold, fold.next);
  // A run that takes a further epoch still rolls back what it did in the one before, and has the same group.
  if (record.run !== fold.taken?.run) {
    fold.reverting = new Set();
    fold.group = new Set();
  }
  fold.taken = record;
  fold.own = new Map();
  fold.isReleased = false;
  // A marker that takes an epoch can't state its lease. The longest lease so far counts until the next record does.
  fold.lease = fold.longestLease;
}

/** Puts the migration in doubt, with its group. */
function doubt(fold: Fold, version: number | undefined): void {
  if (!mayHaveRun(fold, version)) return;
  if (fold.group.size > 0) fold.doubtedGroup = new Set(fold.group);
  for (const one of [version, ...fold.group]) fold.inDoubt.add(one);
}

/**
 * The group that the record begins or ends. A holder states what it runs after it has seen the tables, so members of an
 * older group that it does not name have never run: that group was stated too late for any call.
 */
function foldGroup(fold: Fold, record: LedgerRecord): void {
  const { next } = record;
  const stated = groupOf(record);
  if (stated !== undefined) {
    settle(fold, fold.doubtedGroup);
    fold.group = new Set(stated);
  } else if (next === undefined || !fold.group.has(next)) {
    // What the holder does not leave in doubt itself is settled.
    settle(fold, fold.group);
    fold.group = new Set();
  }
}

function settle({ inDoubt, doubtedGroup }: Fold, versions: Iterable<number>): void {
  for (const version of versions) {
    inDoubt.delete(version);
    doubtedGroup.delete(version);
  }
}

function mayHaveRun({ reverting, migrations }: Fold, version: number | undefined): version is number {
  return version !== undefined && !(reverting.has(version) && !migrations.has(version));
}

/** What the record states about the holder: its lease, the migration that it works on next, and whether it ends. */
function foldHolder(fold: Fold, record: LedgerRecord): void {
  const { epoch, event, next, lease } = record;
  fold.next = next;
  foldGroup(fold, record);
  if (saysDeferred(record.detail) !== undefined) fold.deferral = record.detail;
  fold.lease = lease ?? fold.lease;
  fold.longestLease = Math.max(fold.longestLease, fold.lease);
  if (event === "released") {
    fold.isReleased = true;
    // The outcome of `next` is unknown. If the holder found it in doubt and never worked on it, older records already
    // state that, or settle it.
    const isFound = next !== undefined && (fold.lastEpochs.get(next) ?? epoch) < epoch;
    if (!isFound) doubt(fold, next);
  } else if (next !== undefined) fold.lastEpochs.set(next, epoch);
}

/** Only what this epoch records counts. Late calls remain: one may take effect after the run that rebuilt the ledger. */
function rebuild({ migrations, own, inDoubt, doubtedGroup }: Fold): void {
  doubtedGroup.clear();
  migrations.clear();
  for (const [version, migration] of own) migrations.set(version, migration);
  inDoubt.clear();
}

/** What the record states about the work under way: rollbacks, partial actions and late calls. */
function foldWork(fold: Fold, record: LedgerRecord): void {
  const { epoch, event, version = 0, step = 0, midway, late } = record;
  if (record.version !== undefined) fold.lastEpochs.set(version, epoch);
  if (event === "reverting") fold.reverting.add(version);
  const isBack =
    fold.reverting.has(version) || fold.migrations.get(version)?.reversal !== undefined || fold.rolledBack.has(version);
  const keyOf = (action: number) => `${version}.${isBack ? "back." : ""}${action}`;
  if (midway !== undefined) fold.midways.set(keyOf(step + 1), midway);
  if (event === "late") fold.late.push({ epoch, version, action: step, isBack, midway: fold.midways.get(keyOf(step)) });
  if (late !== undefined) fold.checked.add(late);
}

function foldMigrations(fold: Fold, record: LedgerRecord, order: number): void {
  const facts = migrationFacts(record);
  if (facts === undefined) return;
  const { version } = facts;
  const isReverting = fold.reverting.has(version);
  // A record about a member by a run that does not have the group: nobody has run it.
  if (fold.doubtedGroup.has(version) && !fold.group.has(version)) settle(fold, fold.doubtedGroup);
  settle(fold, [version]);
  if (record.event === "reverted") fold.rolledBack.add(version);
  else if (!isReverting) fold.rolledBack.delete(version);
  const [before, own] = [fold.migrations.get(version), fold.own.get(version)];
  const after = foldMigration(before, record, facts, { order, isReverting });
  put(fold.migrations, version, after);
  // Mostly the same: then one object is enough.
  put(fold.own, version, own === before ? after : foldMigration(own, record, facts, { order, isReverting }));
}

function put<Value>(all: Map<number, Value>, version: number, value: Value | undefined): void {
  if (value === undefined) all.delete(version);
  else all.set(version, value);
}

function stateOf(fold: Fold, sorted: readonly LedgerRecord[]): LedgerState {
  const { taken, isReleased, next, group, lease, migrations } = fold;
  // Every action of an applied migration has run, and a rollback is recorded before its first action.
  const isOpen = (version: number) => {
    const known = migrations.get(version);
    return known?.status !== "applied" || known.reversal !== undefined;
  };
  const upcoming = mayHaveRun(fold, next) && isOpen(next) ? next : undefined;
  const late = fold.late.filter(({ epoch }) => !fold.checked.has(epoch));
  const lateVersions = late.filter((call) => !isDone(migrations.get(call.version), call)).map(({ version }) => version);
  const inDoubt = new Set([...fold.inDoubt, ...lateVersions].filter(isOpen));
  const working = new Set(upcoming === undefined ? [] : [...group].filter(isOpen));
  return {
    head: sorted.at(-1),
    lastStatement: sorted.findLast(({ event }) => event !== "taken"),
    epoch: taken?.epoch ?? 0,
    holder:
      taken === undefined || isReleased
        ? undefined
        : { by: taken.by, run: taken.run, lease, next: upcoming, group: working },
    migrations: inAscendingOrder(migrations),
    inDoubt,
    group: new Set([...fold.doubtedGroup].filter((version) => inDoubt.has(version))),
    late,
    deferral: fold.deferral,
  };
}

/** By version. Migrations mostly ran in the order of their numbers, so there is nothing to sort. */
function inAscendingOrder(migrations: ReadonlyMap<number, LedgerMigration>): ReadonlyMap<number, LedgerMigration> {
  let last = -Infinity;
  for (const version of migrations.keys()) {
    if (version < last) return new Map([...migrations].toSorted(([one], [other]) => one - other));
    last = version;
  }
  return migrations;
}
