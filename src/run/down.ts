/** Taking migrations back: the story of `down`, which goes as that of `up` does. */
import { MigrateError } from "../errors.ts";
import { systemClock } from "../clock.ts";
import { appliedIn, inDoubt, foldLedger, type LedgerState } from "../ledger/fold.ts";
import type { Journal } from "../ledger/journal.ts";
import { journalOf } from "../ledger/journals.ts";
import type { MigrationFile } from "../migrations/files.ts";
import { checkSettled, orderBack, type BackChoice } from "../plan/back.ts";
import { checkMissing } from "../plan/history.ts";
import { questionsOf, type Question } from "../plan/obstacles.ts";
import type { Plan } from "../plan/plan.ts";
import type { Target } from "../targets/target.ts";
import { plannedEvent } from "./events.ts";
import { execute } from "./executor.ts";
import { lookAtLate } from "./late.ts";
import type { MigratorOptions } from "./migrator.ts";
import { planChosen, planUnlessMoved, type Planned } from "./planning.ts";
import { thisRunner } from "./runner.ts";
import { underLease } from "./under-lease.ts";
import { throwIfInterrupted } from "./waiting.ts";

export interface DownChoice extends BackChoice {
  /** Lose what was written since into what is taken away. */
  readonly acceptLoss?: boolean | undefined;
}

export interface DownResult {
  /** How many migrations were taken back. */
  readonly reverted: number;
  /** How many are applied now. */
  readonly total: number;
}

/** Takes back what ran last. Throws a MigrateError; by then as much is done as the ledger says. */
export async function down(options: MigratorOptions, choice: DownChoice = {}): Promise<DownResult> {
  const { target, migrations: source, ledger, signal, emit = () => {} } = options;
  const { clock = systemClock, runner = thisRunner() } = options;
  const started = clock.steady();
  const files = source.list();
  const journal = journalOf(target, ledger, options.clock);
  const result = await underLease(
    journal,
    { ...options, runner },
    {
      async settled(state) {
        const isNothing = orderBack(state, files, choice).length === 0;
        return isNothing && state.late.length === 0 ? { reverted: 0, total: appliedIn(state).length } : undefined;
      },
      async prepare({ state }) {
        const planned = await planBack(journal, files, state, choice, { ...options, runner }, false);
        if (planned === undefined) return undefined;
        const { plan, migrations } = planned;
        return {
          // Nothing is in doubt before it is recorded that it is being taken back.
          first: undefined,
          async act(lease) {
            emit(plannedEvent(plan, "down"));
            const opening = await lookAtLate(state.late, { emit, target, clock, lease, plan, state, migrations });
            if (opening.length > 0) await lease.record(opening);
            const back = new Set(plan.migrations.map(({ migration }) => migration.version));
            const left = appliedIn(state).filter(({ version }) => !back.has(version));
            return {
              reverted: await execute(plan.migrations, { target, lease, clock, emit, signal }),
              total: left.length,
            };
          },
        };
      },
    },
  );
  emit({ event: "finished", reverted: result.reverted, duration: Math.round(clock.steady() - started) });
  return result;
}

/** What `down` would do, against the tables as they are now. Changes nothing. */
export async function planDown(options: MigratorOptions, choice: DownChoice = {}): Promise<Plan> {
  const { target, ledger, migrations: source, runner = thisRunner(), signal } = options;
  const files = source.list();
  const journal = journalOf(target, ledger, options.clock);
  for (;;) {
    throwIfInterrupted(signal);
    const state = foldLedger(await journal.read());
    const planned = await planBack(journal, files, state, choice, { ...options, runner }, state.holder !== undefined);
    if (planned !== undefined) return planned.plan;
  }
}

async function planBack(
  journal: Journal,
  files: readonly MigrationFile[],
  state: LedgerState,
  choice: DownChoice,
  { target, ledger, migrations: source, runner }: MigratorOptions & Required<Pick<MigratorOptions, "runner">>,
  besideAnother: boolean,
): Promise<Planned | undefined> {
  const input = { target, ledger, source, files, state, run: runner.run, besideAnother };
  const planned = await planUnlessMoved(journal, input, async () => {
    checkMissing(files, state);
    checkSettled(state, inDoubt(state, runner.run), target.capabilities);
    return await planChosen(orderBack(state, files, choice), "down", input);
  });
  if (planned !== undefined) await checkObstacles(planned.plan, target, choice.acceptLoss === true);
  return planned;
}

/** Refuses where rows stand in the way, before anything is changed. Throws ERR_ROLLBACK_BLOCKED. */
async function checkObstacles(plan: Plan, target: Target, acceptLoss: boolean): Promise<void> {
  const found: { readonly words: string; readonly mayLose: boolean }[] = [];
  for (const question of questionsOf(plan)) {
    const { allowed, words, mayLose, isRefused, wasAsked } = question;
    if (mayLose && acceptLoss) continue;
    const rows = await rowsInTheWay(question, target);
    if (rows === undefined) {
      // Nobody can tell, so nothing but their consent lets it go on.
      if (!(isRefused || wasAsked || acceptLoss)) found.push({ words: words(undefined), mayLose: true });
    } else if (rows > allowed) found.push({ words: words(rows), mayLose });
  }
  if (found.length === 0) return;
  const isBegun = plan.migrations.some(({ done, midway }) => done > 0 || midway !== undefined);
  const hint = found.every(({ mayLose }) => mayLose)
    ? "pass --accept-loss to lose that"
    : `${isBegun ? "" : "nothing was taken back; "}change these rows first`;
  throw new MigrateError("ERR_ROLLBACK_BLOCKED", { problems: found.map(({ words }) => words), hint });
}

/** Undefined where they can't be counted. */
async function rowsInTheWay(
  { place, asks, wasAsked }: Question,
  { count, explain }: Target,
): Promise<number | undefined> {
  if (count === undefined) return undefined;
  let failure: unknown;
  for (const { table, predicate } of asks)
    try {
      return await count(table, predicate);
    } catch (error) {
      failure = error;
    }
  if (failure === undefined || wasAsked) return undefined;
  const problem = `its rows can't be looked at: ${explain(failure)}`;
  throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...place, problem }, { cause: failure });
}
