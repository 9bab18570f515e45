/** The built command at a terminal, which the command script makes. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { root, type Project } from "../../support/project.ts";

/** The environment without what vitest and the shell say about colours. */
export function withoutColours(): NodeJS.ProcessEnv {
  const { NO_COLOR: _no, FORCE_COLOR: _force, CI: _ci, ...rest } = process.env;
  return { ...rest, TERM: "xterm-256color" };
}

/** What a shell command prints on a terminal, stdout and stderr together; `migrate` in it is the built command. */
export function onTerminal(
  { folder }: Pick<Project, "folder">,
  command: string,
  { env = {}, columns = 0 }: { readonly env?: NodeJS.ProcessEnv; readonly columns?: number } = {},
): string {
  const built = `'${process.execPath}' '${join(root, "dist/bin.js")}'`;
  const { stdout, error } = spawnSync(
    "script",
    ["-qec", `stty cols ${columns}; ${command.replace(/^migrate/, built)}`, "/dev/null"],
    { cwd: folder, env: { ...withoutColours(), ...env }, encoding: "utf8" },
  );
  if (error !== undefined) throw error;
  return stdout;
}

/**
 * Types one line whenever it is asked for one, and gives what is seen. `asked`: what stands at the end of a question. A
 * function gives a line when something else has happened.
 */
export async function atTerminal(
  { folder }: Pick<Project, "folder">,
  args: string,
  asked: RegExp,
  lines: readonly (string | (() => Promise<string>))[],
): Promise<{ readonly code: number | null; readonly shown: string }> {
  const command = `${process.execPath} ${join(root, "dist/bin.js")} ${args}`;
  // Where tests run in CI, commands would ask less.
  const { CI: _ci, ...env } = process.env;
  const terminal = spawn("script", ["-qec", command, "/dev/null"], { cwd: folder, env });
  let shown = "";
  let typed = 0;
  const type = async (line: string | (() => Promise<string>)) =>
    terminal.stdin.write(typeof line === "string" ? line : await line());
  terminal.stdout.on("data", (chunk: Buffer) => {
    shown += String(chunk);
    if (shown.split(asked).length - 1 > typed && typed < lines.length) void type(lines[typed++]!);
  });
  const [code] = (await once(terminal, "close")) as [number | null];
  return { code, shown };
}
