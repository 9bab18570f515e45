/** Runs that meet with no trouble. */
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { alarms, isUnknownLoss } from "./invariants.ts";
import type { Trouble } from "./machine.ts";
import type { Scene, SimulatedRun } from "./schedule-state.ts";
import { start, type Start } from "./start-run.ts";
import type { Order } from "./run-variants.ts";
import { calm } from "./draw-faults.ts";

const untroubled: Trouble = { mishaps: [], clockStops: false, offset: 0 };

export const upwards: Order = { direction: "up", acceptLoss: true, savedFor: undefined, grouped: false };
export const backwards: Order = { ...upwards, direction: "down" };

export async function runCalmly(
  scene: Scene,
  name: string,
  other: Partial<Pick<Start, "files" | "lease" | "order">> = {},
): Promise<SimulatedRun | string> {
  const { world, lease, migrations, goal } = scene;
  const patience = 100 * lease;
  const order = goal.backTo === undefined ? upwards : backwards;
  const usual = { files: migrations.length, lease, patience, trouble: untroubled, weather: calm, order };
  const run = start(scene, { name, ...usual, ...other });
  if (!(await world.run()) || run.ended === undefined) return `${name} waits for ever`;
  return run;
}

const mostTries = 5;

/**
 * Does what errors ask for: where a clean-up removed what a stopped run had made, the next one reports that a loss is unknown
 * and asks to be run again; and what began in the other direction may have to end first.
 */
export async function runWithWaysOut(scene: Scene, name: string): Promise<SimulatedRun | string> {
  for (let tries = 1; ; tries++) {
    const run = await runCalmly(scene, tries === 1 ? name : `${name}, try ${tries}`);
    if (typeof run === "string" || tries === mostTries) return run;
    const first = opposite(run);
    if (first === undefined && !isUnknownLoss(scene, run)) return run;
    scene.turned ||= first !== undefined;
    const turned = first && (await runCalmly(scene, `${name}, the other way`, { order: first }));
    // Somebody must first put back what came late.
    if (typeof turned === "string" || isAlarm(turned)) return turned;
  }
}

function isAlarm(run: SimulatedRun | undefined): run is SimulatedRun {
  const { ended } = run ?? {};
  return ended !== undefined && "error" in ended && alarms.some((code) => isMigrateError(ended.error, code));
}

/** What an error says has to run first. */
function opposite({ ended }: SimulatedRun): Order | undefined {
  if (ended === undefined || !("error" in ended)) return undefined;
  if (isMigrateError(ended.error, "ERR_UNSETTLED")) return upwards;
  return isMigrateError(ended.error, "ERR_REVERTING") ? backwards : undefined;
}
