/** What one record states about a migration, on top of what earlier records state. Pure. */
import {
  isNothingReverted,
  saysApplied,
  type LedgerRecord,
  type MigrationFacts,
  type PartialAction,
} from "./record.ts";

/** How far a migration, or its rollback, has got according to the ledger. `Position`: what the tables show of it. */
export interface Progress extends Pick<MigrationFacts, "step" | "total" | "checksum" | "steps" | "attempt" | "tables"> {
  /** Set if the action after those that are done has begun and takes several commits. */
  readonly midway?: PartialAction | undefined;
  /** The run that was in that action last. */
  readonly midwayBy?: string | undefined;
  /** That run has recorded that it stopped there. One that was killed or suspended has not, and may still be at work. */
  readonly isStopped?: boolean | undefined;
  readonly detail?: string | undefined;
}

/** What the ledger records about a migration. */
export interface LedgerMigration extends MigrationFacts, Progress {
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
  /** Set while it is being rolled back; `step` is then how many of its actions had been done before. */
  readonly reversal?: Progress | undefined;
}

/** Undefined if the migration was rolled back: it counts as never run. `isReverting`: its epoch rolls it back. */
export function foldMigration(
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
    // Of one that ran there is none.
    const found = detail !== undefined && { detail };
    return { ...facts, ...cut, status: "applied", order, at, by, ...found, ...neverRan };
  }
  return { ...facts, ...cut, status: "partial", order, at, by, detail, ...midwayOf(known, record, facts) };
}

/** Undefined if the rollback stopped before anything was done: the migration is as it was. */
function reversalOf(known: Progress | undefined, record: LedgerRecord, facts: MigrationFacts): Progress | undefined {
  const { step, total, checksum, steps, attempt, tables } = facts;
  const begun = midwayOf(known, record, facts);
  return isNothingReverted({ ...record, midway: begun.midway })
    ? undefined
    : { step, total, checksum, steps, attempt, tables, detail: record.detail, ...begun };
}

function midwayOf(
  known: Progress | undefined,
  record: LedgerRecord,
  { step, version }: MigrationFacts,
): Pick<Progress, "midway" | "midwayBy" | "isStopped"> {
  if (record.midway !== undefined) return { midway: record.midway, midwayBy: record.run, isStopped: endsThere(record) };
  // An action that failed and left nothing in doubt was undone.
  const goesOn = known?.step === step && (record.event !== "failed" || record.next === version);
  if (!goesOn || known.midway === undefined) return {};
  const { midway, midwayBy, isStopped } = known;
  return { midway, midwayBy, isStopped: endsThere(record) && (isStopped === true || midwayBy === record.run) };
}

function endsThere({ event }: LedgerRecord): boolean {
  return event === "failed" || event === "interrupted";
}

export function migrationFacts(record: LedgerRecord): MigrationFacts | undefined {
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
