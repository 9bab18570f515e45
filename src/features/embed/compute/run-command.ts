/**
 * Computes values with a command, such as a Python script. It gets a JSON object on a line of its standard input for each
 * call, `{"id": 1, "rows": [{…}]}`, and answers with a line on its standard output: `{"id": 1, "values": [[…]]}`, or
 * `{"id": 1, "error": "…", "retryAfter": 5}`. An answer may have the `cost` of the call. It may answer in any order. Its standard error is shown, and so are
 * other lines of its standard output: packages print there too.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { firstLine } from "../../../errors/migrate-error.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { codeFailed } from "../calls/fill-failed.ts";
import { NoAnswer, type Answered } from "./compute-all.ts";

interface CommandAnswer {
  readonly id?: unknown;
  readonly values?: unknown;
  readonly cost?: unknown;
  readonly error?: unknown;
  readonly retryAfter?: unknown;
  readonly status?: unknown;
}

interface PendingCall {
  readonly resolve: (answered: Answered) => void;
  readonly reject: (error: Error) => void;
}

/** A line of the command is no longer than this: about a million numbers. */
const longestLine = 64 * 2 ** 20;
/** Milliseconds after which a command is killed that does not end by itself. */
const ending = 5_000;

/** `printed`: called with each line of its standard output that is no answer. */
export function startCommand(command: readonly string[], folder: string, printed: (line: string) => void = () => {}) {
  const child = start(command, folder);
  const killAll = () => killGroup(child);
  // A run that is stopped at once waits for nothing.
  process.on("exit", killAll);
  const waiting = new Map<number, PendingCall>();
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
    for (const line of lines) {
      const answer = answerIn(line);
      if (answer !== undefined) settle(answer, waiting);
      else if (line.trim() !== "") printed(line);
    }
    if (rest.length > longestLine) end("it wrote a line that has no end");
  });
  const raw = async (rows: readonly RowValues[], signal: AbortSignal): Promise<Answered> => {
    if (ended !== undefined) throw ended;
    const id = ++last;
    const answer = new Promise<Answered>((resolve, reject) => waiting.set(id, { resolve, reject }));
    signal.addEventListener("abort", () => waiting.delete(id), { once: true });
    child.stdin.write(`${JSON.stringify({ id, rows })}\n`);
    return await answer;
  };
  const close = async () => {
    child.stdin.end();
    const kill = () => {
      killAll();
      // What the command has started may keep it open.
      child.stdout.destroy();
    };
    const timer = setTimeout(kill, ended === undefined ? ending : 0);
    await closed;
    clearTimeout(timer);
    process.off("exit", killAll);
  };
  return { raw, close };
}

/** Throws FillFailed if the system refuses the command at once, as Windows does with .cmd and .bat files. */
function start(command: readonly string[], folder: string) {
  const [program, ...args] = command;
  try {
    // In a session of its own, so that it does not get the Ctrl-C of a terminal: the run ends it at a safe point. If the
    // run is killed, the end of its input ends it.
    return spawn(program!, args, {
      cwd: folder,
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
      windowsHide: true,
    });
  } catch (error) {
    const isScript = (error as NodeJS.ErrnoException).code === "EINVAL";
    const way = isScript ? "; name a program, such as node or python, in place of a script such as npx.cmd" : "";
    throw codeFailed({ command }, `: it can't be started (${firstLine(error)})${way}`);
  }
}

/** Kills the command with what it has started, as far as that is in its group. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // Windows has no groups.
    child.kill("SIGKILL");
  }
}

function unstartable(error: unknown): string {
  const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
  return isMissing ? "this command is not installed, or not in the PATH" : firstLine(error);
}

function settle({ id, values, cost, error, retryAfter, status }: Identified, waiting: Map<number, PendingCall>): void {
  const one = waiting.get(id);
  waiting.delete(id);
  // Nobody waits for a call that took too long.
  if (one === undefined) return;
  if (Array.isArray(values)) one.resolve({ values, cost: () => cost });
  else one.reject(Object.assign(new Error(String(error ?? "it answered without values")), { retryAfter, status }));
}

type Identified = CommandAnswer & { readonly id: number };

/** The answer that a line ends with; undefined if it holds none. */
function answerIn(line: string): Identified | undefined {
  const begins = /\{\s*"id"\s*:\s*(\d+)/.exec(line);
  const text = begins === null ? line : line.slice(begins.index);
  try {
    const answer = JSON.parse(text) as CommandAnswer | null;
    return typeof answer?.id === "number" ? (answer as Identified) : undefined;
  } catch {
    // Python writes NaN, which JSON does not have.
    return begins === null
      ? undefined
      : { id: Number(begins[1]), error: `it wrote a line that is no answer: ${text.slice(0, 200)}` };
  }
}
