/** What must hold once the last run has ended: it can be done the other way round, and nothing is lost by that. */
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { abilitiesOf } from "./target/memory-target.ts";
import { backwards, runCalmly, upwards } from "./calm-runs.ts";
import { isComparable, isHarmed, unsaid } from "./invariants.ts";
import { ledgerFindings } from "./ledger-view.ts";
import { referenceBack, rollbacksOf } from "./reference-model.ts";
import { wordsOf, type Scene, type LateEffect, type SimulatedRun } from "./schedule-state.ts";
import { textOf } from "./tables-text.ts";
import type { Order } from "./run-variants.ts";

/** Errors that report lost rows. */
const sayLoss = ["ERR_WRITES_LOST", "ERR_WRITES_UNKNOWN", "ERR_STEP_FAILED", "ERR_TABLE_RECREATED"] as const;

/** Where a run was stopped before it could reinsert rows, or report them as lost, the next one does. */
export async function checkDamage(scene: Scene): Promise<string | undefined> {
  const { runs, losses, late } = scene;
  const isConsented = runs.some(
    ({ order, machine }) => order.acceptLoss && order.direction === "down" && machine.name.startsWith("run "),
  );
  // What a run does that acts after another has taken over, and is killed before it can say so, nobody can know.
  const wasKilled = (sender: LateEffect["sender"]) =>
    runs.find(({ machine }) => machine === sender)?.ended === undefined;
  const isUnseen = (table: string) =>
    late.some((one) => one.table === table && !one.arrivedInTime && wasKilled(one.sender));
  if (scene.goal.backTo === undefined || isConsented) return undefined;
  const unsaidLoss = losses.find(({ sender, table, column, isLost }) => {
    const ended = runs.find(({ machine }) => machine === sender)?.ended;
    const hasSaid =
      ended !== undefined && "error" in ended && sayLoss.some((code) => isMigrateError(ended.error, code));
    return column === undefined && isLost() && !hasSaid && !isUnseen(table);
  });
  if (unsaidLoss === undefined) return undefined;
  const order: Order = { ...backwards, acceptLoss: false, reinsert: true };
  const run = await runCalmly(scene, "run after the damage", { order });
  if (typeof run === "string") return run;
  const isSilent = run.ended !== undefined && !("error" in run.ended) && unsaidLoss.isLost();
  return isSilent ? `nobody says that ${unsaidLoss.what}` : undefined;
}

export async function checkNothingPending(scene: Scene): Promise<string | undefined> {
  const { tables } = scene;
  const versions = () => JSON.stringify(tables.names().map((name) => [name, tables.get(name)!.version]));
  const before = versions();
  const run = await runCalmly(scene, "run with nothing to do");
  if (typeof run === "string") return run;
  const { ended } = run;
  if (ended === undefined || "error" in ended || ended.result.changed !== 0)
    return `a run with nothing to do ends otherwise: ${ended !== undefined && "error" in ended ? wordsOf(ended.error) : "it did something"}`;
  if (versions() !== before) return "a run with nothing to do has written something";
  const [finding] = await ledgerFindings(tables, scene.model);
  if (finding !== undefined) return `an audit of the ledger finds: ${finding}`;
  return scene.goal.backTo === undefined ? await checkBackAgain(scene) : await checkUpAgain(scene);
}

/** What was applied in trouble can be rolled back: the versions that the ledger recorded are the right ones. */
async function checkBackAgain(scene: Scene): Promise<string | undefined> {
  const { migrations, beside, model, application, strays, tables } = scene;
  // The versions of a recreated table went with it.
  if (unsaid(scene) || application.recreated.size > 0) return undefined;
  const count = Math.min(rollbacksOf(scene, abilitiesOf(model)).length, migrations.length - (beside?.after ?? 0));
  if (count === 0) return undefined;
  const total = migrations.length - count;
  const backTo = migrations[total - 1]?.version ?? 0;
  const back: Scene = { ...scene, goal: { backTo, total }, losses: [] };
  let run = await runCalmly(back, "run that keeps rows", {
    order: { ...backwards, acceptLoss: false, reinsert: true },
  });
  if (typeof run === "string") return run;
  const lost = back.losses.find(({ isLost }) => isLost());
  if (lost !== undefined && run.ended !== undefined && !("error" in run.ended))
    return `${run.machine.name} reports success, and by its call ${lost.what}`;
  if (run.ended === undefined || "error" in run.ended) {
    scene.watcher.tell(() => "   rows block the rollback");
    run = await runCalmly(back, "run back");
    if (typeof run === "string") return run;
  }
  if (strays.size > 0 && isHarmed(scene, run)) return undefined;
  if (isUnkept(scene, run)) return undefined;
  if (run.ended === undefined || "error" in run.ended)
    return `what was applied can't be rolled back: ${run.ended === undefined ? "" : wordsOf(run.ended.error)}`;
  const reference = referenceBack(scene, abilitiesOf(model), backTo);
  const found = textOf(tables).without(strays);
  const wanted = reference.after(reference.actions.length).without(strays);
  if (found.schema() !== wanted.schema()) return `the tables are not as before they were applied: ${found.schema()}`;
  return isComparable(scene) && !scene.orders.grouped && found.effects() !== wanted.effects()
    ? `what was rolled back is not as before it was applied: ${found.effects()} and not ${wanted.effects()}`
    : undefined;
}

/** Whether a migration can't be rolled back for just that version of a table of which a run reported that it could not be kept. */
function isUnkept({ unkept }: Scene, { ended }: SimulatedRun): boolean {
  if (ended === undefined || !("error" in ended) || !isMigrateError(ended.error, "ERR_IRREVERSIBLE")) return false;
  const { file, problem } = ended.error.details;
  return unkept.includes(`${file.split("_", 1)[0]} ${problem}`);
}

/** What was rolled back can be applied again, and then the tables are as they were. */
async function checkUpAgain(scene: Scene): Promise<string | undefined> {
  const run = await runCalmly(scene, "run once more", { order: upwards });
  if (typeof run === "string") return run;
  if (unsaid(scene)) return undefined;
  if (run.ended === undefined || "error" in run.ended)
    return `what was rolled back can't be applied again: ${run.ended === undefined ? "" : wordsOf(run.ended.error)}`;
  const schema = textOf(scene.tables).without(scene.strays).schema();
  const before = scene.reference.after(0).without(scene.strays).schema();
  return schema === before ? undefined : `the tables are not as before they were rolled back: ${schema}`;
}
