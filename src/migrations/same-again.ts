/** Whether a migration gives other steps when it is evaluated again: every later run would take it for changed. */
import { setTimeout as sleep } from "node:timers/promises";
import { count, MigrateError } from "../errors/migrate-error.ts";
import type { Step } from "../steps/registry.ts";
import { stepHash } from "./checksum.ts";

/** Without any of these, a module gives the same steps each time; what it imports of its project is not evaluated again. */
const otherEachTime =
  /\b(?:Date|Math|Intl|performance|crypto|process|global|globalThis|require|await)\b|\bimport(?:\(|\.meta)|\bfrom\s*["'](?!lance-migrate["'])/;

export function mayDiffer(text: string): boolean {
  return otherEachTime.test(text);
}

/** Throws ERR_FILE_EXPORTS if `again` gives other steps. It is called when the clock shows another millisecond. */
export async function checkSameAgain(
  file: string,
  steps: readonly Step[],
  again: () => Promise<readonly Step[]>,
): Promise<void> {
  const began = Date.now();
  while (Date.now() === began) await sleep(1);
  const others = await again();
  // A step that is no step is a hole, which was reported before.
  const at = steps.findIndex((step, index) => stepHash(step) !== stepHash(others[index]));
  if (at === -1 && others.length === steps.length) return;
  const difference =
    at === -1
      ? `${count(others.length, "step")} instead of ${steps.length}`
      : `another step ${at + 1} (${steps[at]!.kind})`;
  const problem = `exports up with ${difference} when it is evaluated again, so later runs would take it for changed; write out the value that it computes`;
  throw new MigrateError("ERR_FILE_EXPORTS", { file, problem, list: "up", differs: true });
}
