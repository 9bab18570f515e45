/** Blocks of language `console`: commands, and what they print. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root, type Project } from "../support/project.ts";

export interface Shown {
  /** The command as it is typed, with the lines that continue it. */
  readonly command: string;
  readonly output: string;
}

export function shownIn(text: string): readonly Shown[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [, command = "", output = ""] = /^((?:.*\\\n)*.*)\n?([^]*)$/.exec(part) ?? [];
      return { command: command.replaceAll(/\\\n\s*/g, ""), output };
    });
}

/** What a command prints, on stdout and on stderr. */
export type Printed = readonly [stdout: string, stderr: string];

/** Runs a command as a user types it: one of this package in the built command, any other in a shell. */
export async function runShown(project: Project, command: string): Promise<Printed> {
  const [, args] = /^npx migrate (.*)$/.exec(command) ?? [];
  if (args !== undefined) {
    const { stdout, stderr } = await project.migrate(wordsOf(args));
    return [stdout, stderr];
  }
  const PATH = `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`;
  const { stdout, stderr } = spawnSync("bash", ["-c", command.replace(/^npx /, "")], {
    cwd: project.folder,
    encoding: "utf8",
    env: { ...process.env, PATH, GIT_EDITOR: "true", LC_ALL: "C.UTF-8", LANGUAGE: "" },
  });
  return [stdout, stderr];
}

/** The words of a command line, without the quotes around some. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|\S)+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single?: string, double?: string) => single ?? double ?? ""),
  );
}

/** What differs from one run to the next, and what takes its place. */
const masks: readonly (readonly [RegExp, string])[] = [
  // project.migrate leaves them out.
  [/ \(ERR_[A-Z_]+\)$/gm, ""],
  [/\d+(?:\.\d+)? (?:ms|s|min|h)\b/g, "TIME"],
  // Also one that is cut where its line ends.
  [/\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?Z?| …)/g, "DATE"],
  [/\b\d+ times as (?:fast|slow)\b/g, "RATIO"],
  [/\/\S*\/lance-migrate-\w+/g, "FOLDER"],
  [/\bversion \d+/g, "version N"],
  [/\S+@\S+ \(process \d+\)/g, "RUNNER"],
  // Columns of tables are as wide as their longest value.
  [/(?<=\S) {2,}/g, "  "],
  [/ +$/gm, ""],
];

export const masked = (text: string): string =>
  masks.reduce((all, [pattern, word]) => all.replaceAll(pattern, word), text);

/** Whether this was printed. A `…` in what is shown stands for anything within a line; alone in its line, for any lines. */
export const isShown = (shown: string, [stdout, stderr]: Printed): boolean =>
  isMerged(linesOf(shown), linesOf(stdout), linesOf(stderr));

/** Whether these are the lines of both streams, as a terminal mixes them. */
function isMerged([line, ...more]: readonly string[], out: readonly string[], error: readonly string[]): boolean {
  if (line === undefined) return out.length + error.length === 0;
  const isAny = line.trim() === "…";
  if (isAny && isMerged(more, out, error)) return true;
  const rest = isAny ? [line, ...more] : more;
  const pattern = isAny ? /^/ : new RegExp(`^${line.split("…").map(escaped).join(".*")}$`);
  const begins = ([first]: readonly string[]) => first !== undefined && pattern.test(first);
  return (begins(out) && isMerged(rest, out.slice(1), error)) || (begins(error) && isMerged(rest, out, error.slice(1)));
}

const linesOf = (text: string) => (text.trim() === "" ? [] : masked(text.trimEnd()).split("\n"));
const escaped = (text: string) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
