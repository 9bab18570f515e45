/** Drawn sequences of failures, after which somebody continues or goes back by following the last line of each message. */
import { chanceFor } from "../simulate/seeded-random.ts";
import { failures } from "./failures.ts";
import { reach } from "./operator.ts";
import type { SmallDisk } from "../support/small-disk.ts";
import { aScene, backUp, last, restoreFiles, stateOf, type Scene, type State } from "./scene.ts";

/** Throws what was done, and where it did not end right. `states`: after each migration. */
export async function followMessages(
  seed: number,
  states: readonly State[],
  mount?: (folder: string) => SmallDisk,
): Promise<readonly string[]> {
  const chance = chanceFor("failures", seed);
  const scene = aScene(mount);
  const told: string[] = [];
  try {
    await scene.migrate(["up", "--to", String(chance.below(last + 1))]);
    backUp(scene);
    const befell: string[] = [];
    const lost = new Set<string>();
    for (let left = 1 + chance.below(3); left > 0; left--) {
      const name = chance.pick(Object.keys(failures));
      const failed = await failures[name]!(scene, chance);
      if (failed === undefined) continue;
      befell.push(name);
      if (failed.lost !== undefined) lost.add(failed.lost);
      told.push(`# ${failed.words}`);
    }
    const back = ["down", "--to", "0", "--accept", "lossy"];
    // Back from a table without a backup there is no way yet whose commands can be followed.
    const isBack = chance.happens(0.3) && lost.size === 0 && (await wentBack(back, scene, told, befell));
    if (!isBack) await reachSettled(["up"], scene, told);
    requireRight(await stateOf(scene.project), states[isBack ? 0 : last]!, lost);
    return befell;
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}\n${told.join("\n")}`, { cause: error });
  }
}

async function reachSettled(goal: readonly string[], scene: Scene, told: string[]): Promise<void> {
  do {
    await reach(goal, scene, told);
    restoreFiles(scene);
  } while (await reach(["verify"], scene, told));
}

/** Which old versions a rollback restores is lost with the ledger: then it may say that there is no way back. */
async function wentBack(
  back: readonly string[],
  scene: Scene,
  told: string[],
  befell: readonly string[],
): Promise<boolean> {
  try {
    await reachSettled(back, scene, told);
    return true;
  } catch (error) {
    const isLost = befell.includes("the ledger is lost") && /can't be rolled back: /.test(told.at(-1)!);
    if (!isLost) throw error;
    return false;
  }
}

function requireRight(found: State, expected: State, lost: ReadonlySet<string>): void {
  for (const name of new Set([...Object.keys(found), ...Object.keys(expected)])) {
    const [is, should] = [found[name], expected[name]];
    if (is === should) continue;
    // Its rows are gone for good, but not its columns, unless a migration was written that leads to where it is gone.
    if (lost.has(name) && (is === undefined || is.split("\n")[0] === should?.split("\n")[0])) continue;
    throw new Error(`${name} is\n${is}\nand not\n${should}`);
  }
}
