/** The built command at a terminal. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { root, type Project } from "../../support/project.ts";

/** Whether the command script is here, which makes a terminal. */
export const hasTerminal = spawnSync("script", ["--version"]).status === 0;
if (!hasTerminal) console.log("skipped: there is no script command, which makes a terminal");

/** Types one line whenever it is asked for one, and gives what is seen. `asked`: what stands at the end of a question. */
export async function atTerminal(
  { folder }: Pick<Project, "folder">,
  args: string,
  asked: RegExp,
  lines: readonly string[],
): Promise<{ readonly code: number | null; readonly shown: string }> {
  const command = `${process.execPath} ${join(root, "dist/bin.js")} ${args}`;
  const terminal = spawn("script", ["-qec", command, "/dev/null"], { cwd: folder, timeout: 60_000 });
  let shown = "";
  let typed = 0;
  terminal.stdout.on("data", (chunk: Buffer) => {
    shown += String(chunk);
    if (shown.split(asked).length - 1 > typed && typed < lines.length) terminal.stdin.write(lines[typed++]!);
  });
  const [code] = (await once(terminal, "close")) as [number | null];
  return { code, shown };
}
