import { spawnSync } from "node:child_process";

/** What a command line prints in a terminal of this width, escape sequences included. */
export function record(commandLine: string, folder: string, columns: number): string {
  // script, of util-linux, gives the command a terminal of its own.
  const inside = `stty cols ${columns} rows 50; ${commandLine}`;
  const env = { ...process.env, TERM: "xterm-256color", FORCE_COLOR: "1", NO_COLOR: undefined };
  const args = ["--quiet", "--command", inside, "/dev/null"];
  const { error, stdout } = spawnSync("script", args, { cwd: folder, env, encoding: "utf8", stdio: "pipe" });
  if (error !== undefined) throw error;
  return stdout;
}
