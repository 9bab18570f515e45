/** Folds the records of a ledger, in the order (epoch, number), into its state. Pure. */
import {
  byPlace,
  isNothingReverted,
  saysApplied,
  type LedgerRecord,
  type MigrationFacts,
  type PartialAction,
} from "./record.ts";

/** How far the rollback of a migration has got. */
export interface Reversal extends Pick<MigrationFacts, "step" | "total" | "checksum" | "steps" | "attempt" | "tables"> {
  readonly detail?: string | undefined;
  readonly midway?: PartialAction | undefined;
}

/** What the ledger records about a migration. */
export interface LedgerMigration extends MigrationFacts {
  /** `partial`: it has begun and is not applied; `step` of its actions are done. */
  readonly status: "applied" | "partial";
  /** The index of its record in the ledger. Migrations count in the order in which they ran, not by their numbers. */
  readonly order: number;
  /** `name` is only the beginning of the name. */
  readonly isNameCut?: true | undefined;
  /** It counts as applied although it never ran. */
  readonly isBaselined?: true;
  readonly at: number;
  readonly by: string;
  readonly detail?: string | undefined;
  /** Set if the action after those that are done has begun. */
  readonly midway?: PartialAction | undefined;
  /** Set while it is being rolled back; `step` is then how many of its actions had been done before. */
  readonly reversal?: Reversal | undefined;
}

interface Holder {
  readonly by: string;
  readonly run: string;
  /** Another run may take over after this many milliseconds without a new record. */
  readonly lease: number;
  /** The migration that it works on. */
  readonly next: number | undefined;
}

export interface LedgerState {
  /** The newest record. */
  readonly head: LedgerRecord | undefined;
  /** The newest record whose event is not `taken`. */
  readonly lastStatement: LedgerRecord | undefined;
  /** The last epoch, 0 if there is none. `holder` is the run that took it, until it is released. */
  readonly epoch: number;
  readonly holder: Holder | undefined;
  /** In ascending order of version. */
  readonly migrations: ReadonlyMap<number, LedgerMigration>;
  /**
   * Migrations in doubt: their first action that is not recorded as done may have run anyway. Either their holder
   * stopped adding records, or ended without knowing the outcome, and no later record is about them; or a late call is
   * not recorded as done. The migration that the current holder works on is not included: see `migrationsInDoubt`.
   */
  readonly inDoubt: ReadonlySet<number>;
  /** Late calls whose tables no run has checked since. */
  readonly late: readonly LateCall[];
}

/** A call that may have taken effect after its run had lost the lease. */
export interface LateCall {
  readonly epoch: number;
  readonly version: number;
  /** The number of the action in the migration or in its rollback, counted from 1. */
  readonly action: number;
  readonly isBack: boolean;
  /** What was recorded when the action began, if it has several commits. */
  readonly midway: PartialAction | undefined;
}

export function foldLedger(records: readonly LedgerRecord[]): LedgerState {
  const sorted = records.toSorted(byPlace);
  const fold = emptyFold();
  for (const [order, record] of sorted.entries()) {
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
    lease: 0,
    longestLease: 0,
    migrations: new Map<number, LedgerMigration>(),
    /** The same, by the records of the current epoch alone. */
    own: new Map<number, LedgerMigration>(),
    inDoubt: new Set<number>(),
    /** What the run of this epoch rolls back. If an older epoch records one of them as rolled back, it is not in doubt. */
    reverting: new Set<number>(),
    /** Migrations that were rolled back and have not begun since. */
    rolledBack: new Set<number>(),
    /** The last epoch that worked on a migration. */
    lastEpochs: new Map<number, number>(),
    /** By version, direction and action. */
    midways: new Map<string, PartialAction>(),
    /** By epoch, also those that were checked. */
    late: new Map<number, LateCall>(),
    /** The epochs whose late call was checked. */
    checked: new Set<number>(),
  };
}

function beginEpoch(fold: Fold, record: LedgerRecord): void {
  if (!fold.isReleased && mayHaveRun(fold, fold.next)) fold.inDoubt.add(fold.next);
  // A run that takes a further epoch still rolls back what it did in the one before.
  if (record.run !== fold.taken?.run) fold.reverting = new Set();
  fold.taken = record;
  fold.own = new Map();
  fold.isReleased = false;
  // A marker that takes an epoch can't state its lease. The longest lease so far counts until the next record does.
  fold.lease = fold.longestLease;
}

function mayHaveRun({ reverting, migrations }: Fold, version: number | undefined): version is number {
  return version !== undefined && !(reverting.has(version) && !migrations.has(version));
}

/** What the record states about the holder: its lease, the migration that it works on next, and whether it ends. */
function foldHolder(fold: Fold, { epoch, event, next, lease }: LedgerRecord): void {
  fold.next = next;
  fold.lease = lease ?? fold.lease;
  fold.longestLease = Math.max(fold.longestLease, fold.lease);
  if (event === "released") {
    fold.isReleased = true;
    // The outcome of `next` is unknown. If the holder found it in doubt and never worked on it, older records already
    // state that, or settle it.
    const isFound = next !== undefined && (fold.lastEpochs.get(next) ?? epoch) < epoch;
    if (mayHaveRun(fold, next) && !isFound) fold.inDoubt.add(next);
  } else if (next !== undefined) fold.lastEpochs.set(next, epoch);
}

/** Only what this epoch records counts. Late calls remain: one may take effect after the run that rebuilt the ledger. */
function rebuild({ migrations, own, inDoubt }: Fold): void {
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
  if (event === "late")
    fold.late.set(epoch, { epoch, version, action: step, isBack, midway: fold.midways.get(keyOf(step)) });
  if (late !== undefined) fold.checked.add(late);
}

function foldMigrations(fold: Fold, record: LedgerRecord, order: number): void {
  const facts = factsOf(record);
  if (facts === undefined) return;
  const { version } = facts;
  const isReverting = fold.reverting.has(version);
  fold.inDoubt.delete(version);
  if (record.event === "reverted") fold.rolledBack.add(version);
  else if (!isReverting) fold.rolledBack.delete(version);
  for (const all of [fold.migrations, fold.own]) {
    const known = foldMigration(all.get(version), record, facts, { order, isReverting });
    if (known === undefined) all.delete(version);
    else all.set(version, known);
  }
}

function stateOf(fold: Fold, sorted: readonly LedgerRecord[]): LedgerState {
  const { taken, isReleased, next, lease, migrations, inDoubt } = fold;
  // Every action of an applied migration has run, and a rollback is recorded before its first action.
  const isOpen = (version: number) => {
    const known = migrations.get(version);
    return known?.status !== "applied" || known.reversal !== undefined;
  };
  const upcoming = mayHaveRun(fold, next) && isOpen(next) ? next : undefined;
  const late = [...fold.late.values()].filter(({ epoch }) => !fold.checked.has(epoch));
  const lateVersions = late.filter((call) => !isDone(migrations.get(call.version), call)).map(({ version }) => version);
  return {
    head: sorted.at(-1),
    lastStatement: sorted.findLast(({ event }) => event !== "taken"),
    epoch: taken?.epoch ?? 0,
    holder: taken === undefined || isReleased ? undefined : { by: taken.by, run: taken.run, lease, next: upcoming },
    migrations: new Map([...migrations].toSorted(([one], [other]) => one - other)),
    inDoubt: new Set([...inDoubt, ...lateVersions].filter(isOpen)),
    late,
  };
}

/** In ascending order of version, without migrations that are being rolled back, even if only by a late record. */
export function appliedIn({ migrations }: Pick<LedgerState, "migrations">): readonly LedgerMigration[] {
  return [...migrations.values()].filter(({ status, reversal }) => status === "applied" && reversal === undefined);
}

/** Whether the ledger records an action as done. */
export function isDone(
  known: Pick<LedgerMigration, "status" | "step" | "reversal"> | undefined,
  { action, isBack }: Pick<LateCall, "action" | "isBack">,
): boolean {
  // Without a reversal, the rollback has ended, or counts as never begun.
  if (isBack) return (known?.reversal?.step ?? Infinity) >= action;
  return known?.status === "applied" || (known?.step ?? 0) >= action;
}

/** Whether some but not all of it is done or may be done, or it is being rolled back. */
export function isHalfDone({ status, step, midway, reversal }: LedgerMigration): boolean {
  return reversal !== undefined || (status === "partial" && (step > 0 || midway !== undefined));
}

/** Migrations that may have run without a record, as seen by `run`: what it works on itself is not in doubt to it. */
export function migrationsInDoubt({ inDoubt, holder }: LedgerState, run: string): ReadonlySet<number> {
  return holder?.next === undefined || holder.run === run ? inDoubt : new Set([...inDoubt, holder.next]);
}

/** The versions of the migrations that are half-done, in doubt, or have a late call. */
export function migrationsBegun(state: LedgerState, run: string): readonly number[] {
  const half = [...state.migrations.values()].filter(isHalfDone);
  const versionsOf = (all: readonly { readonly version: number }[]) => all.map(({ version }) => version);
  return [...versionsOf(half), ...migrationsInDoubt(state, run), ...versionsOf(state.late)];
}

/** Undefined if the migration was rolled back: it counts as never run. `isReverting`: its epoch rolls it back. */
function foldMigration(
  known: LedgerMigration | undefined,
  record: LedgerRecord,
  facts: MigrationFacts,
  { order, isReverting }: { readonly order: number; readonly isReverting: boolean },
): LedgerMigration | undefined {
  if (record.event === "reverted") return undefined;
  const isBack = isReverting || known?.reversal !== undefined;
  // `known` is undefined if a late record of an older epoch states that the migration is rolled back.
  if (isBack && ["reverting", "failed", "interrupted"].includes(record.event))
    return known && { ...known, reversal: reversalOf(known.reversal, record, facts) };
  const { at, by, detail, isNameCut } = record;
  const cut = isNameCut === true && { isNameCut };
  // A late record of an older epoch counts, and newer epochs override it; but what is applied stays applied.
  if (record.event === "noted" && known !== undefined) return { ...known, textHash: facts.textHash };
  if (known?.status === "applied") return known;
  if (saysApplied(record)) {
    const neverRan = record.event === "baselined" && { isBaselined: true as const };
    return { ...facts, ...cut, status: "applied", order, at, by, ...neverRan };
  }
  return { ...facts, ...cut, status: "partial", order, at, by, detail, midway: midwayOf(known, record, facts) };
}

/** Undefined if the rollback stopped before anything was done: the migration is as it was. */
function reversalOf(known: Reversal | undefined, record: LedgerRecord, facts: MigrationFacts): Reversal | undefined {
  const { step, total, checksum, steps, attempt, tables } = facts;
  const midway = midwayOf(known, record, facts);
  return isNothingReverted({ ...record, midway })
    ? undefined
    : { step, total, checksum, steps, attempt, tables, detail: record.detail, midway };
}

function midwayOf(
  known: Pick<LedgerMigration, "step" | "midway"> | undefined,
  record: LedgerRecord,
  { step, version }: MigrationFacts,
): PartialAction | undefined {
  // An action that failed and left nothing in doubt was undone.
  const goesOn = known?.step === step && (record.event !== "failed" || record.next === version);
  return record.midway ?? (goesOn ? known.midway : undefined);
}

function factsOf(record: LedgerRecord): MigrationFacts | undefined {
  const { version, name, step, total, checksum, steps, textHash, attempt, duration, tables } = record;
  if (version === undefined || name === undefined || record.event === "late") return undefined;
  return {
    version,
    name,
    step: step ?? 0,
    total: total ?? 0,
    checksum: checksum ?? "",
    steps: steps ?? [],
    textHash: textHash ?? "",
    attempt: attempt ?? 1,
    duration: duration ?? 0,
    tables: tables ?? {},
  };
}
