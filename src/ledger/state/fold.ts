/** The state of a ledger: the fold over its records in the order (epoch, number). Pure. */
import {
  byPlace,
  saysApplied,
  type LedgerEntry,
  type LedgerRecord,
  type MigrationFacts,
  type PartialAction,
} from "./record.ts";

/** How far a migration is taken back. */
export interface Reversal extends Pick<MigrationFacts, "step" | "total" | "checksum" | "steps" | "attempt" | "tables"> {
  readonly detail?: string | undefined;
  readonly midway?: PartialAction | undefined;
}

/** What the ledger says about a migration that it knows. */
export interface LedgerMigration extends MigrationFacts {
  /** `partial`: it failed or was stopped, and `step` of its actions are done. */
  readonly status: "applied" | "partial";
  /** The how-manieth event it was: migrations count in the order in which they ran, not in that of their numbers. */
  readonly order: number;
  /** `name` is only the beginning of its name. */
  readonly isNameCut?: true | undefined;
  /** It counts as applied and never ran. */
  readonly isBaselined?: true;
  readonly at: number;
  readonly by: string;
  readonly detail?: string | undefined;
  /** Its action after those that are done has begun. */
  readonly midway?: PartialAction | undefined;
  /** It is being taken back: `step` is how much of it had been done. */
  readonly reversal?: Reversal | undefined;
}

export interface Holder {
  readonly by: string;
  readonly run: string;
  /** Milliseconds of silence after which the lease may be taken over. */
  readonly lease: number;
  /** The migration that it is at. */
  readonly next: number | undefined;
}

export interface LedgerState {
  /** The newest record. */
  readonly head: LedgerRecord | undefined;
  /** The newest record that says more than that an epoch was taken. */
  readonly told: LedgerRecord | undefined;
  /** The last epoch and, while it is not released, who took it. */
  readonly epoch: number;
  readonly holder: Holder | undefined;
  /** By ascending version. */
  readonly migrations: ReadonlyMap<number, LedgerMigration>;
  /**
   * Migrations whose first action that is not recorded as done may have run all the same: the holder turned to them and
   * was never heard of again, or ended without knowing. Nobody has said anything about them in a later epoch. What a
   * holder is at now is not among them: see `inDoubt`.
   */
  readonly doubtful: ReadonlySet<number>;
  /** Calls that may have come after their lease, and that nobody has looked at since. */
  readonly late: readonly LateCall[];
}

/** A call that may have been made after somebody else had taken over. */
export interface LateCall {
  readonly epoch: number;
  readonly version: number;
  /** Which action of the migration, counted from 1, or of those that take it back. */
  readonly action: number;
  readonly isBack: boolean;
  /** What the action kept of its table while it went on in several commits. */
  readonly midway: PartialAction | undefined;
}

export function foldLedger(records: readonly LedgerRecord[]): LedgerState {
  const migrations = new Map<number, LedgerMigration>();
  let own = new Map<number, LedgerMigration>(); // what the records of one epoch say by themselves
  const doubtful = new Set<number>();
  let taken: LedgerRecord | undefined;
  let released = true;
  let next: number | undefined;
  let lease = 0;
  let longest = 0;
  const late = new Map<number, LateCall>();
  const looked = new Set<number>();
  const gone = new Set<number>(); // what was taken back, and not begun since
  const midways = new Map<string, PartialAction>(); // by version, direction and action
  // What this epoch takes back: where an older one says that it is taken back, nothing of it is in doubt.
  let reverting = new Set<number>();
  const turnedTo = new Map<number, number>(); // which epoch turned to a migration last
  const mayHaveRun = (version: number | undefined): version is number =>
    version !== undefined && !(reverting.has(version) && !migrations.has(version));
  const sorted = records.toSorted(byPlace);
  for (const [order, record] of sorted.entries()) {
    if (record.epoch !== taken?.epoch) {
      if (!released && mayHaveRun(next)) doubtful.add(next);
      taken = record;
      reverting = new Set();
      own = new Map();
      released = false;
      // The name that takes an epoch can't say its lease: until the next record does, it may be as long as any was.
      lease = longest;
    }
    next = record.next;
    lease = record.lease ?? lease;
    longest = Math.max(longest, lease);
    if (record.event === "released") {
      released = true;
      // Its end is unknown. Where the holder had found it in doubt and not turned to it, older records say so, or settle it.
      const isFound = next !== undefined && (turnedTo.get(next) ?? record.epoch) < record.epoch;
      if (mayHaveRun(next) && !isFound) doubtful.add(next);
    } else if (next !== undefined) turnedTo.set(next, record.epoch);
    if (record.event === "rebuilt") {
      replace(migrations, own);
      // What may come late is looked at all the same: it may come after whoever rebuilt had looked.
      doubtful.clear();
    }
    const { version = 0, step = 0 } = record;
    if (record.version !== undefined) turnedTo.set(version, record.epoch);
    if (record.event === "reverting") reverting.add(version);
    const isBack = reverting.has(version) || migrations.get(version)?.reversal !== undefined || gone.has(version);
    const key = `${version}.${isBack ? "back." : ""}`;
    if (record.midway !== undefined) midways.set(`${key}${step + 1}`, record.midway);
    if (record.event === "late")
      late.set(record.epoch, {
        epoch: record.epoch,
        version,
        action: step,
        isBack,
        midway: midways.get(`${key}${step}`),
      });
    if (record.late !== undefined) looked.add(record.late);
    const facts = factsOf(record);
    if (facts === undefined) continue;
    doubtful.delete(version);
    if (record.event === "reverted") gone.add(version);
    else if (!reverting.has(version)) gone.delete(version);
    for (const all of [migrations, own]) {
      const known = foldMigration(all.get(version), record, facts, { order, isReverting: reverting.has(version) });
      if (known === undefined) all.delete(version);
      else all.set(version, known);
    }
  }
  // Every action of an applied migration has run, and a rollback is recorded before its first action.
  const isOpen = (version: number) => {
    const known = migrations.get(version);
    return known?.status !== "applied" || known.reversal !== undefined;
  };
  const upcoming = mayHaveRun(next) && isOpen(next) ? next : undefined;
  const holder = taken === undefined || released ? undefined : { by: taken.by, run: taken.run, lease, next: upcoming };
  const standing = [...late.values()].filter(({ epoch }) => !looked.has(epoch));
  for (const call of standing) if (!isDone(migrations.get(call.version), call)) doubtful.add(call.version);
  return {
    head: sorted.at(-1),
    told: sorted.findLast(({ event }) => event !== "taken"),
    epoch: taken?.epoch ?? 0,
    holder,
    migrations: new Map([...migrations].toSorted(([one], [other]) => one - other)),
    doubtful: new Set([...doubtful].filter(isOpen)),
    late: standing,
  };
}

function replace<Key, Value>(map: Map<Key, Value>, other: ReadonlyMap<Key, Value>): void {
  map.clear();
  for (const [key, value] of other) map.set(key, value);
}

/** By ascending version. What is being taken back is not among them: a late record may say that it is. */
export function appliedIn({ migrations }: Pick<LedgerState, "migrations">): readonly LedgerMigration[] {
  return [...migrations.values()].filter(({ status, reversal }) => status === "applied" && reversal === undefined);
}

/** Whether taking back ended with that before anything was done: the migration is as it was. */
export function isNothingReverted({ event, step, midway, next, version }: LedgerEntry): boolean {
  return (event === "failed" || event === "interrupted") && step === 0 && midway === undefined && next !== version;
}

/** Whether the ledger says that an action is done, counted from 1. */
export function isDone(
  known: Pick<LedgerMigration, "status" | "step" | "reversal"> | undefined,
  { action, isBack }: Pick<LateCall, "action" | "isBack">,
): boolean {
  // What is not being taken back any more was taken back, or is as if that had never begun.
  if (isBack) return (known?.reversal?.step ?? Infinity) >= action;
  return known?.status === "applied" || (known?.step ?? 0) >= action;
}

/** Whether some of it is done, or may be, and not all; or it is being taken back. */
export function isHalfDone({ status, step, midway, reversal }: LedgerMigration): boolean {
  return reversal !== undefined || (status === "partial" && (step > 0 || midway !== undefined));
}

/** What may have run without being recorded, as seen by one run: its own doing is no doubt to it. */
export function migrationsInDoubt({ doubtful, holder }: LedgerState, run: string): ReadonlySet<number> {
  return holder?.next === undefined || holder.run === run ? doubtful : new Set([...doubtful, holder.next]);
}

/** Undefined for a migration that was rolled back, as if it had never run. `isReverting`: its epoch rolls it back. */
function foldMigration(
  known: LedgerMigration | undefined,
  record: LedgerRecord,
  facts: MigrationFacts,
  { order, isReverting }: { readonly order: number; readonly isReverting: boolean },
): LedgerMigration | undefined {
  if (record.event === "reverted") return undefined;
  const isBack = isReverting || known?.reversal !== undefined;
  // Unknown where an older holder's late record says that it is rolled back.
  if (isBack && ["reverting", "failed", "interrupted"].includes(record.event))
    return known && { ...known, reversal: reversalOf(known.reversal, record, facts) };
  const { at, by, detail, isNameCut } = record;
  const cut = isNameCut === true && { isNameCut };
  // A late record of an older holder is true, but what a newer one said stays; and what is applied stays applied.
  if (record.event === "noted" && known !== undefined) return { ...known, textHash: facts.textHash };
  if (known?.status === "applied") return known;
  if (saysApplied(record)) {
    const neverRan = record.event === "baselined" && { isBaselined: true as const };
    return { ...facts, ...cut, status: "applied", order, at, by, ...neverRan };
  }
  return { ...facts, ...cut, status: "partial", order, at, by, detail, midway: midwayOf(known, record, facts) };
}

/** Whether a full name is that of a migration that the ledger knows. */
export function isNamed(known: Pick<LedgerMigration, "name" | "isNameCut">, name: string): boolean {
  return known.isNameCut === true ? name.startsWith(known.name) : name === known.name;
}

/** Undefined where it stopped before anything was done: the migration is as it was. */
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
  // What failed and left nothing in doubt was taken back.
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
