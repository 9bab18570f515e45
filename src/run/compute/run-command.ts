/**
 * Computes values with a command, such as a Python script. It gets a JSON object on a line of its standard input for each
 * call, `{"id": 1, "rows": [{…}]}`, and answers with a line on its standard output: `{"id": 1, "values": [[…]]}`, or
 * `{"id": 1, "error": "…", "retryAfter": 5}`. It may answer in any order. Its standard error is shown.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { firstLine } from "../../errors/migrate-error.ts";
import type { RowValues } from "../../schema/row-values.ts";
import { NoAnswer } from "./compute-all.ts";

interface Answer {
  readonly id?: unknown;
  readonly values?: unknown;
  readonly error?: unknown;
  readonly retryAfter?: unknown;
  readonly status?: unknown;
}

interface Waiting {
  readonly resolve: (values: readonly unknown[]) => void;
  readonly reject: (error: Error) => void;
}

/** A line of the command is no longer than this: about a million numbers. */
const longestLine = 64 * 2 ** 20;
/** Milliseconds after which a command is killed that does not end by itself. */
const ending = 5_000;

export function startCommand(command: readonly string[], folder: string) {
  const [program, ...args] = command;
  const child = spawn(program!, args, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let ended: Error | undefined;
  const end = (problem: string) => {
    ended ??= new NoAnswer(problem);
    for (const one of waiting.values()) one.reject(ended);
    waiting.clear();
  };
  // `close` follows the last line, which `exit` may not.
  const closed = once(child, "close").then(
    ([code, signal]) => end(`it ended with ${String(signal ?? `exit code ${String(code)}`)}`),
    (error: unknown) => end(unstartable(error)),
  );
  child.stdin.on("error", () => {});
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    // Not readline, which also splits at characters that JSON may contain.
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line.trim() !== "") settle(line, waiting, end);
    if (rest.length > longestLine) end("it wrote a line that has no end");
  });
  const raw = async (rows: readonly RowValues[], signal: AbortSignal): Promise<readonly unknown[]> => {
    if (ended !== undefined) throw ended;
    const id = ++last;
    const answer = new Promise<readonly unknown[]>((resolve, reject) => waiting.set(id, { resolve, reject }));
    signal.addEventListener("abort", () => waiting.delete(id), { once: true });
    child.stdin.write(`${JSON.stringify({ id, rows })}\n`);
    return await answer;
  };
  const close = async () => {
    child.stdin.end();
    const kill = () => {
      child.kill("SIGKILL");
      // What the command has started may keep it open.
      child.stdout.destroy();
    };
    const timer = setTimeout(kill, ended === undefined ? ending : 0);
    await closed;
    clearTimeout(timer);
  };
  return { raw, close };
}

function unstartable(error: unknown): string {
  const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
  return isMissing ? "this command is not installed, or not in the PATH" : firstLine(error);
}

function settle(line: string, waiting: Map<number, Waiting>, end: (problem: string) => void): void {
  const { id, answer, problem } = parse(line);
  const one = waiting.get(id);
  waiting.delete(id);
  if (problem !== undefined && one === undefined) end(problem);
  // Nobody waits for a call that took too long.
  if (one === undefined) return;
  const { values, error, retryAfter, status } = answer;
  if (Array.isArray(values)) one.resolve(values);
  else
    one.reject(
      Object.assign(new Error(problem ?? String(error ?? "it answered without values")), { retryAfter, status }),
    );
}

/** A line that is no JSON may still have an id: Python writes NaN, which JSON does not have. */
function parse(line: string): { readonly id: number; readonly answer: Answer; readonly problem?: string } {
  try {
    const answer = JSON.parse(line) as Answer | null;
    if (typeof answer?.id === "number") return { id: answer.id, answer };
  } catch {
    // Below.
  }
  const id = Number(/^\s*\{\s*"id"\s*:\s*(\d+)/.exec(line)?.[1] ?? Number.NaN);
  return { id, answer: {}, problem: `it wrote a line that is no answer: ${line.slice(0, 200)}` };
}
