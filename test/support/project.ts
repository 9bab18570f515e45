/** Temporary projects: a folder with migrations and a configuration, and the built command run in it. */
import { spawn, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, onTestFinished } from "vitest";
import { checkJsonOutput } from "./json-output.ts";
import { isLong } from "./rounds.ts";
import { runShared } from "./shared-process.ts";

/** The repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The files of the migrations of this repository. */
export const ownMigrations = readdirSync(join(root, "migrations"))
  .filter((name) => name.endsWith(".ts"))
  .toSorted();

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A folder that is gone when the tests around are. */
export function temporaryFolderOfFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/**
 * Fills the database of a project. It is filled once for all tests of a file, whose projects get copies: a copy takes a
 * hundredth of a run.
 */
export function fillingOnce(fill: (project: Project) => Promise<void>): (project: Project) => Promise<void> {
  const filled = join(temporaryFolderOfFile(), "database");
  return async (project) => {
    if (existsSync(filled)) return cpSync(filled, project.database, { recursive: true });
    await fill(project);
    cpSync(project.database, filled, { recursive: true });
  };
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that ends with this code, and with these words on stderr. */
export const onStderr = (code: number, words: string) => ({ code, stderr: expect.stringContaining(words) as string });

/** A command that ends with this code, and with these words on stdout. */
export const onStdout = (code: number, words: string) => ({ code, stdout: expect.stringContaining(words) as string });

export interface Running {
  readonly process: ChildProcess;
  readonly finished: Promise<Finished>;
}

export interface Project {
  readonly folder: string;
  /** Where the embedded database lives unless a configuration says otherwise. */
  readonly database: string;
  /** Writes a file; the path is relative to the project. */
  write(path: string, text: string): void;
  /** Writes a migration that exports these steps, given as TypeScript, with everything imported that it may name. */
  migration(name: string, steps: string): void;
  /** Runs the built command here and waits for it. */
  migrate(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Finished>;
  /** Starts the built command here. */
  start(args: readonly string[], env?: Readonly<Record<string, string>>): Running;
}

/**
 * Which process `migrate` runs a command in: one of its own, or one that other commands have run in, which saves most of
 * what they cost. With MIGRATE_LONG=1 each has its own, and so has one with settings that Node reads at its start.
 */
export type Processes = "own" | "shared";

/** A project without files and with an empty database, in which "lance-migrate" is the built package. */
export function aProject(processes: Processes = "shared"): Project {
  const folder = temporaryFolder();
  let edition = 0;
  const write = (path: string, text: string) => {
    const file = join(folder, path);
    // The command itself reads an edited migration again, but any other module once.
    if (!path.startsWith("migrations/") && existsSync(file)) edition++;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  write("package.json", `{ "type": "module" }\n`);
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["migrations", ".lancedb"]) mkdirSync(join(folder, name));
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  const start = (args: readonly string[], env?: Environment) => startCommand({ folder, args, env });
  return {
    folder,
    database: join(folder, ".lancedb"),
    write,
    migration: (name, steps) =>
      write(`migrations/${name}`, `import * as m from "lance-migrate";\n\nexport const up = [\n${steps}\n];\n`),
    migrate: (args, env) => runCommand({ folder, args, env, edition }, processes),
    start,
  };
}

export type Environment = Readonly<Record<string, string>>;

interface Asked {
  readonly folder: string;
  readonly args: readonly string[];
  readonly env?: Environment | undefined;
}

/** An environment in which a command waits for no lease: its clock leaps over it. Commands with the same one share a clock. */
export function leaping(): Environment {
  const file = join(temporaryFolder(), "clock");
  writeFileSync(file, "0");
  return { LEAPING_CLOCK: file };
}

/** An environment with this module loaded before the command, and those of another one, or that the tests are run with. */
export function preloading(
  module: string,
  { NODE_OPTIONS = process.env["NODE_OPTIONS"] }: Environment = {},
): Environment {
  const file = fileURLToPath(new URL(module, import.meta.url));
  return { NODE_OPTIONS: [NODE_OPTIONS, `--import=${file}`].join(" ") };
}

/** Starts the built command. */
export function startCommand({ folder, args, env = {} }: Asked): Running {
  const leaps = "LEAPING_CLOCK" in env ? preloading("leaping-clock.ts", env) : {};
  const { process: child, finished } = startNode([join(root, "dist", "bin.js"), ...args], folder, { ...env, ...leaps });
  return { process: child, finished: finished.then((ended) => checked(args, ended)) };
}

const readAtStart = /^(NODE_|TZ$)/;

/**
 * Runs the built command. `edition`: how often the modules of the project have been rewritten. Errors are without the
 * codes at their ends, so that tests can compare them with the messages that programs get.
 */
export async function runCommand(
  asked: Asked & { readonly edition?: number },
  processes: Processes,
): Promise<Finished> {
  const { stderr, ...finished } = await finishedCommand(asked, processes);
  return { ...finished, stderr: stderr.replaceAll(/ \(ERR_[A-Z_]+\)$/gm, "") };
}

async function finishedCommand(
  { edition = 0, ...asked }: Asked & { readonly edition?: number },
  processes: Processes,
): Promise<Finished> {
  const { env = {} } = asked;
  if (processes === "own" || isLong || Object.keys(env).some((name) => readAtStart.test(name)))
    return await startCommand(asked).finished;
  return checked(asked.args, await runShared({ ...asked, env, edition }));
}

function checked(args: readonly string[], finished: Finished): Finished {
  checkJsonOutput(args, finished.stdout);
  return finished;
}

/** Most of what a process costs is its start, so what Node makes of its modules is kept for the next. */
export const compiled = { NODE_COMPILE_CACHE: join(tmpdir(), "lance-migrate-code") };

/** A Node process with its output collected. */
export function startNode(
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Running {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, ...compiled, NO_COLOR: "1", ...env },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output.stderr += text));
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
  });
  return { process: child, finished };
}
