/** `migrate new` without arguments at a terminal: asks for the name and for one step after the other. */
import { stepFlags, type Step } from "../../steps/registry.ts";
import { atTerminal } from "./prompt.ts";
import { stepOfLine } from "./step-flags.ts";

export interface Asked {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** `check` throws if a name is invalid or steps can't work; then the question is repeated. Throws ERR_INTERRUPTED. */
export async function askSteps(
  signal: AbortSignal,
  check: {
    readonly name: (name: string) => unknown;
    readonly steps: (name: string, steps: readonly Step[]) => Promise<unknown>;
  },
): Promise<Asked> {
  return await atTerminal(signal, async ({ say, untilRight }) => {
    const name = await untilRight("name, such as add_headlines: ", (answer) => {
      check.name(answer);
      return answer;
    });
    say("steps, one a line, such as: rename documents.title:headline; ? for all there are; an empty line ends");
    const steps: Step[] = [];
    for (;;) {
      const step = await untilRight("step: ", async (answer) => {
        if (answer.trim() === "") return undefined;
        if (answer.trim() === "?") return "help" as const;
        const one = stepOfLine(answer);
        await check.steps(name, [...steps, one]);
        return one;
      });
      if (step === undefined) return { name, steps };
      if (step !== "help") steps.push(step);
      else for (const { name: flag, form, describe } of stepFlags.values()) say(`  ${flag} ${form}  ${describe}`);
    }
  });
}
