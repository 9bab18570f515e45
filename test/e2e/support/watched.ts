/** The built command in a folder that is all it may write to, with everything that it shows and leaves there. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { filesIn, rowsIn } from "../../support/secrets.ts";
import { compiled, root } from "../../support/project.ts";

export interface Shown {
  readonly code: number | null;
  /** What was written where, by a name for messages. */
  readonly texts: readonly (readonly [where: string, text: string])[];
}

export interface Watched {
  readonly folder: string;
  readonly run: (command: string, args: readonly string[], env: Environment) => Promise<Shown>;
  /** Every file that was not planted, and every row of every table. */
  readonly left: () => Promise<Shown["texts"]>;
}

export type Environment = Readonly<Record<string, string>>;

/** Folders that are gone when the test file ends. */
export function watchedFolders(): (files: Readonly<Record<string, string>>) => Watched {
  const home = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  return (files) => {
    const folder = mkdtempSync(join(home, "project-"));
    for (const name of ["home", "tmp", "node_modules", ".lancedb"]) mkdirSync(join(folder, name));
    symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return {
      folder,
      run: async (command, args, env) => await runIn(folder, command, args, env),
      left: async () => {
        const databases = [".lancedb", "served"].map((name) => join(folder, name)).filter((path) => existsSync(path));
        const rows = await Promise.all(databases.map(async (path) => [path, await rowsIn(path)] as const));
        return [...filesIn(folder, new Map(Object.entries(files))), ...rows];
      },
    };
  };
}

async function runIn(folder: string, command: string, args: readonly string[], env: Environment): Promise<Shown> {
  const script = command === "library" ? join(folder, "library.mjs") : join(root, "dist", "bin.js");
  const child = spawn(process.execPath, [script, ...args], {
    cwd: folder,
    // Nothing of whoever runs the tests, so that what is found is ours.
    env: {
      PATH: process.env["PATH"],
      ...compiled,
      NO_COLOR: "1",
      HOME: join(folder, "home"),
      TMPDIR: join(folder, "tmp"),
      ...env,
    },
  });
  const output = { stdout: "", stderr: "", title: "" };
  const collect = (stream: "stdout" | "stderr") => (text: string) => {
    output[stream] += text;
    output.title += titleOf(child.pid!);
    if (stream === "stdout" && command === "serve") void knock(output.stdout, env).finally(() => child.kill("SIGTERM"));
  };
  child.stdout.setEncoding("latin1").on("data", collect("stdout"));
  child.stderr.setEncoding("latin1").on("data", collect("stderr"));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, texts: Object.entries(output) };
}

/** How others on the machine see a process. */
function titleOf(pid: number): string {
  try {
    return ["cmdline", "comm"].map((name) => readFileSync(`/proc/${pid}/${name}`, "latin1")).join("");
  } catch {
    return ""; // it has ended, or this is no Linux
  }
}

/** Somebody who sends the key wherever it does not belong. */
async function knock(stdout: string, { KNOCK = "" }: Environment): Promise<void> {
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout)?.[0];
  if (url === undefined) return;
  const encoded = encodeURIComponent(KNOCK);
  for (const [path, headers, body] of [
    [`/v1/${encoded}`, {}, undefined],
    [`/v1/table/${encoded}/describe?key=${encoded}`, { "x-api-key": KNOCK }, `{"key": "${KNOCK}`],
    [`/v1/tables?key=${encoded}`, { "x-api-key": `${KNOCK}1`, "x-request-id": KNOCK }, undefined],
    [
      "/v1/table/x/query",
      { "x-api-key": KNOCK, "content-type": "application/json" },
      JSON.stringify({ filter: KNOCK }),
    ],
  ] as const) {
    await new Promise<void>((done) => {
      const sent = request(`${url}${path}`, { method: body === undefined ? "GET" : "POST", headers });
      sent.on("response", (response) => response.resume().on("end", done)).on("error", () => done());
      sent.end(body);
    });
  }
}
