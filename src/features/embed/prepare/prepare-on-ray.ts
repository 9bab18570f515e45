/**
 * Computes the shards of `migrate prepare` on a cluster of Ray. Ray decides which worker runs which shard; each shard is
 * a process of `migrate prepare --shard` there, with all that this guarantees. A script in Python talks to Ray.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { count, fileReason, firstLine, MigrateError } from "../../../errors/migrate-error.ts";

export interface RayRun {
  readonly python: string;
  /** The file of the script. */
  readonly script: string;
  /** What a worker runs, without `--shard`. */
  readonly command: readonly string[];
  readonly folder: string;
  readonly shards: number;
  /** Options of Ray's tasks, such as `num_gpus`. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Called with each line of a shard's results and progress, and with each line about a problem. */
  readonly onLine: (line: string, kind: "progress" | "problem") => void;
}

/** A line of the script. */
interface RayMessage {
  /** Why the package can't be imported. */
  readonly missing?: string;
  /** Why there is no cluster. */
  readonly unusable?: string;
  readonly shard?: number;
  readonly line?: string;
  readonly problem?: string;
  /** The exit code of a shard. */
  readonly code?: number;
}

/** Throws ERR_USAGE if Python or its package ray is missing, ERR_RAY_FAILED, ERR_INTERRUPTED. */
export async function prepareOnRay(run: RayRun): Promise<void> {
  const { python, shards, signal, onLine } = run;
  const succeeded = new Set<number>();
  const onMessage = ({ missing, unusable, shard, line, problem, code }: RayMessage) => {
    if (missing !== undefined) throw withoutRay(`${python} has no package ray (${missing}): pip install ray`);
    if (unusable !== undefined) throw new MigrateError("ERR_RAY_FAILED", { problem: firstLine(unusable) });
    if (code === 0) succeeded.add(shard!);
    const name = `shard ${shard}/${shards}`;
    if (problem !== undefined) onLine(`${name}: ${problem}`, "problem");
    if (line !== undefined) onLine(`${name}: ${line}`, "progress");
  };
  await runScript(run, onMessage);
  if (signal.aborted)
    throw new MigrateError("ERR_INTERRUPTED", { done: "the next run computes only what the shards have not computed" });
  const failed = Array.from({ length: shards }, (_, at) => at + 1).filter((shard) => !succeeded.has(shard));
  if (failed.length === 0) return;
  const problem = `${failed.length} of ${count(shards, "shard")} did not succeed: ${failed.join(", ")}`;
  throw new MigrateError("ERR_RAY_FAILED", { problem });
}

/** Returns when the script has ended. Throws what `onMessage` throws. */
async function runScript(
  { python, script, command, folder, shards, options, signal, onLine }: RayRun,
  onMessage: (message: RayMessage) => void,
): Promise<void> {
  const request = JSON.stringify({ command, folder, shards, options });
  // In a session of its own, so that Ctrl-C in a terminal does not kill the shards before they reach a safe point.
  const child = spawn(python, [script, request], { cwd: folder, detached: true, windowsHide: true });
  child.stdin.on("error", () => {});
  // The end of its input tells the script to stop the shards, also when this process is killed.
  const stop = () => child.stdin.end();
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  try {
    const ended = once(child, "close");
    await Promise.all([
      ended.catch((cause: unknown) => {
        throw withoutRay(`${python} can't be started (${fileReason(cause)})`, cause);
      }),
      eachLine(child.stdout, (line) => {
        const message = parse(line);
        // Ray prints there too.
        if (message === undefined) onLine(line, "problem");
        else onMessage(message);
      }),
      eachLine(child.stderr, (line) => onLine(line, "problem")),
    ]);
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

async function eachLine(input: Readable, onEach: (line: string) => void): Promise<void> {
  let rest = "";
  for await (const text of input.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop()!;
    for (const line of lines) onEach(line);
  }
  if (rest !== "") onEach(rest);
}

function parse(line: string): RayMessage | undefined {
  try {
    return JSON.parse(line) as RayMessage;
  } catch {
    return undefined;
  }
}

function withoutRay(reason: string, cause?: unknown): MigrateError {
  const problem = `--on ray needs Python with the package ray, and ${reason}; name another Python with --python or MIGRATE_PYTHON`;
  return new MigrateError("ERR_USAGE", { problem }, { cause });
}
