/** Tries a plan on a copy: runs each pending migration up, down and up again, and compares the tables in between. */
import { interruptedEarly, isMigrateError, MigrateError, placeWords } from "../../errors/migrate-error.ts";
import { appliedIn } from "../../ledger/state/ledger-state.ts";
import { formatMigration, type MigrationName } from "../../migrations/file-name.ts";
import type { Choice } from "../../plan/history/pending.ts";
import type { MigrationSource } from "../../migrations/source.ts";
import { mayHaveBegun } from "../../plan/history/progress.ts";
import type { Plan, PlannedMigration } from "../../plan/make-plan.ts";
import {
  isToTry,
  judge,
  rollbackTexts,
  timesOf,
  type Judged,
  type RollbackVerdict,
  type Timed,
  type Trial,
} from "./judge-rollback.ts";
import { refusalIn } from "../../plan/assess/guards.ts";
import type { Refusal } from "../../plan/refusal.ts";
import type { NewTables } from "../../schema/table-format.ts";
import type { Scratch } from "../../targets/contract/target.ts";
import { down } from "../../commands/down.ts";
import type { RunEvent } from "../../run/events.ts";
import { up } from "../../commands/up.ts";
import { upRun } from "../../commands/up-rules.ts";
import { planOn, type PlannedOn } from "../../commands/run.ts";
import { computingOf, runContext, type MigratorOptions } from "../../run/run-context.ts";
import { alone, describeScratch } from "../shared/scratch-snapshots.ts";
import { touchedTables } from "../../plan/reconcile/reconcile.ts";
import { fillCopy, inPlaceOf, type CopiedTable } from "./scratch-copy.ts";
import type { StepSample } from "../../run/computed.ts";
import { throwIfInterrupted } from "../../run/lease/wait-for-lease.ts";

export interface RehearsalChoice extends Choice {
  /** The number of rows to generate for each table that can't be cloned; 1,000 by default. */
  readonly rows?: number | undefined;
  /**
   * On how many rows of the real table the code of each step that computes values is tried. No code runs when absent.
   */
  readonly sample?: number | undefined;
}

export interface Rehearsal {
  readonly tables: readonly CopiedTable[];
  /** The migrations that were tried, in the order in which they ran. */
  readonly migrations: readonly RehearsedMigration[];
  /** The migrations that were not reached, because an earlier one stopped the rehearsal. */
  readonly unreached: readonly MigrationName[];
  /**
   * ERR_STEP_WOULD_FAIL if that is known in advance. ERR_REHEARSAL if a promise is not kept, a rollback is blocked, or a
   * step fails on the copy. Otherwise the error with which `up` would refuse the plan.
   */
  readonly problem: MigrateError | undefined;
}

export interface RehearsedMigration extends MigrationName {
  readonly steps: readonly RehearsedStep[];
  /** Milliseconds that `up`, `down` and the second `up` took; undefined for one that did not end. */
  readonly durations: Readonly<Record<"up" | "down" | "again", number | undefined>>;
}

export interface RehearsedStep extends Judged {
  /** Counted from 1. */
  readonly step: number;
  readonly kind: string | undefined;
  /** The action as text. */
  readonly text: string;
  /** Why the real `up` would refuse it. */
  readonly refusal: Refusal | undefined;
  /** What its code did on some rows, if that was wanted and code of the project computes values. */
  readonly sample?: StepSample | undefined;
  /** Milliseconds; undefined if unknown. */
  readonly up: number | undefined;
  readonly down: number | undefined;
}

/** Changes nothing on the target. Throws what `plan` throws, and ERR_REHEARSAL_BEGUN. */
export async function rehearse(
  options: MigratorOptions,
  { rows = 1_000, sample, ...choice }: RehearsalChoice,
  openScratch: (newTables?: NewTables) => Promise<Scratch>,
): Promise<Rehearsal> {
  const planned = await planOn(runContext(options), upRun, choice);
  if (planned.plan.migrations.length === 0) return { tables: [], migrations: [], unreached: [], problem: undefined };
  checkNotBegun(planned.plan);
  const scratch = await openScratch(options.target.newTables);
  const { stopped, ...outcome } = await runOn(scratch, options, planned, rows).finally(() => scratch.target.close());
  const { plan } = planned;
  const reached = plan.migrations.slice(0, outcome.migrations.length);
  const samples =
    sample === undefined ? new Map() : await (await computingOf(options)).sampleSteps(options, plan, reached, sample);
  const migrations = outcome.migrations.map((one, index) => ({
    ...one,
    steps: one.steps.map((step, at) => ({ ...step, sample: samples.get(reached[index]!.actions[at]!) })),
  }));
  const refusal = refusalIn(plan, options.target.name, "migrate up");
  return {
    ...outcome,
    migrations,
    unreached: plan.migrations
      .slice(outcome.migrations.length)
      .map(({ migration: { version, name } }) => ({ version, name })),
    problem: isMigrateError(refusal, "ERR_STEP_WOULD_FAIL")
      ? refusal
      : (problemOf(migrations, stopped, options.target.name) ?? refusal),
  };
}

/** Throws ERR_REHEARSAL_BEGUN if a migration has or may have begun: the tables before it can't be seen any more. */
function checkNotBegun({ migrations }: Plan): void {
  const begun = migrations.find(mayHaveBegun);
  if (begun !== undefined) throw new MigrateError("ERR_REHEARSAL_BEGUN", { version: formatMigration(begun.migration) });
}

interface RehearsalOutcome extends Pick<Rehearsal, "tables" | "migrations"> {
  /** Why the rehearsal stopped early; undefined if it did not, or if a verdict already reports the reason. */
  readonly stopped: string | undefined;
}

async function runOn(
  scratch: Scratch,
  options: MigratorOptions,
  planned: PlannedOn,
  rows: number,
): Promise<RehearsalOutcome> {
  const filled = await outcomeOf(() => fillCopy(options, planned, rows, scratch));
  if ("error" in filled) return { tables: [], migrations: [], stopped: describeError(filled.error) };
  const migrations: RehearsedMigration[] = [];
  const target = inPlaceOf(options.target, scratch.target);
  for (const [index, one] of planned.plan.migrations.entries()) {
    throwIfInterrupted(options.signal);
    // Code may cost money for each row.
    const stage = { ...options, ...alone, runsCode: false, target, migrations: sourceUpTo(planned, index) };
    const { ended, ...rehearsed } = await rehearseOne(scratch, stage, one);
    migrations.push(rehearsed);
    if (ended !== undefined) return { tables: filled.value, migrations, stopped: ended.stopped };
  }
  return { tables: filled.value, migrations, stopped: undefined };
}

/** The applied migrations, and those of the plan up to `index`. */
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
  /** Set if the rehearsal can't continue, because the state of the copy is unknown. */
  readonly ended: Pick<RehearsalOutcome, "stopped"> | undefined;
}

async function rehearseOne(scratch: Scratch, stage: MigratorOptions, planned: PlannedMigration): Promise<RehearsedOne> {
  const tables = touchedTables({ migrations: [planned], now: new Map() });
  const describe = async () => await describeScratch(scratch, tables);
  const upward = async () => await timed(stage, (options) => up(options, { allowOutOfOrder: true }));
  const before = await describe();
  const there = await upward();
  const result = (trial: Trial, ended: RehearsedOne["ended"], back?: CopyRun, again?: CopyRun): RehearsedOne => {
    const { actions, migration } = planned;
    const judged = judge(planned, trial);
    const up = timesOf(
      actions.map(({ text }) => [text]),
      there.actions,
    );
    const down = timesOf(
      actions.map((action) => rollbackTexts(action, before)),
      back?.actions ?? [],
    );
    return {
      version: migration.version,
      name: migration.name,
      steps: actions.map(({ place: { step, kind }, text, refusal }, index) => ({
        step,
        kind,
        text,
        ...judged[index]!,
        refusal,
        up: up[index],
        down: down[index],
      })),
      durations: { up: there.duration, down: back?.duration, again: again?.duration },
      ended,
    };
  };
  if (there.error !== undefined) {
    const stopped = describeError(there.error);
    return result({ kind: "untried", reason: "up did not come to its end" }, { stopped });
  }
  if (!isToTry(planned)) return result({ kind: "untried", reason: undefined }, undefined);
  const after = await describe();
  const back = await timed(stage, (options) => down(options, { steps: 1 }));
  if (back.error !== undefined) {
    const problem = describeError(back.error);
    if (back.error.code !== "ERR_ROLLBACK_BLOCKED")
      return result({ kind: "failed", problem }, { stopped: undefined }, back);
    return result({ kind: "refused", problem, after, left: await describe() }, undefined, back);
  }
  const left = await describe();
  const again = await upward();
  const trial = { kind: "back", before, after, back: left } as const;
  if (again.error !== undefined)
    return result({ ...trial, again: describeError(again.error) }, { stopped: undefined }, back);
  return result({ ...trial, again: await describe() }, undefined, back, again);
}

/** What a run on the copy did, and what stopped it. */
interface CopyRun {
  readonly actions: readonly Timed[];
  /** Milliseconds for the migration; undefined if it did not end. */
  readonly duration: number | undefined;
  readonly error: MigrateError | undefined;
}

async function timed(stage: MigratorOptions, run: (options: MigratorOptions) => Promise<unknown>): Promise<CopyRun> {
  const actions: Timed[] = [];
  let duration: number | undefined;
  const emit = (event: RunEvent) => {
    if (event.event === "done") actions.push({ text: event.text, duration: event.duration });
    if (event.event === "applied" || event.event === "reverted") duration = event.duration;
    if (event.event === "action" || event.event === "running" || event.event === "done") stage.emit?.(event);
  };
  const outcome = await outcomeOf(() => run({ ...stage, emit }));
  return { actions, duration, error: "error" in outcome ? outcome.error : undefined };
}

/** Returns a MigrateError as a value. Throws an interruption, which is no result of the rehearsal. */
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

/** The message, without the advice on how to resume a failed run, which does not apply to a copy. */
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
  const reasonsOf = (wanted: RollbackVerdict, consequence: string) =>
    migrations.flatMap(({ steps, ...name }) => {
      const reasons = steps.flatMap(({ verdict, reason }) => (verdict === wanted ? [reason] : []));
      return [...new Set(reasons)].map((reason) => `${formatMigration(name)}${consequence}: ${reason}`);
    });
  const problems = [
    ...reasonsOf("broken", ""),
    ...reasonsOf("refused", " can't be rolled back with the rows that exist now"),
    ...(stopped === undefined ? [] : [stopped]),
    ...migrations.flatMap(({ steps, ...name }) =>
      steps.flatMap(({ sample }) =>
        sample === undefined || "untried" in sample || sample.failure === undefined
          ? []
          : [`${formatMigration(name)}: ${sample.failure}`],
      ),
    ),
  ];
  return problems.length === 0 ? undefined : new MigrateError("ERR_REHEARSAL", { target, problems });
}
