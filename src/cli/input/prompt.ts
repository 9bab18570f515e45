/** Questions at a terminal. */
import { createInterface } from "node:readline";
import { isMigrateError } from "../../errors/migrate-error.ts";
import { interruptedEarly } from "../../errors/migrate-error.ts";
import type { Context } from "../command/command.ts";

export interface Asking {
  readonly say: (line: string) => void;
  /** Asks again as long as `use` refuses the answer with a MigrateError. Throws ERR_INTERRUPTED. */
  untilRight<Value>(question: string, use: (answer: string) => Value | Promise<Value>): Promise<Value>;
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
  // Without this, a terminal in raw mode would handle Ctrl-C itself.
  terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
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
  try {
    return await work({
      say: output.problem,
      async untilRight(question, use) {
        for (;;) {
          const answer = await ask(question);
          try {
            return await use(answer);
          } catch (error) {
            if (!isMigrateError(error)) throw error;
            output.problem(error.message);
          }
        }
      },
    });
  } finally {
    terminal.close();
  }
}
