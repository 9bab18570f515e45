/** Trying the plan on a copy: each pending migration goes up, down and up again, and everything is compared in between. */
import { isMigrateError, MigrateError, placeWords } from "../../errors/migrate-error.ts";
import { appliedIn } from "../../ledger/state/fold.ts";
import { formatMigration, type MigrationName } from "../../migrations/file-name.ts";
import type { Choice } from "../../plan/history/pending.ts";
import type { MigrationSource } from "../../migrations/source.ts";
import type { Plan, PlannedMigration } from "../../plan/make-plan.ts";
import { isToTry, judge, timesBack, timesOf, type Judged, type Timed, type Trial } from "./judge-rollback.ts";
import type { Refusal } from "../../plan/refusal.ts";
import type { NewTables } from "../../schema/table-format.ts";
import type { Scratch } from "../../targets/contract/target.ts";
import type { Draw } from "../../wire/rows/sample-values.ts";
import { down } from "../down.ts";
import type { RunEvent } from "../../run/events.ts";
import { up } from "../up.ts";
import { planOn, type PlannedOn } from "../plan.ts";
import type { MigratorOptions } from "../../run/options.ts";
import { fillCopy, inPlaceOf, describeCopy, type CopiedTable, type CopyWanted } from "./scratch-copy.ts";
import { interruptedEarly, throwIfInterrupted } from "../../run/lease/wait-for-lease.ts";

export interface RehearsalChoice extends Choice {
  /** Rows to make up for each table that can't be cloned; 1,000 by default. */
  readonly rows?: number | undefined;
}

export interface Rehearsal {
  readonly tables: readonly CopiedTable[];
  /** In the order in which they ran, as far as that went. */
  readonly migrations: readonly RehearsedMigration[];
  /** Those that come after one that did not go on. */
  readonly unreached: readonly MigrationName[];
  /** Why made-up rows that hold edge values were left for plain ones: what such a value stops. */
  readonly stoppedByEdges: string | undefined;
  /** What would go wrong: a promise that is not kept, or a step that fails. ERR_REHEARSAL. */
  readonly problem: MigrateError | undefined;
}

export interface RehearsedMigration extends MigrationName {
  readonly steps: readonly RehearsedStep[];
  /** Milliseconds of `up`, `down` and `up` again, as far as they ended. */
  readonly durations: Readonly<Record<"up" | "down" | "again", number | undefined>>;
}

export interface RehearsedStep extends Judged {
  /** Counted from 1. */
  readonly step: number;
  readonly kind: string | undefined;
  /** The action in words. */
  readonly text: string;
  /** Why the real `up` would not run it. */
  readonly refusal: Refusal | undefined;
  /** Milliseconds, as far as they are known. */
  readonly up: number | undefined;
  readonly down: number | undefined;
}

/** Changes nothing on the target. Throws what `plan` throws, and ERR_REHEARSAL_BEGUN. */
export async function rehearse(
  options: MigratorOptions,
  { rows = 1_000, ...choice }: RehearsalChoice,
  openScratch: (newTables?: NewTables) => Promise<Scratch>,
): Promise<Rehearsal> {
  const planned = await planOn(options, choice);
  if (planned.plan.migrations.length === 0)
    return { tables: [], migrations: [], unreached: [], stoppedByEdges: undefined, problem: undefined };
  checkNotBegun(planned.plan);
  const onCopy = async (draw: Draw): Promise<Outcome> => {
    const scratch = await openScratch(options.target.newTables);
    try {
      return await runOn(scratch, options, planned, { rows, draw });
    } finally {
      await scratch.target.close();
    }
  };
  const first = await onCopy("edges");
  // Live rows need not hold what was made up to be hard: whether the steps themselves work is another question.
  const isMadeUp = first.stopped !== undefined && options.target.copyTo === undefined && rows > 0;
  const { stopped, ...outcome } = isMadeUp ? await onCopy("plain") : first;
  return {
    ...outcome,
    unreached: planned.plan.migrations
      .slice(outcome.migrations.length)
      .map(({ migration: { version, name } }) => ({ version, name })),
    stoppedByEdges: isMadeUp ? first.stopped : undefined,
    problem: problemOf(outcome.migrations, stopped, options.target.name),
  };
}

/** Of what has begun nobody could see how it was before. */
function checkNotBegun({ migrations }: Plan): void {
  const begun = migrations.find(({ done, midway, doubtful }) => done > 0 || midway !== undefined || doubtful);
  if (begun !== undefined) throw new MigrateError("ERR_REHEARSAL_BEGUN", { version: formatMigration(begun.migration) });
}

interface Outcome extends Pick<Rehearsal, "tables" | "migrations"> {
  /** Why it ended before its end, where no promise is broken by that. */
  readonly stopped: string | undefined;
}

async function runOn(
  scratch: Scratch,
  options: MigratorOptions,
  planned: PlannedOn,
  wanted: CopyWanted,
): Promise<Outcome> {
  const filled = await outcomeOf(() => fillCopy(options, planned, wanted, scratch));
  if ("error" in filled) return { tables: [], migrations: [], stopped: describeError(filled.error) };
  const migrations: RehearsedMigration[] = [];
  const target = inPlaceOf(options.target, scratch.target);
  for (const [index, one] of planned.plan.migrations.entries()) {
    throwIfInterrupted(options.signal);
    const stage = { ...options, ...alone, target, migrations: sourceUpTo(planned, index) };
    const { ended, ...rehearsed } = await rehearseOne(scratch, stage, one);
    migrations.push(rehearsed);
    if (ended !== undefined) return { tables: filled.value, migrations, stopped: ended.stopped };
  }
  return { tables: filled.value, migrations, stopped: undefined };
}

/** Nobody else is at a copy, so however slow the machine is, its lease does not run out; and nothing is lost there. */
const alone = { lease: { duration: 3_600_000, patience: 0 }, guards: undefined };

/** What is applied, and what the plan has up to one of its migrations. */
function sourceUpTo({ files, migrations, plan, state }: PlannedOn, index: number): MigrationSource {
  const next = plan.migrations.slice(0, index + 1).map(({ migration }) => migration.version);
  const known = new Set([...appliedIn(state).map(({ version }) => version), ...next]);
  const loaded = new Map(migrations.map((migration) => [migration.version, migration]));
  return {
    list: () => files.filter(({ version }) => known.has(version)),
    load: async ({ version }) => loaded.get(version)!,
  };
}

interface RehearsedOne extends RehearsedMigration {
  /** Set where nothing can come after it: nobody knows how the copy was left. */
  readonly ended: Pick<Outcome, "stopped"> | undefined;
}

async function rehearseOne(scratch: Scratch, stage: MigratorOptions, planned: PlannedMigration): Promise<RehearsedOne> {
  const look = async () => await describeCopy(scratch, planned);
  const upward = async () => await timed(stage, (options) => up(options, { allowOutOfOrder: true }));
  const before = await look();
  const there = await upward();
  const result = (trial: Trial, ended: RehearsedOne["ended"], back?: Ran, again?: Ran): RehearsedOne => ({
    version: planned.migration.version,
    name: planned.migration.name,
    steps: stepsOf(planned, judge(planned, trial), there, back),
    durations: { up: there.duration, down: back?.duration, again: again?.duration },
    ended,
  });
  if (there.error !== undefined) {
    const stopped = describeError(there.error);
    return result({ kind: "untried", reason: "up did not come to its end" }, { stopped });
  }
  if (!isToTry(planned)) return result({ kind: "untried", reason: undefined }, undefined);
  const after = await look();
  const back = await timed(stage, (options) => down(options, { steps: 1 }));
  if (back.error !== undefined) {
    const problem = describeError(back.error);
    if (back.error.code !== "ERR_ROLLBACK_BLOCKED")
      return result({ kind: "failed", problem }, { stopped: undefined }, back);
    return result({ kind: "refused", problem, after, left: await look() }, undefined, back);
  }
  const left = await look();
  const again = await upward();
  if (again.error !== undefined)
    return result(
      { kind: "back", before, after, back: left, again: describeError(again.error) },
      { stopped: undefined },
      back,
    );
  return result({ kind: "back", before, after, back: left, again: await look() }, undefined, back, again);
}

function stepsOf(
  { actions }: PlannedMigration,
  judged: readonly Judged[],
  there: Ran,
  back: Ran | undefined,
): readonly RehearsedStep[] {
  const [times, timesUp] = [timesBack(actions, back?.actions ?? []), timesOf(actions, there.actions)];
  return actions.map(({ place, text, refusal }, index) => ({
    step: place.step,
    kind: place.kind,
    text,
    ...judged[index]!,
    refusal,
    up: timesUp[index],
    down: times[index],
  }));
}

/** What a run on the copy did, and what stopped it. */
interface Ran {
  readonly actions: readonly Timed[];
  /** Of the migration, where it came to its end. */
  readonly duration: number | undefined;
  readonly error: MigrateError | undefined;
}

async function timed(stage: MigratorOptions, run: (options: MigratorOptions) => Promise<unknown>): Promise<Ran> {
  const actions: Timed[] = [];
  let duration: number | undefined;
  const emit = (event: RunEvent) => {
    if (event.event === "done") actions.push({ text: event.text, duration: event.duration });
    if (event.event === "applied" || event.event === "reverted") duration = event.duration;
    if (event.event === "action" || event.event === "running") stage.emit?.(event);
  };
  const outcome = await outcomeOf(() => run({ ...stage, emit }));
  return { actions, duration, error: "error" in outcome ? outcome.error : undefined };
}

/** What interrupts a rehearsal is thrown: it says nothing of the copy. */
async function outcomeOf<Value>(
  work: () => Promise<Value>,
): Promise<{ readonly value: Value } | { readonly error: MigrateError }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (isMigrateError(error, "ERR_INTERRUPTED")) throw interruptedEarly();
    if (!isMigrateError(error)) throw error;
    return { error };
  }
}

/** How to go on after a failed run is nothing to say of one on a copy. */
function describeError(error: MigrateError): string {
  if (!isMigrateError(error, "ERR_STEP_FAILED")) return error.message;
  const { problem, ...place } = error.details;
  return `${placeWords(place)} failed: ${problem}`;
}

function problemOf(
  migrations: readonly RehearsedMigration[],
  stopped: string | undefined,
  target: string,
): MigrateError | undefined {
  const broken = migrations.flatMap(({ steps, ...name }) => {
    const reasons = steps.flatMap(({ verdict, reason }) => (verdict === "broken" ? [reason] : []));
    return [...new Set(reasons)].map((reason) => `${formatMigration(name)}: ${reason}`);
  });
  const refused = migrations.flatMap(({ steps, ...name }) => {
    const reasons = steps.flatMap(({ verdict, reason }) => (verdict === "refused" ? [reason] : []));
    return [...new Set(reasons)].map(
      (reason) => `${formatMigration(name)} can't be rolled back with the rows that exist now: ${reason}`,
    );
  });
  const problems = [...broken, ...refused, ...(stopped === undefined ? [] : [stopped])];
  return problems.length === 0 ? undefined : new MigrateError("ERR_REHEARSAL", { target, problems });
}
