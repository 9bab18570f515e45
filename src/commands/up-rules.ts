/** What a run upward does differently from a rollback. The run itself is in run.ts. */
import { sameRecord, type LedgerHead } from "../ledger/journal/journal.ts";
import { saysApplied } from "../ledger/state/record.ts";
import type { MigrationFile } from "../migrations/list-files.ts";
import {
  begunElsewhere,
  checkBegun,
  checkNotReverting,
  checkUnchanged,
  chosenFiles,
  missingFiles,
  pendingFiles,
  type RunChoice,
} from "../plan/history/pending.ts";
import { acceptedOf, withRefusals } from "../plan/assess/guards.ts";
import type { Plan } from "../plan/make-plan.ts";
import { withPlanChecks } from "../run/plan-check.ts";
import { countingOnce } from "../run/prepare/count-once.ts";
import { countLost } from "../run/check/count-lost.ts";
import { costs } from "../run/prepare/estimate.ts";
import { firstFailure, withKnownFailures } from "../run/prepare/find-known-failures.ts";
import { loadChanged } from "../run/prepare/load-changed.ts";
import { planPending } from "../run/prepare/plan-run.ts";
import { computingOf, type RunContext } from "../run/run-context.ts";
import type { RunKind, Rules } from "./run.ts";

export const upRun: RunKind<RunChoice> = { direction: "up", rules: upRules };

function upRules(choice: RunChoice, context: RunContext, files: readonly MigrationFile[]): Rules {
  const { target, migrations: source, emit, guards } = context;
  const asked = countingOnce(target);
  const chosen = chosenFiles(files, choice);
  let first: LedgerHead | undefined;
  return {
    async isNothing({ state }) {
      checkNotReverting(state);
      if (pendingFiles(chosen, state).length > 0 || state.late.length > 0) return false;
      checkBegun(files, state, state.holder);
      // A holder at a migration whose file is not here may be dead. Wait until one more record shows that it is not.
      first ??= state.head;
      if (begunElsewhere(files, state).length > 0 && sameRecord(first, state.head)) return false;
      checkUnchanged(await loadChanged(source, files, state), state, target.capabilities);
      const missing = missingFiles(files, state).map(({ version, name }) => ({ version, name }));
      if (missing.length > 0) emit({ event: "missing", migrations: missing, bundle: files[0]?.bundle });
      return true;
    },
    until(state) {
      const last = pendingFiles(chosen, state).at(-1)?.version;
      if (last === undefined) return state.late.length > 0 ? undefined : () => true;
      return (seen) => saysApplied(seen) && (seen.version ?? 0) >= last;
    },
    plan: (input) => planPending(input, choice),
    withRefusals: (plan, isFirstTried) => withAllRefusals(plan, { ...context, target: asked }, choice, isFirstTried),
    checkAfterRefusal: (plan, cause) => firstFailure(plan, asked, cause),
    mayLoseVersion: ({ migration }) =>
      guards === undefined || acceptedOf(migration, guards, choice.accept).has("irreversible"),
  };
}

/** With the refusals by guards, missing code, known failures and the checks of features. */
export async function withAllRefusals(
  plan: Plan,
  context: RunContext,
  { accept }: RunChoice,
  isFirstTried: boolean,
): Promise<Plan> {
  const { guards, target } = context;
  const limited = guards?.maxRewriteBytes === undefined ? undefined : await costs(plan, context);
  const refused =
    guards === undefined ? plan : withRefusals(plan, guards, accept, await countLost(plan, target), limited);
  const { withMissingCode } = await computingOf(context);
  const checked = await withKnownFailures(await withMissingCode(refused, context), context, isFirstTried);
  return await withPlanChecks(checked, "up", context);
}
