/** Taking migrations back: the story of `down`, which goes as that of `up` does. */
import { MigrateError } from "../errors.ts";
import { systemClock } from "../clock.ts";
import { appliedIn, inDoubt, foldLedger, type LedgerState } from "../ledger/fold.ts";
import type { Journal } from "../ledger/journal.ts";
import { journalOf } from "../ledger/journals.ts";
import type { MigrationFile } from "../migrations/files.ts";
import { checkSettled, orderBack, type BackChoice } from "../plan/back.ts";
import { checkMissing } from "../plan/history.ts";
import type { Plan } from "../plan/plan.ts";
import { plannedEvent } from "./events.ts";
import { execute } from "./executor.ts";
import { checkObstacles, type Consent } from "./in-the-way.ts";
import { lookAtLate } from "./late.ts";
import type { MigratorOptions } from "./migrator.ts";
import { planChosen, planUnlessMoved, type Planned } from "./planning.ts";
import { thisRunner } from "./runner.ts";
import { underLease } from "./under-lease.ts";
import { throwIfInterrupted } from "./waiting.ts";

export interface DownChoice extends BackChoice, Consent {}

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
  checkConsent(choice);
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
  checkConsent(choice);
  const files = source.list();
  const journal = journalOf(target, ledger, options.clock);
  for (;;) {
    throwIfInterrupted(signal);
    const state = foldLedger(await journal.read());
    const planned = await planBack(journal, files, state, choice, { ...options, runner }, state.holder !== undefined);
    if (planned !== undefined) return planned.plan;
  }
}

function checkConsent({ acceptLoss, keepAppended }: Consent): void {
  if (acceptLoss === true && keepAppended === true)
    throw new MigrateError("ERR_USAGE", { problem: "acceptLoss and keepAppended say two things; use one of them" });
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
    return await planChosen(orderBack(state, files, choice), "down", input, choice.acceptLoss !== true);
  });
  if (planned !== undefined) await checkObstacles(planned.plan, target, choice);
  return planned;
}
