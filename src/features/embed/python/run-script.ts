/** Runs scripts of the package in Python. They read a task as JSON, and write messages: JSON objects, one on each line. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { packageFolder } from "../../../engine/package/package-folder.ts";
import { fileReason } from "../../../errors/migrate-error.ts";
import { collectGarbage } from "./collect-garbage.ts";

export interface Script {
  /** The program that has the package pylance. */
  readonly python: string;
  readonly name: string;
  readonly task: object;
}

/** How much of what a script writes to its standard error is kept, in characters. */
const longestError = 10_000;

/**
 * Returns why it failed, as text; undefined if it ended well. `hear` gets each message, and may answer with a line.
 * Throws what `hear` throws, and if `signal` is aborted.
 */
export async function runScript<Message extends object>(
  { python, name, task }: Script,
  hear: (message: Partial<Message>, answer: (line: string) => void) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<string | undefined> {
  collectGarbage();
  // In a session of its own, so that it does not get the Ctrl-C of a terminal.
  const child = spawn(python, [scriptIn(name)], {
    detached: true,
    windowsHide: true,
    // Else each thread of the engine keeps memory of its own, and what is freed of large pieces stays with the process.
    env: { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "262144", ...process.env },
  });
  const kill = () => child.kill("SIGKILL");
  signal?.addEventListener("abort", kill);
  child.stdin.on("error", () => {});
  // Not an argument, which other users of the machine could read: it may hold keys.
  child.stdin.write(`${JSON.stringify(task)}\n`);
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors = `${errors}${text}`.slice(-longestError)));
  const ended = once(child, "close").then(
    ([code]) => (code === 0 ? undefined : [`it ended with exit code ${String(code)}`, ...lastLine(errors)].join(": ")),
    (error: unknown) => `it can't be started (${fileReason(error)})`,
  );
  try {
    for await (const message of messagesOf<Message>(child.stdout))
      await hear(message, (line) => void child.stdin.write(`${line}\n`));
  } catch (error) {
    kill();
    throw error;
  } finally {
    signal?.removeEventListener("abort", kill);
    child.stdin.end();
  }
  const failed = await ended;
  signal?.throwIfAborted();
  return failed;
}

export function scriptIn(name: string): string {
  return join(packageFolder(), "python", name);
}

async function* messagesOf<Message extends object>(output: NodeJS.ReadableStream): AsyncIterable<Partial<Message>> {
  let rest = "";
  for await (const text of output.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield* parseMessage<Message>(line);
  }
}

/** None if another program has printed the line, such as a package of Python. */
export function parseMessage<Message extends object>(line: string): readonly Partial<Message>[] {
  try {
    const value = JSON.parse(line) as Partial<Message> | null;
    return typeof value === "object" && value !== null ? [value] : [];
  } catch {
    return [];
  }
}

/** None if the text is empty. */
export function lastLine(text: string): readonly string[] {
  return text
    .trim()
    .split("\n")
    .slice(-1)
    .filter((line) => line !== "");
}
