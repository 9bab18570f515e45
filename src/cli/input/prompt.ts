/** Questions at a terminal. */
import { createInterface, type Interface } from "node:readline";
import { isMigrateError } from "../../errors/migrate-error.ts";
import { interruptedEarly } from "../../run/lease/wait-for-lease.ts";

export interface Asking {
  readonly say: (line: string) => void;
  /** Asks again as long as `use` refuses the answer with a MigrateError. Throws ERR_INTERRUPTED. */
  untilRight<Value>(question: string, use: (answer: string) => Value | Promise<Value>): Promise<Value>;
}

/** Whether there is a user to ask, at a terminal. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

export async function atTerminal<Value>(signal: AbortSignal, work: (asking: Asking) => Promise<Value>): Promise<Value> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Without this, a terminal in raw mode would handle Ctrl-C itself.
  terminal.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const ask = linesOf(terminal, signal);
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  try {
    return await work({
      say,
      async untilRight(question, use) {
        for (;;) {
          const answer = await ask(question);
          try {
            return await use(answer);
          } catch (error) {
            if (!isMigrateError(error)) throw error;
            say(error.message);
          }
        }
      },
    });
  } finally {
    terminal.close();
  }
}

/** Gives a function that asks for a line. Lines that are pasted before a question are kept for it. */
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
      // A user who ends the input at a question wants nothing to be written.
      if (isOver) throw interruptedEarly();
      await new Promise<void>((resolve) => (tell = resolve));
    }
    return lines.shift()!;
  };
}
