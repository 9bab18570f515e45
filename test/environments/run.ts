/**
 * `npm run check environment -- NAME …` runs the suite in an environment, or in several at once; `tonight` is the one whose
 * turn it is. `-- ARGUMENTS` are for Vitest. `--print NAME …` prints the variables of an environment for a shell.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, globSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { environmentOf, environmentOfNight, variablesOf, type Environment } from "./environments.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const end = process.argv.indexOf("--");
const [own, others] = end < 0 ? [process.argv.slice(2), []] : [process.argv.slice(2, end), process.argv.slice(end + 1)];
const { values, positionals } = parseArgs({
  args: own,
  allowPositionals: true,
  options: { print: { type: "boolean" } },
});

const now = new Date();
const names = positionals.map((name) => (name === "tonight" ? environmentOfNight(now) : name));
const environment = environmentOf(names);
const variables = variablesOf(environment, now, clockLibraries);
if (values.print === true) {
  if (environment.user !== undefined)
    throw new TypeError(`${names.join(", ")} has another user: variables are not enough`);
  console.log(
    Object.entries(variables)
      .map(([name, value]) => `export ${name}=${value}`)
      .join("\n"),
  );
} else {
  console.log(`in ${names.join(", ")}`);
  process.exitCode = environment.user === undefined ? runIn(root, []) : runAs(environment.user);
}

/** Throws if there are none. */
function clockLibraries(): readonly string[] {
  const [clock] = globSync("/usr/lib/*/faketime/libfaketimeMT.so.1");
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-clock-"));
  chmodSync(folder, 0o755);
  const files = join(folder, "file-times.so");
  const source = fileURLToPath(new URL("file-times.c", import.meta.url));
  const compiled = spawnSync("cc", ["-shared", "-fPIC", "-O2", "-o", files, source, "-ldl"], { stdio: "inherit" });
  if (clock === undefined || compiled.status !== 0)
    throw new Error("another clock needs libfaketime and a compiler: apt-get install libfaketime gcc libc6-dev");
  return [files, clock];
}

/** The user gets a copy that is readable wherever the repository is, and a folder for temporary files. */
function runAs(user: Exclude<Environment["user"], undefined>): number {
  const folder = mkdtempSync(join(tmpdir(), "lance-migrate-user-"));
  const copy = join(folder, "repository");
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "--preserve-env"];
  const scratch = join(folder, "tmp");
  try {
    for (const [program, ...args] of [
      ["cp", "-a", root, copy],
      // Programs in it refer to programs of the other user.
      ["rm", "-rf", join(copy, "test/.cache")],
      ["mkdir", scratch],
      [...asRoot, "chown", "-R", `${user}:${user}`, folder],
    ])
      if (spawnSync(program!, args, { stdio: "inherit" }).status !== 0) return 1;
    return runIn(copy, [...asRoot, "setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups"], {
      HOME: scratch,
      TMPDIR: scratch,
      PATH: "/usr/local/bin:/usr/bin:/bin",
    });
  } finally {
    const [program, ...args] = [...asRoot, "rm", "-rf", folder];
    spawnSync(program!, args, { stdio: "inherit" });
  }
}

function runIn(folder: string, before: readonly string[], env: Readonly<Record<string, string>> = {}): number {
  const bin = join(folder, "node_modules/.bin");
  // Only what the user starts has the other clock: libfaketime shares it among the processes of one user.
  const given = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const command = ["env", ...given, join(bin, "node"), "node_modules/vitest/vitest.mjs", "run", ...others];
  const [program, ...args] = [...before, ...command];
  const { PATH = "" } = { ...process.env, ...env };
  const all = { ...process.env, ...env, PATH: `${bin}:${PATH}` };
  return spawnSync(program!, args, { cwd: folder, env: all, stdio: "inherit" }).status ?? 1;
}
