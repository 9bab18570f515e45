/** A version of LanceDB's client, installed in a folder of its own and at work in a process of its own. */
import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The official packages for Python that the service is tested with, and what runs the tests of an application. */
export const officialPackages = ["lancedb==0.40.0", "pylance==14.0.2", "lance-namespace==0.13.0", "pytest==9.2.0"];

export interface Task {
  readonly what: string;
  readonly [argument: string]: unknown;
}

export type Answer = { readonly value: unknown } | { readonly error: string };

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
/** Of all runs of the tests: an installation takes longer than most tests. */
const cache = script("../.cache");

/** The interpreter of an environment with these packages of Python, which is made unless it is there. */
export function pythonWith(...packages: readonly string[]): string {
  const folder = installed(packages.join("+"), (place) => {
    // Without a pip of its own, which would take as long as a third of the packages.
    execFileSync("python3", ["-m", "venv", "--without-pip", place]);
    const python = join(place, "bin/python");
    const quietly = ["--quiet", "--disable-pip-version-check", "--no-compile"];
    execFileSync("python3", ["-m", "pip", "--python", python, "install", ...quietly, ...packages]);
    // Modules are compiled when they are first imported, which most never are.
    const where = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"];
    const modules = execFileSync(python, where, { encoding: "utf8" }).trim();
    writeFileSync(join(modules, "sitecustomize.py"), "import sys\nsys.dont_write_bytecode = False\n");
  });
  return join(folder, "bin/python");
}

/** The wheel of a package, from which Python can import without unpacking it. */
export function wheelOf(requirement: string): string {
  const folder = installed(`wheel-${requirement}`, (place) => {
    execFileSync("python3", ["-m", "pip", "download", "--quiet", "--no-deps", "--dest", place, requirement]);
  });
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(".whl"))!,
  );
}

export function nodeModulesWith(...packages: readonly string[]): string {
  return installed(packages.join("+").replaceAll("/", "-"), (place) => {
    writeFileSync(join(place, "package.json"), '{ "private": true }\n');
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent", ...packages], { cwd: place });
  });
}

/** The folder of that name in which something was installed completely. */
function installed(name: string, install: (folder: string) => void): string {
  const folder = join(cache, name);
  const isDone = join(folder, "installed");
  if (existsSync(isDone)) return folder;
  mkdirSync(folder, { recursive: true });
  install(folder);
  writeFileSync(isDone, "");
  return folder;
}

/** Starts `js-0.39.0` or `py-0.40.0`; a client that dies at a task is started again for the next. */
export function startClient(name: string) {
  const version = name.slice(3);
  const command: readonly [string, readonly string[]] = name.startsWith("py-")
    ? [pythonWith(`lancedb==${version}`), [script("client.py")]]
    : [process.execPath, [script("client.mjs"), nodeModulesWith(`@lancedb/lancedb@${version}`, "apache-arrow@18.1.0")]];
  let child: ChildProcessWithoutNullStreams | undefined;
  let settle: (answer: Answer) => void = () => {};
  const start = () => {
    const started = spawn(command[0], command[1], { env: { ...process.env, LANCE_LOG: "off", LANCEDB_LOG: "off" } });
    started.stderr.resume();
    started.stdin.on("error", () => {});
    createInterface({ input: started.stdout }).on("line", (line) => settle(JSON.parse(line)));
    started.once("exit", (code, signal) => {
      if (child !== started) return;
      child = undefined;
      settle({ error: `the process ended with ${signal ?? code}` });
    });
    return started;
  };
  return {
    name,
    async ask(folderOfTable: string, task: Task): Promise<Answer> {
      const answered = new Promise<Answer>((resolve) => (settle = resolve));
      child ??= start();
      child.stdin.write(`${JSON.stringify({ ...task, folder: folderOfTable })}\n`);
      return await answered;
    },
    stop() {
      const last = child;
      child = undefined;
      last?.kill();
    },
  };
}

export type Client = ReturnType<typeof startClient>;
