/**
 * Plans that are saved to files. A saved plan runs once and exactly as it was saved, or not at all. A run of the same
 * plan resumes one that was stopped. Pure.
 */
import { z } from "zod";
import { isObject } from "../../checks/check.ts";
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import {
  byPlace,
  groupOf,
  recordIdText,
  savedPlanOf,
  type LedgerEntry,
  type LedgerRecord,
} from "../../ledger/state/record.ts";
import { canonicalJson, matchesHash, sha256 } from "../../migrations/checksum.ts";
import { acceptances, acceptsLoss } from "../../migrations/acceptance.ts";
import type { Migration } from "../../migrations/load.ts";
import { changeOfSteps } from "../history/pending.ts";
import { migrationsOf, planDocumentShape, type DocumentAction, type PlanDocument } from "./plan-document.ts";

const shape = z.strictObject({
  /** The version of the format. Other releases may have another. */
  savedPlan: z.literal(1),
  /** SHA-256 of the rest. */
  id: z.string(),
  /** ISO 8601. */
  at: z.string(),
  tool: z.string(),
  /** The options that the plan was made with. */
  choice: z.strictObject({
    to: z.int().optional(),
    allowOutOfOrder: z.boolean().optional(),
    accept: z.array(z.enum(acceptances)).readonly().optional(),
    steps: z.int().optional(),
    reinsert: z.boolean().optional(),
  }),
  /** Where the target is. */
  place: z.string(),
  /** The ledger's table, its newest record and the number of records. `head` is null if there were no records. */
  ledger: z.strictObject({
    table: z.string(),
    head: z.strictObject({ record: z.string(), hash: z.string(), records: z.int() }).nullable(),
  }),
  /** The versions of the tables that the plan touches; null if there was no table, or the target reports no version. */
  tables: z.record(z.string(), z.int().nullable()),
  /**
   * When these versions were created, in milliseconds since 1970. Version and time together identify a table. Absent in
   * plans of older releases.
   */
  times: z.record(z.string(), z.int().nullable()).optional(),
  plan: planDocumentShape,
});

export type SavedPlan = z.output<typeof shape>;
type Head = SavedPlan["ledger"]["head"];

/** Parses the content of a plan file. Throws ERR_PLAN_INVALID. */
export function parseSavedPlan(value: unknown, file = "the saved plan"): SavedPlan {
  const invalid = (problem: string) => new MigrateError("ERR_PLAN_INVALID", { file, problem });
  if (typeof value !== "object" || value === null || !("savedPlan" in value)) throw invalid("is no saved plan");
  const { id, ...content } = value as SavedPlan;
  if (id !== idOf(content)) throw invalid("was changed after it was made");
  const { data } = shape.safeParse(value);
  if (data === undefined) throw invalid("was made by another release of lance-migrate");
  return data;
}

/** Adds the id. Drops what JSON cannot represent. */
export function sealed(content: Omit<SavedPlan, "id" | "savedPlan">): SavedPlan {
  const rest = JSON.parse(JSON.stringify({ savedPlan: 1, ...content })) as Omit<SavedPlan, "id">;
  return { id: idOf(rest), ...rest };
}

function idOf(content: Omit<SavedPlan, "id">): string {
  return sha256(canonicalJson(content));
}

/** The newest record, to which a plan is bound. `hashOf`: the hash function of the journal. */
export function headOf(records: readonly LedgerRecord[], hashOf: (record: LedgerRecord) => string): Head {
  const newest = records.toSorted(byPlace).at(-1);
  return newest === undefined ? null : { record: recordIdText(newest), hash: hashOf(newest), records: records.length };
}

/** The record by which a run states that it carries out the plan. `next`: the migration that runs next. */
export function useOf({ id }: SavedPlan, next: number | undefined): LedgerEntry {
  return { event: "renewed", checksum: id, next };
}

/** Throws ERR_PLAN_STALE if the plan was made for another target. */
export function checkPlace(saved: SavedPlan, target: { readonly name: string; readonly place: string }): void {
  const { plan, place } = saved;
  if (plan.target !== target.name)
    throw planStale(
      plan,
      "target",
      `it was made for target ${plan.target}, not for ${target.name}`,
      `run it on ${plan.target}, or make a new plan`,
    );
  if (place !== target.place)
    throw planStale(
      plan,
      "target",
      `it was made for target ${plan.target} at ${place}, and that is ${target.place} now`,
    );
}

/**
 * Whether the ledger shows that the whole plan is carried out. `records`: those of other runs. Throws ERR_PLAN_STALE if
 * one of these runs has written to the ledger since, unless it carried out this plan.
 */
export function isCarriedOut(
  saved: SavedPlan,
  ledger: string,
  { records, state }: { readonly records: readonly LedgerRecord[]; readonly state: LedgerState },
  hashOf: (record: LedgerRecord) => string,
): boolean {
  if (saved.ledger.table !== ledger)
    throw planStale(
      saved.plan,
      "target",
      `it was made for the ledger ${saved.ledger.table}, and that is ${ledger} now`,
    );
  const { head } = saved.ledger;
  const sorted = records.toSorted(byPlace);
  const used = sorted.find((record) => matchesHash(saved.id, savedPlanOf(record)));
  if (used !== undefined && state.late.length === 0 && migrationsOf(saved.plan).every(isEndedIn(saved, state)))
    return true;
  // Records up to the head are counted, because a late record of an older epoch is not the newest one.
  const known = head === null ? 0 : sorted.findIndex((record) => recordIdText(record) === head.record) + 1;
  const own = new Set(sorted.flatMap((record) => (matchesHash(saved.id, savedPlanOf(record)) ? [record.run] : [])));
  const isKept = canonicalJson(headOf(sorted.slice(0, known), hashOf)) === canonicalJson(head);
  if (isKept && sorted.slice(known).every((record) => own.has(record.run) || changesNothing(record))) return false;
  const newest = sorted.at(-1);
  const what =
    newest === undefined ? "the ledger is empty" : `record ${recordIdText(newest)} is ${newest.event}, by ${newest.by}`;
  const other = `another run has written to the ledger since: ${what}`;
  if (used === undefined) throw planStale(saved.plan, "ledger", other);
  const first = `it was used already, in epoch ${used.epoch} of the ledger, by ${used.by}`;
  throw planStale(saved.plan, "used", `${first}, and ${other}`);
}

/** Whether the migration is as the plan leaves it. */
function isEndedIn({ plan }: Pick<SavedPlan, "plan">, { migrations }: LedgerState) {
  return ({ version, checksum }: Pick<Migration, "version" | "checksum">) => {
    const known = migrations.get(version);
    if (plan.direction === "down") return known === undefined;
    return known?.status === "applied" && matchesHash(checksum, known.checksum);
  };
}

/** A run that stopped or was killed before it began anything leaves only such records. */
function changesNothing(record: LedgerRecord): boolean {
  const isOfPlan = savedPlanOf(record) !== undefined;
  return (
    ["taken", "renewed", "released", "looked", "noted"].includes(record.event) &&
    !isOfPlan &&
    (groupOf(record) ?? []).length === 0
  );
}

/** `migrations`: those of the plan that still have a file, as it is now. Throws ERR_PLAN_STALE. */
export function checkFiles({ plan }: SavedPlan, migrations: readonly Migration[]): void {
  for (const { version, file, checksum, steps } of migrationsOf(plan)) {
    const now = migrations.find((migration) => migration.version === version);
    if (now === undefined) throw planStale(plan, "files", `${file} is not there any more`);
    if (now.checksum === checksum) continue;
    const change = changeOfSteps(now.steps, steps, "was planned");
    throw planStale(plan, "files", `${now.file} was changed: ${change}`);
  }
}

/**
 * The planned actions that have begun. `now`: a plan made from the current state. Throws ERR_PLAN_STALE if it is not
 * what is left of the saved one.
 */
export function checkPlan(saved: SavedPlan, now: PlanDocument, state: LedgerState): readonly DocumentAction[] {
  const { plan, choice } = saved;
  const [planned, found] = [migrationsOf(plan), migrationsOf(now)];
  const added = found.find(({ version }) => !planned.some((one) => one.version === version));
  if (added !== undefined) throw planStale(plan, "files", `${added.file} is not in it, and would be ${endOf(now)} too`);
  const isEnded = isEndedIn(saved, state);
  const begun = planned.filter(isEnded).flatMap(({ actions }) => actions);
  for (const [index, { file, ...was }] of planned.filter((one) => !isEnded(one)).entries()) {
    const is = found[index];
    const done = Math.max(0, (is?.done ?? 0) - was.done);
    const left = was.actions.slice(done);
    // The commits that are left of an action between two of them are others than all.
    const { midway, reversal } = state.migrations.get(was.version) ?? {};
    const isMidway = (plan.direction === "up" ? midway : reversal?.midway) !== undefined;
    begun.push(...was.actions.slice(0, done + (isMidway ? 1 : 0)));
    const essenceAt = (actions: readonly DocumentAction[] | undefined, at: number) =>
      essence(actions?.[at], isMidway && at === 0, choice);
    const at = left.findIndex((_, at) => essenceAt(left, at) !== essenceAt(is?.actions, at));
    const isOther = at !== -1 || was.version !== is?.version || left.length !== is.actions.length;
    if (!isOther) continue;
    const which = at === -1 ? "" : `, step ${left[at]!.step}`;
    throw planStale(plan, "actions", `by now ${file}${which} would be ${endOf(now)} otherwise than planned`);
  }
  return begun;
}

/**
 * What an action executes, without its texts and estimates. Each write makes another version from which a table is restored.
 * Unless their loss is accepted, the run checks what was written.
 */
function essence(planned: DocumentAction | undefined, isMidway: boolean, choice: SavedPlan["choice"]): string {
  const withoutStart = (action: unknown): unknown =>
    isObject(action) && restoring.has(action["kind"]) && !acceptsLoss(choice)
      ? { ...action, after: undefined }
      : action;
  const commits = isMidway ? undefined : planned?.commits?.map(({ action }) => withoutStart(action));
  return canonicalJson([withoutStart(planned?.action), commits]);
}

const restoring: ReadonlySet<unknown> = new Set(["restoreTable", "putBackRows"]);

function endOf({ direction }: PlanDocument): string {
  return direction === "up" ? "applied" : "rolled back";
}

export function planCommand({ direction }: PlanDocument): string {
  return `migrate plan ${direction === "up" ? "" : "--down "}--out FILE`;
}

/** Turns drift into ERR_PLAN_STALE: the table was as expected when the plan was saved. Keeps other errors. */
export function asStale({ plan }: SavedPlan, error: unknown): unknown {
  if (!isMigrateError(error, "ERR_DRIFT")) return error;
  const { table, differences } = error.details;
  return planStale(plan, "table", `table ${table} has another schema by now: ${differences.join("; ")}`);
}

export function planStale(
  plan: PlanDocument,
  changed: "target" | "used" | "ledger" | "files" | "table" | "actions",
  problem: string,
  hint?: string,
): MigrateError {
  return new MigrateError("ERR_PLAN_STALE", {
    changed,
    problem,
    hint: hint ?? `make a new one with ${planCommand(plan)}`,
  });
}
