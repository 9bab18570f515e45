/** Whether a migration gives other steps when it is evaluated again: every later run would take it for changed. */
import { setTimeout as sleep } from "node:timers/promises";
import { count, MigrateError } from "../errors/migrate-error.ts";
import { stepHash } from "./checksum.ts";
import { readTextIfPresent } from "./list-files.ts";
import { stepsAgain, type Migration } from "./load.ts";

/** Without any of these, a module gives the same steps each time. What it imports of its project is not evaluated again. */
const otherEachTime =
  /\b(?:Date|Math|Intl|performance|crypto|process|global|globalThis|require|await)\b|\bimport(?:\(|\.meta)|\bfrom\s*["'](?!lance-migrate["'])/;

/**
 * Throws ERR_FILE_EXPORTS for the first such migration. One that can't be evaluated twice in a process, as it registers
 * something, is left alone. `seconds`: how many the evaluation of a migration may take.
 */
export async function checkSameAgain(migrations: readonly Migration[], seconds?: number): Promise<void> {
  const suspects = migrations.filter(({ path }) => otherEachTime.test(readTextIfPresent(path) ?? ""));
  // The clock then shows another time. Fake timers of a test may never let it.
  if (suspects.length > 0) await sleep(2);
  for (const migration of suspects) {
    const others = await stepsAgain(migration, seconds).catch(() => undefined);
    if (others !== undefined) checkSameSteps(migration, others);
  }
}

function checkSameSteps({ file, steps }: Migration, others: Migration["steps"]): void {
  // A step that is no step is a hole, which was reported before.
  const at = steps.findIndex((step, index) => stepHash(step) !== stepHash(others[index]));
  if (at === -1 && others.length === steps.length) return;
  const difference =
    at === -1
      ? `${count(others.length, "step")} instead of ${steps.length}`
      : `another step ${at + 1} (${steps[at]?.kind})`;
  const problem = `exports up with ${difference} when it is evaluated again, so later runs would take it for changed; write out the value that it computes`;
  throw new MigrateError("ERR_FILE_EXPORTS", { file, problem, list: "up", differs: true });
}
