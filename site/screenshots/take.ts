import { command, Project } from "./project.ts";
import { record } from "./record.ts";
import type { Recording, Screenshot } from "./scenes.ts";
import { screenAfter } from "./screen.ts";
import { framesOf, type Frame } from "./film.ts";
import type { Lines } from "./svg.ts";

/** What the terminal shows: each command as it is typed, and what it prints. */
export async function take({ prepare, shown, until, columns }: Screenshot): Promise<Lines> {
  return await inProject(prepare, (project) =>
    shown.flatMap((args, index) => {
      const sent = record(`${command} ${args}`, project.folder, columns);
      const isLast = index === shown.length - 1;
      const screen = screenAfter(until === undefined || !isLast ? sent : sentUntil(sent, until));
      return [...typed(args), ...screen, ...(isLast ? [] : [[]])];
    }),
  );
}

/** What the terminal shows from moment to moment. */
export async function film({ prepare, screens, columns }: Recording): Promise<readonly Frame[]> {
  return await inProject(prepare, (project) =>
    screens.flatMap((commands) => {
      let before: Lines = [];
      return commands.flatMap((args) => {
        const sent = record(`${command} ${args}`, project.folder, columns);
        const frames = framesOf(before, typed(args), sent);
        before = [...frames.at(-1)!.lines, []];
        return frames;
      });
    }),
  );
}

function typed(args: string): Lines {
  return `$ npx migrate ${args}`
    .trim()
    .split("\n")
    .map((text) => [{ text, style: "bold" }]);
}

export async function inProject<Result>(
  prepare: Screenshot["prepare"],
  work: (project: Project) => Result,
): Promise<Result> {
  const project = new Project();
  try {
    await prepare?.(project);
    return work(project);
  } finally {
    project.remove();
  }
}

function sentUntil(sent: string, until: RegExp): string {
  const found = until.exec(sent);
  if (found === null) throw new Error(`no screen with ${until}:\n${sent}`);
  return sent.slice(0, found.index + found[0].length);
}
