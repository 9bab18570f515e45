/** Runs the work of test/hosts/project in a host. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { commandOf, runOf, type Host, type Work } from "./hosts.ts";

const given = fileURLToPath(new URL("project", import.meta.url));
const engine = "@lancedb/lancedb";

/** A project in `folder`, whose packages somebody else installs; and one that lacks all but the engine, for bundled programs. */
export function writeProject(folder: string): void {
  cpSync(given, folder, { recursive: true });
  const alone = join(folder, "alone");
  rmSync(alone, { recursive: true, force: true });
  mkdirSync(join(alone, "node_modules", dirname(engine)), { recursive: true });
  writeFileSync(join(alone, "package.json"), "{}");
  symlinkSync(join(folder, "node_modules", engine), join(alone, "node_modules", engine));
  for (const name of ["migrations", "impossible"])
    writeFileSync(join(folder, `${name}.config.mjs`), `export default { migrations: "${name}" };`);
}

/** Writes the migrations for bundled programs. */
export function buildMigrations(folder: string): void {
  for (const name of ["migrations", "impossible"])
    run(folder, process.execPath, [
      "node_modules/lance-migrate/dist/bin.js",
      "build",
      `--config=${name}.config.mjs`,
      `--out=alone/${name}.json`,
    ]);
}

/** "works", or the sentence with which it was refused. `node`: the path of Node. */
export function tryHost(folder: string, host: Host, work: Work, node: string): string {
  const scratch = mkdtempSync(join(folder, "tmp-"));
  const result = join(scratch, "result");
  const isAlone = host.bundler?.isInside === true;
  const home = isAlone ? join(folder, "alone") : folder;
  const variables = {
    PROJECT: home,
    BUNDLED: isAlone ? "1" : "",
    TABLES: join(scratch, "tables"),
    RESULT: result,
    TMPDIR: scratch,
  };
  try {
    const [program, ...args] = work === "up" ? commandOf(host) : runOf(host, fileFor(folder, host, work));
    const { output, status } = run(home, program === "node" ? node : programIn(folder, program!), args, variables);
    if (work === "up" && status === 0) return "works";
    const text = existsSync(result) ? readFileSync(result, "utf8") : (problemIn(output) ?? `exit code ${status}`);
    return text.replaceAll(`${folder}/`, "").replaceAll("file://", "");
  } catch (error) {
    return problemIn(String(error)) ?? String(error);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Writes the file that does the work, and bundles it. Returns its path, from where it is run. */
function fileFor(folder: string, host: Host, work: Work): string {
  const { name, isModule, bundler, extension = isModule ? "mjs" : "cjs", calling = (call) => `${call};` } = host;
  const base = `${name.replaceAll(/[^a-zA-Z]+/g, "-")}-${work}`;
  const library = work === "testing" ? "lance-migrate/testing" : "lance-migrate";
  const head = isModule ? `import * as library from "${library}";` : `const library = require("${library}");`;
  const body = readFileSync(join(given, "work.js"), "utf8");
  const file = `${base}.${extension}`;
  writeFileSync(join(folder, file), [head, body, calling(`report(() => ${work}(library))`)].join("\n"));
  if (bundler === undefined) return file;
  const output = `bundled-${file}`;
  const path = join(folder, bundler.isInside ? "alone" : "", output);
  if (existsSync(path)) return output;
  const external = bundler.isInside ? [engine] : [engine, library];
  const args = ["bundle.mjs", bundler.name, join(folder, file), path, isModule ? "esm" : "cjs", ...external];
  const bundled = run(folder, process.execPath, args);
  if (bundled.status !== 0) throw new Error(bundled.output);
  return output;
}

function run(cwd: string, program: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  // Programs that a host starts run in the same Node.
  const PATH = [dirname(program), process.env["PATH"]].join(delimiter);
  const { NODE_OPTIONS: _, ...env } = process.env;
  const { stdout, stderr, status } = spawnSync(program, args, {
    cwd,
    env: { ...env, ...more, PATH, NO_COLOR: "1", FORCE_COLOR: "0" },
    encoding: "utf8",
    timeout: 300_000,
  });
  return { output: `${stderr}\n${stdout}`, status };
}

const programIn = (folder: string, name: string) => join(folder, "node_modules/.bin", name);

/** The first line that is about a problem. */
function problemIn(output: string): string | undefined {
  const lines = output.split("\n").map((line) => line.trim());
  return lines.find((line) => /Error\b.*:|^error:|can't|Must use|needs /.test(line) && !line.startsWith("at "));
}
