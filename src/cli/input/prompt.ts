/** Questions at a terminal. */
import { createInterface } from "node:readline";
import { interruptedEarly, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Context } from "../command/command.ts";
import type { Styled } from "../command/output.ts";

export interface Asking {
  readonly say: (line: string) => void;
  /** Asks again as long as `use` refuses the answer with a MigrateError. Throws ERR_INTERRUPTED. */
  untilRight<Value>(question: string, use: (answer: string) => Value | Promise<Value>): Promise<Value>;
  /** Lists the choices, and asks until the number of one is typed. Enter alone chooses none. Throws ERR_INTERRUPTED. */
  choose<Value>(question: string, choices: readonly MenuEntry<Value>[]): Promise<Value>;
}

export interface MenuEntry<Value> {
  readonly label: string | readonly (string | Styled)[];
  readonly value: Value;
}

/** Whether there is a user to ask, at a terminal. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Of an answer to a question whose other answer changes nothing. */
export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}

export async function atTerminal<Value>(
  { output, signal }: Pick<Context, "output" | "signal">,
  work: (asking: Asking) => Promise<Value>,
): Promise<Value> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr, signal });
  // Keeps lines that are pasted before a question.
  const lines = terminal[Symbol.asyncIterator]();
  let isClosed = false;
  terminal.once("close", () => (isClosed = true));
  // Without this, a terminal in raw mode would handle Ctrl-C itself. To send the signal would kill the process on Windows.
  terminal.on("SIGINT", () => process.emit("SIGINT", "SIGINT"));
  const ask = async (question: string): Promise<string> => {
    if (!isClosed) {
      terminal.setPrompt(output.question(question));
      terminal.prompt();
    }
    const { done, value } = await lines.next();
    // A user who ends the input at a question wants nothing to be written.
    if (done === true) throw interruptedEarly();
    return value;
  };
  const untilRight: Asking["untilRight"] = async (question, use) => {
    for (;;) {
      const answer = await ask(question);
      try {
        return await use(answer);
      } catch (error) {
        if (!isMigrateError(error)) throw error;
        output.problem(error.message);
      }
    }
  };
  const choose: Asking["choose"] = async (question, choices) => {
    output.problem(question);
    for (const [index, { label }] of choices.entries()) output.problem([`  ${index + 1}  `, ...[label].flat()]);
    return await untilRight(`1 to ${choices.length}: `, (answer) => {
      const choice = choices[Number(answer) - 1];
      if (choice !== undefined) return choice.value;
      throw new MigrateError("ERR_USAGE", { problem: `type a number from 1 to ${choices.length}` });
    });
  };
  try {
    return await work({ say: output.problem, untilRight, choose });
  } finally {
    terminal.close();
  }
}
