/**
 * Somebody who knows nothing but the last line that a command has printed, and does what it says, word by word. A line that
 * names nothing that can be done, or that leads in a circle, is a dead end.
 */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Finished } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import { restoreFiles, type Scene } from "./scene.ts";

/** More commands than any way out takes. */
const mostCommands = 14;

/** What is done by hand when the line says so; the first that fits. */
const byHand: readonly (readonly [words: RegExp, act: (found: RegExpExecArray, scene: Scene) => unknown])[] = [
  [/No space left|ENOSPC/, (_, { disk }) => disk?.empty()],
  [
    /(?:file|files) (?:is|are) not in the folder migrations; restore|put the file back|restore it, or deploy a release that has it/,
    (_, scene) => restoreFiles(scene),
  ],
  [/was changed after it was applied/, (_, scene) => restoreFiles(scene)],
  [
    /bring (?:table (\w+)|tables? (.*?)) back from a backup/,
    ([, name], { aside, project }) => {
      const folder = `${name}.lance`;
      if (existsSync(join(aside, "database", folder)))
        cpSync(join(aside, "database", folder), join(project.database, folder), { recursive: true });
    },
  ],
  [
    /restore (version \d+ of \w+(?: and version \d+ of \w+)*), if nothing/,
    async ([, which], { project }) => {
      for (const [, version, name] of which!.matchAll(/version (\d+) of (\w+)/g)) {
        const table = await (await lancedb.connect(project.database)).openTable(name!);
        await table.checkout(Number(version));
        await table.restore();
      }
    },
  ],
  [
    /this filter finds all such rows: (.*?)\)(?:;|$)/,
    async ([, filter], { project }) => {
      const docs = await (await lancedb.connect(project.database)).openTable("docs");
      await docs.update({ where: filter!, valuesSql: { year: "'1990'" } });
    },
  ],
];

/** The commands that a line names, in its order. */
export function commandsIn(line: string): readonly (readonly string[])[] {
  return [
    ...line.matchAll(
      /\bmigrate ((?:up|down|repair|verify|status|baseline|resolve|plan)(?: --?[a-z][a-z-]*(?: [0-9]+(?:\.[0-9]+|_[a-z]+)?| lossy| irreversible)?)*)/g,
    ),
  ].map(([, command]) => command!.split(" "));
}

export const lastLine = ({ code, stdout, stderr }: Finished): string =>
  ((code === 0 ? stdout : stderr || stdout).trim().split("\n").at(-1) ?? "").trim();

/** The command that a line names. `again`: the same line has come before, so what it names first has not helped. */
function nextOf(line: string, command: readonly string[], again: boolean): readonly string[] | undefined {
  const flag = /\bpass (--[a-z-]+)/.exec(line)?.slice(1);
  // What the tables can't tell, somebody must know: here, that no migration was half done, if that is offered at all.
  // Otherwise, the first one only repeats a backfill, which changes nothing.
  const whole = /choose with .*?(--to \d+)(?![.\d])/.exec(line);
  // What was brought back, somebody knows; where the ledger is lost, nothing of this is printed.
  const only = /if only \w+(?: and \w+)* (?:was|were) brought back from a copy, choose with (--to [\d.]+)/.exec(line);
  const choice = (only ?? whole ?? /choose with (--to [\d.]+)/.exec(line))?.[1]?.split(" ");
  const more = choice ?? flag;
  return more === undefined ? commandsIn(line).at(again ? -1 : 0) : [...command, ...more];
}

/** Runs the command until it succeeds, doing in between what it says: whether that was more. Throws on a dead end. */
export async function reach(goal: readonly string[], scene: Scene, told: string[]): Promise<boolean> {
  let command = goal;
  let before = "";
  for (let ran = 0; ran < mostCommands; ran++) {
    const ended = await scene.migrate(command);
    const line = lastLine(ended);
    told.push(`$ migrate ${command.join(" ")}  # ${ended.code}`, `  ${line}`);
    if (ended.code === 0 && command === goal) return ran > 0;
    const isDone = ended.code === 0 && !/(?:nothing was changed|\bmigrate [a-z]+ --yes does it)/.test(line);
    if (isDone) {
      command = goal;
      continue;
    }
    let acted = false;
    for (const [words, act] of byHand) {
      const found = words.exec(line);
      if (found === null) continue;
      // Nothing can be done by hand either while there is no space.
      scene.disk?.empty();
      await act(found, scene);
      acted = true;
      break;
    }
    const named = nextOf(line, command, line === before);
    before = line;
    if (!acted && named === undefined) throw new Error("the line names nothing to do");
    command = named === undefined || named.join(" ") === goal.join(" ") ? goal : named;
  }
  throw new Error(`no end after ${mostCommands} commands`);
}
