/** A run of Vitest in the current folder. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Outcome } from "./reporter.ts";

export interface Failure {
  /** Where it is known. */
  readonly file?: string;
  readonly text: string;
}

export interface Run {
  /** The tests that ran. */
  readonly tests: ReadonlySet<string>;
  /** By id, the tests, suites and files that ran, and the file that each is in. */
  readonly ended: ReadonlyMap<string, string>;
  /** By id, those that failed, and whatever else ended the run with an error. */
  readonly failed: ReadonlyMap<string, Failure>;
  readonly files: Outcome["files"];
}

const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const reporter = fileURLToPath(new URL("reporter.ts", import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "lance-migrate-ci-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

let running: ChildProcess | undefined;
for (const signal of ["SIGTERM", "SIGINT"] as const)
  process.once(signal, () => {
    if (running === undefined) process.exit(143);
    running.once("close", () => process.exit(143));
    process.kill(-running.pid!, signal);
  });

export async function runVitest(args: readonly string[], output: "inherit" | "ignore"): Promise<Run> {
  const [outcome, errors] = [join(folder, "outcome.json"), join(folder, "errors")];
  rmSync(outcome, { force: true });
  const reporters = ["default", reporter].map((name) => `--reporter=${name}`);
  running = spawn(process.execPath, [vitest, "run", ...reporters, ...args], {
    // Tests feed the engine broken bytes, and its panics fill the output of errors.
    stdio: ["ignore", output, openSync(errors, "w")],
    env: { ...process.env, CI_OUTCOME: outcome },
    // A group of processes: a signal to Vitest alone would leave its workers behind.
    detached: true,
  });
  const [code, signal] = (await once(running, "close")) as [number | null, string | null];
  running = undefined;
  return runOf(outcomeIn(outcome), code ?? signal, readFileSync(errors, "utf8"));
}

/** None if Vitest died. */
function outcomeIn(file: string): Outcome | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Outcome) : undefined;
}

function runOf(outcome: Outcome | undefined, code: number | string | null, errors: string): Run {
  const { ended, unhandled, files } = outcome ?? { ended: [], unhandled: [], files: [] };
  const failed = new Map<string, Failure>();
  // Of two tests of one name, the one that fails counts.
  for (const { id, file, errors } of ended) if (errors.length > 0) failed.set(id, { file, text: errors.join("\n") });
  if (unhandled.length > 0) failed.set("an error that no test caught", { text: unhandled.join("\n") });
  if ((code !== 0 || outcome === undefined) && failed.size === 0)
    failed.set(`vitest ended with ${code}`, { text: errors.split("\n").slice(-50).join("\n") });
  return {
    tests: new Set(ended.filter(({ isTest }) => isTest).map(({ id }) => id)),
    ended: new Map(ended.map(({ id, file }) => [id, file])),
    failed,
    files,
  };
}
