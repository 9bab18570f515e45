/** A version of LanceDB's client, installed in a folder of its own and at work in a process of its own. */
import { execFileSync, spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Task {
  readonly what: string;
  readonly [argument: string]: unknown;
}

export type Answer = { readonly value: unknown } | { readonly error: string };

const cache = join(tmpdir(), "lance-migrate-clients");
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Installs `js-0.39.0` or `py-0.40.0`, unless it is there; gives its folder. */
function install(name: string): string {
  const folder = join(cache, name);
  const isDone = join(folder, "installed");
  if (existsSync(isDone)) return folder;
  mkdirSync(folder, { recursive: true });
  const version = name.slice(3);
  if (name.startsWith("py-")) {
    execFileSync("python3", ["-m", "venv", folder]);
    execFileSync(join(folder, "bin/pip"), ["install", "--quiet", `lancedb==${version}`]);
  } else {
    writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    const packages = [`@lancedb/lancedb@${version}`, "apache-arrow@18.1.0"];
    execFileSync("npm", ["install", "--no-audit", "--no-fund", "--silent", ...packages], { cwd: folder });
  }
  writeFileSync(isDone, "");
  return folder;
}

/** Starts it; a client that dies at a task is started again for the next. */
export function startClient(name: string) {
  const folder = install(name);
  const command: readonly [string, readonly string[]] = name.startsWith("py-")
    ? [join(folder, "bin/python"), [script("client.py")]]
    : [process.execPath, [script("client.mjs"), folder]];
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
