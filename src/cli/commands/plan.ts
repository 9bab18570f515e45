import type { DownChoice } from "../../commands/down.ts";
import { planDown, planToShow, savePlan, savePlanDown } from "../../commands/plan.ts";
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { refusalIn } from "../../plan/assess/guards.ts";
import type { Choice, RunChoice } from "../../plan/history/pending.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import { migrationsOf, planDocument, type PlanDocument } from "../../plan/document/plan-document.ts";
import type { SavedPlan } from "../../plan/document/saved-plan.ts";
import { survey } from "../../run/prepare/estimate.ts";
import { computingOf, type MigratorOptions } from "../../run/run-context.ts";
import type { Session } from "../../session/session.ts";
import { defineCommand, withSession, type Context } from "../command/command.ts";
import type { CommandResult } from "../command/exit-code.ts";
import {
  acceptFlag,
  bundleFlags,
  contractFlags,
  switchFlag,
  textFlag,
  versionFlag,
  wholeFlag,
  type FlagValues,
} from "../command/flags.ts";
import type { Output } from "../command/output.ts";
import { readPlan, writePlan } from "../input/plan-file.ts";
import { renderPlan, renderVerdict } from "../render/plan.ts";
import type * as shapes from "../json/apply.ts";

const flags = {
  down: switchFlag("plan a rollback: show what down would do"),
  to: versionFlag("plan up to this number only, or with --down, down to it"),
  "allow-out-of-order": switchFlag("also plan migrations with a lower number than an applied one"),
  accept: acceptFlag("plan as with --accept of up or down: with consent to losing data"),
  "step-by-step": switchFlag("plan as with up --step-by-step"),
  steps: wholeFlag("plan this many migrations at most; with --down, this many (1)", 1),
  reinsert: switchFlag("with --down: insert the rows again that were added after the migration"),
  plan: textFlag("show a saved plan, and check whether it is still valid", { value: "FILE" }),
  out: textFlag("save the plan to this file, for up --plan or down --plan", { value: "FILE" }),
  ...bundleFlags,
  ...contractFlags,
};

export type PlanFlags = FlagValues<typeof flags>;

export const planCommand = defineCommand({
  describe: "show what up or down would do, checked against the tables; changes nothing",
  examples: [
    ["migrate plan", "show what migrate up would do"],
    ["migrate plan --down", "show what migrate down would do"],
    ["migrate plan --out plan.json", "save the plan, for migrate up --plan plan.json"],
  ],
  exits: { refused: "up or down would refuse it: consent is missing, a step would fail, or rows block it" },
  flags,
  conflicts: [
    ["plan", "to", "steps", "accept", "allow-out-of-order", "reinsert", "step-by-step", "out"],
    ["steps", "to"],
    ["accept", "reinsert"],
    ["down", "allow-out-of-order", "step-by-step"],
  ],
  run: async (context) => await showPlan(context),
});

/** Prints a plan in place of its text. */
export interface PlanPrinter {
  planned(document: PlanDocument): readonly string[];
  /** If no plan could be made. */
  failed(planned: Pick<PlanDocument, "target" | "direction">, error: MigrateError): readonly string[];
}

/** Prints the plan, also for the --dry-run of `up` and `down`. */
export async function showPlan(context: Context<PlanFlags>, printer?: PlanPrinter): Promise<CommandResult> {
  const { output, flags } = context;
  if (flags.down !== true && flags.reinsert !== undefined)
    throw new MigrateError("ERR_USAGE", { problem: "--reinsert needs --down" });
  const given = flags.plan === undefined ? undefined : readPlan(flags.plan);
  const direction = flags.down === true ? "down" : (given?.plan.direction ?? "up");
  const { document, loading, saved, refusal } = await withSession(context, async (session) => {
    try {
      if (flags.out === undefined) return await planNow(session, context, direction, given);
      return await planToSave(session.options, flags, direction);
    } catch (error) {
      if (printer !== undefined && isMigrateError(error))
        output.results(printer.failed({ target: session.options.target.name, direction }, error));
      throw error;
    }
  });
  output.data<typeof shapes.plan>(document);
  if (printer !== undefined) output.results(printer.planned(document));
  else {
    renderPlan(document, output);
    if (loading !== undefined) output.result(loading);
    renderVerdict(document, output);
  }
  if (saved !== undefined) writeSavedPlan(flags.out!, saved, output);
  if (given !== undefined) {
    const isDone = migrationsOf(document).length === 0 && migrationsOf(given.plan).length > 0;
    output.progress(isDone ? "the saved plan is carried out: nothing of it is left" : "the saved plan is still valid");
  }
  return refusal;
}

interface ShownPlan {
  readonly document: PlanDocument;
  /** How the values of new columns get into them, if the plan computes any. */
  readonly loading?: string | undefined;
  readonly saved?: SavedPlan;
  /** The error with which the run would refuse the plan. */
  readonly refusal?: MigrateError | undefined;
}

/** `given`: a saved plan, which is checked against the tables. */
async function planNow(
  session: Session,
  { flags, features, output }: Context<PlanFlags>,
  direction: PlanDocument["direction"],
  given: SavedPlan | undefined,
): Promise<ShownPlan> {
  const { options } = session;
  const { name } = options.target;
  const upChoice = { ...upChoiceOf(flags), stepByStep: flags["step-by-step"] };
  const plan =
    direction === "up"
      ? await planToShow(options, given === undefined ? upChoice : { plan: given })
      : await planDown(options, given === undefined ? downChoiceOf(flags) : { plan: given });
  const document = planDocument(plan, name, direction, await survey(plan, options));
  const loading = await loadingOf(plan, options);
  if (direction === "up" && given === undefined && plan.migrations.length > 0)
    for (const { pending } of features) await pending?.(session, output);
  return {
    document: { ...document, stepByStep: given?.plan.stepByStep },
    loading,
    refusal: refusalIn(plan, name, "migrate up"),
  };
}

async function planToSave(
  options: MigratorOptions,
  flags: PlanFlags,
  direction: PlanDocument["direction"],
): Promise<ShownPlan> {
  const saved =
    direction === "up" ? await savePlan(options, upChoiceOf(flags)) : await savePlanDown(options, downChoiceOf(flags));
  return { saved, document: saved.plan };
}

function writeSavedPlan(file: string, saved: SavedPlan, output: Output): void {
  writePlan(file, saved);
  const isNothing = migrationsOf(saved.plan).length === 0;
  output.progress(
    isNothing
      ? `saved to ${file}, although there is nothing to do`
      : `saved; migrate ${saved.plan.direction} --plan ${file} runs exactly this plan, once`,
  );
}

async function loadingOf({ migrations }: Plan, options: MigratorOptions): Promise<string | undefined> {
  const isLoading = ({ action }: PlannedAction) => action.kind === "prepareColumn" && action.into === undefined;
  if (!migrations.some(({ actions }) => actions.some(isLoading))) return undefined;
  const { findLoader } = await computingOf(options);
  const loader = await findLoader(options);
  return loader && `${loader.usable ? "values are loaded as separate files of the column: " : ""}${loader.text}`;
}

function upChoiceOf({ to, steps, accept, ...flags }: PlanFlags): Choice & Pick<RunChoice, "steps"> {
  return { to, steps, accept, allowOutOfOrder: flags["allow-out-of-order"] };
}

function downChoiceOf({ to, steps, accept, reinsert }: PlanFlags): DownChoice {
  return { to, steps, accept, reinsert };
}
