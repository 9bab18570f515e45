/** A copy of the repository in which sources are changed and tests are run, with a limit of time. */
import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const left = new Set(["node_modules", ".git", ".lancedb", "test/.cache"]);

/** Test files, relative to test, and which of their tests are run; all of them where it is undefined. */
export type Selection = ReadonlyMap<string, readonly string[] | undefined>;

export interface Conditions {
  /** In milliseconds. */
  readonly limit: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Further arguments of Vitest. */
  readonly args?: readonly string[];
}

export interface Ended {
  /** Undefined if it took too long. */
  readonly code: number | null | undefined;
  /** Undefined if there is none. */
  readonly report: Report | undefined;
  readonly seconds: number;
}

/** What Vitest reports in JSON. */
export interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly duration?: number;
    }[];
  }[];
}

/** Of a test, as `--testNamePattern` matches it. */
export function fullName({ ancestorTitles, title }: Report["testResults"][number]["assertionResults"][number]): string {
  return [...ancestorTitles, title].join(" > ");
}

export interface Tree {
  readonly folder: string;
  read(file: string): string;
  /** Both relative to src. */
  write(file: string, text: string): void;
  /** The command that tests of processes start. Its types stay those of the repository. */
  build(): Promise<void>;
  test(selection: Selection, conditions: Conditions): Promise<Ended>;
  remove(): void;
}

/** What is running, each with what it started. */
const running = new Set<ChildProcess>();
const signals = ["SIGINT", "SIGTERM"] as const;

function stop(): void {
  for (const child of running) endGroup(child);
  process.exit(1);
}

export function aTree(): Tree {
  // Not when this is loaded: tests that send signals may run in the same process.
  for (const signal of signals) process.on(signal, stop);
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-mutants-"));
  const repository = join(folder, "repository");
  cpSync(root, repository, { recursive: true, filter: (path) => !left.has(path.slice(root.length)) });
  symlinkSync(join(root, "node_modules"), join(repository, "node_modules"));
  return {
    folder: repository,
    read: (file) => readFileSync(join(repository, "src", file), "utf8"),
    write: (file, text) => writeFileSync(join(repository, "src", file), text),
    async build() {
      const builds = [["node_modules/rolldown/bin/cli.mjs", "-c"], ["src/main/arguments/write-help.ts"]];
      for (const args of builds)
        if ((await ended(args, repository, 120_000, process.env)) !== 0) throw new Error("the command can't be built");
      const types = "dist/types";
      cpSync(join(root, types), join(repository, types), { recursive: true });
    },
    async test(selection, { limit, env = {}, args = [] }) {
      const scratch = mkdtempSync(join(folder, "run-"));
      const file = join(scratch, "report.json");
      const started = performance.now();
      try {
        const code = await ended(
          [...vitest, "--outputFile", file, ...args, ...argumentsFor(selection)],
          repository,
          limit,
          { ...process.env, TMPDIR: scratch, MIGRATE_ALL_CASES: "1", ...env },
        );
        const report = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Report) : undefined;
        return { code, report, seconds: (performance.now() - started) / 1_000 };
      } finally {
        rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
      }
    },
    remove() {
      for (const signal of signals) process.off(signal, stop);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const vitest = [
  "node_modules/vitest/vitest.mjs",
  "run",
  "--config",
  "test/mutants/vitest.config.ts",
  "--reporter",
  "json",
];
/** The system takes an argument of 128 kB. */
const longest = 100_000;

function argumentsFor(selection: Selection): readonly string[] {
  const files = [...selection.keys()].map((file) => join("test", file));
  const names = [...selection.values()];
  if (names.includes(undefined)) return files;
  const pattern = `^(?:${names
    .flat()
    .map((name) => literally(name!))
    .join("|")})$`;
  return pattern.length > longest ? files : [...files, "--testNamePattern", pattern];
}

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

/** The exit code; undefined when it took longer than the limit. */
function ended(
  args: readonly string[],
  cwd: string,
  limit: number,
  env: NodeJS.ProcessEnv,
): Promise<number | null | undefined> {
  // A group of its own, so that a loop without an end in one of its processes ends too.
  const child = spawn(process.execPath, args, { cwd, env, stdio: "ignore", detached: true });
  running.add(child);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    endGroup(child);
  }, limit);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => {
      clearTimeout(timer);
      running.delete(child);
      endGroup(child);
      resolve(isLate ? undefined : code);
    });
  });
}

function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}
