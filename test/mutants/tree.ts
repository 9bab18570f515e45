/** A copy of the repository in which sources are changed and tests are run, with a limit of time. */
import { spawn, type ChildProcess } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
const left = new Set(["node_modules", ".git", "dist", ".lancedb", "test/.cache"]);

export interface Verdict {
  readonly outcome: "passed" | "failed" | "late";
  /** What failed, or what took too long. */
  readonly by?: string;
  readonly seconds: number;
}

export interface Tree {
  read(file: string): string;
  /** Both relative to src. */
  write(file: string, text: string): void;
  /** The command that tests of processes start. */
  build(): Promise<void>;
  /** Up to the first failure. The files are relative to test. */
  test(files: readonly string[], limit: number, env?: Readonly<Record<string, string>>): Promise<Verdict>;
  remove(): void;
}

/** What is running, each with what it started. */
const running = new Set<ChildProcess>();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.on(signal, () => {
    for (const child of running) endGroup(child);
    process.exit(1);
  });

function aTree(): Tree {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-mutants-"));
  const [repository, scratch] = [join(folder, "repository"), join(folder, "tmp")];
  cpSync(root, repository, { recursive: true, filter: (path) => !left.has(path.slice(root.length)) });
  symlinkSync(join(root, "node_modules"), join(repository, "node_modules"));
  const tool = (name: string, args: readonly string[], limit: number, env = {}) =>
    ended(join(root, "node_modules", name), args, repository, limit, { ...process.env, TMPDIR: scratch, ...env });
  const types = join(folder, "types");
  return {
    read: (file) => readFileSync(join(repository, "src", file), "utf8"),
    write: (file, text) => writeFileSync(join(repository, "src", file), text),
    async build() {
      const dist = join(repository, "dist");
      const isBuilt = await tool("rolldown/bin/cli.mjs", ["-c", "rolldown.config.ts"], 60_000);
      if (isBuilt !== 0) throw new Error("the command can't be built");
      chmodSync(join(dist, "bin.js"), 0o755);
      // The types are those without a mutant.
      if (existsSync(types)) return cpSync(types, join(dist, "types"), { recursive: true });
      await tool("typescript/bin/tsc", ["-p", "tsconfig.build.json"], 120_000);
      cpSync(join(dist, "types"), types, { recursive: true });
    },
    async test(files, limit, env) {
      rmSync(scratch, { recursive: true, force: true });
      mkdirSync(scratch);
      const report = join(folder, "report.json");
      rmSync(report, { force: true });
      const paths = files.map((file) => join("test", file));
      // Modules are read once for all files.
      const how = ["--bail", "1", "--maxWorkers", "1", "--no-isolate", "--reporter", "json", "--outputFile", report];
      const started = performance.now();
      const code = await tool("vitest/vitest.mjs", ["run", ...how, ...paths], limit, env);
      const seconds = (performance.now() - started) / 1_000;
      if (code === undefined)
        return { outcome: "late", by: `${files.join(", ")}: ended after ${limit / 1_000} s`, seconds };
      return code === 0 ? { outcome: "passed", seconds } : { outcome: "failed", by: failureIn(report), seconds };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Each of the `jobs` has a tree of its own, and takes what is next. */
export async function shareOut<T>(
  all: readonly T[],
  jobs: number,
  prepare: (tree: Tree) => Promise<void>,
  work: (one: T, tree: Tree) => Promise<void>,
): Promise<void> {
  const left = all.values();
  const each = Array.from({ length: Math.min(jobs, all.length) }, async () => {
    const tree = aTree();
    try {
      await prepare(tree);
      for (const one of left) await work(one, tree);
    } finally {
      tree.remove();
    }
  });
  await Promise.all(each);
}

/** The exit code; undefined when it took longer than the limit. */
function ended(
  script: string,
  args: readonly string[],
  cwd: string,
  limit: number,
  env: NodeJS.ProcessEnv,
): Promise<number | null | undefined> {
  // A group of its own, so that a loop without an end in one of its processes ends too.
  const child = spawn(process.execPath, [script, ...args], { cwd, env, stdio: "ignore", detached: true });
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

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function failureIn(file: string): string {
  if (!existsSync(file)) return "the tests did not start";
  const { testResults } = JSON.parse(readFileSync(file, "utf8")) as Report;
  for (const { name, status, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === "failed");
    if (failed !== undefined || status === "failed")
      return `${name.split("/test/").at(-1)}: ${failed?.fullName ?? "the file can't be loaded"}`;
  }
  return "something outside of tests";
}
