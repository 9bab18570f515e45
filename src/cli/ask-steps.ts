/** `migrate new` at a terminal, given nothing: asks for the name and for one step after the other. */
import { createInterface, type Interface } from "node:readline";
import { isMigrateError } from "../errors.ts";
import { interruptedEarly } from "../run/waiting.ts";
import { stepFlags, type Step } from "../steps/registry.ts";
import { stepOfLine } from "./step-flags.ts";

export interface Asked {
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Whether there is somebody to ask. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** `check` refuses a name, or steps that can't work, with a sentence; then it is asked again. Throws ERR_INTERRUPTED. */
export async function askSteps(
  signal: AbortSignal,
  check: {
    readonly name: (name: string) => unknown;
    readonly steps: (name: string, steps: readonly Step[]) => Promise<unknown>;
  },
): Promise<Asked> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Without this a terminal in raw mode takes Ctrl-C for itself.
  terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const ask = linesOf(terminal, signal);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const untilRight = async <Value>(
    question: string,
    use: (answer: string) => Value | Promise<Value>,
  ): Promise<Value> => {
    for (;;) {
      const answer = await ask(question);
      try {
        return await use(answer);
      } catch (error) {
        if (!isMigrateError(error)) throw error;
        say(error.message);
      }
    }
  };
  try {
    const name = await untilRight("name, such as add_headlines: ", (answer) => {
      check.name(answer);
      return answer;
    });
    say("steps, one a line, such as: rename documents.title:headline; ? for all there are; an empty line ends");
    const steps: Step[] = [];
    for (;;) {
      const step = await untilRight("step: ", async (answer) => {
        if (answer.trim() === "") return undefined;
        if (answer.trim() === "?") return helpLines();
        const one = stepOfLine(answer);
        await check.steps(name, [...steps, one]);
        return one;
      });
      if (step === undefined) return { name, steps };
      if (Array.isArray(step)) for (const line of step as readonly string[]) say(line);
      else steps.push(step as Step);
    }
  } finally {
    terminal.close();
  }
}

function helpLines(): readonly string[] {
  return [...stepFlags.values()].map(({ name, form, describe }) => `  ${name} ${form}  ${describe}`);
}

/** Lines as they are typed; also those that are pasted while nobody has asked yet. */
function linesOf(terminal: Interface, signal: AbortSignal): (question: string) => Promise<string> {
  const lines: string[] = [];
  let isOver = signal.aborted;
  let tell = () => {};
  const wake = () => tell();
  terminal.on("line", (line) => {
    lines.push(line);
    wake();
  });
  const end = () => {
    isOver = true;
    wake();
  };
  terminal.once("close", end);
  signal.addEventListener("abort", end, { once: true });
  return async (question) => {
    terminal.setPrompt(question);
    terminal.prompt();
    while (lines.length === 0) {
      // Whoever ends the input at a question wants nothing written.
      if (isOver) throw interruptedEarly();
      await new Promise<void>((resolve) => (tell = resolve));
    }
    return lines.shift()!;
  };
}
