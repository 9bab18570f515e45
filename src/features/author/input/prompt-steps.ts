/** `migrate new` without arguments at a terminal: asks for the name and for one step after the other. */
import { stepFlags, type Step } from "../../../steps/registry.ts";
import type { Context } from "../../../cli/command/command.ts";
import type { Next, Writing } from "../scaffold/write-migration.ts";
import { atTerminal } from "../../../cli/input/prompt.ts";
import { stepOfLine } from "./step-flags.ts";

/**
 * Asks again if `checkName` or `checkSteps` throws, because the name is invalid or the steps can't work. Throws
 * ERR_INTERRUPTED.
 */
export async function askSteps(
  context: Pick<Context, "output" | "signal">,
  { checkName, checkSteps }: Pick<Writing, "checkName" | "checkSteps">,
): Promise<Pick<Next, "name" | "steps">> {
  return await atTerminal(context, async ({ say, untilRight }) => {
    const name = await untilRight("name, such as add_headlines: ", (answer) => {
      checkName(answer);
      return answer;
    });
    say("steps, one per line, such as: rename documents.title:headline (? lists all steps, an empty line ends)");
    const steps: Step[] = [];
    for (;;) {
      const step = await untilRight("step: ", async (answer) => {
        if (answer.trim() === "") return undefined;
        if (answer.trim() === "?") return "help" as const;
        const one = stepOfLine(answer);
        await checkSteps(name, [...steps, one]);
        return one;
      });
      if (step === undefined) return { name, steps };
      if (step !== "help") steps.push(step);
      else for (const { name: flag, form, describe } of stepFlags.values()) say(`  ${flag} ${form}  ${describe}`);
    }
  });
}
