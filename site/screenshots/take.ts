import { command, Project } from "./project.ts";
import { record } from "./record.ts";
import type { Screenshot } from "./scenes.ts";
import { screenAfter, type Run } from "./screen.ts";

/** What the terminal shows: each command as it is typed, and what it prints. */
export async function take({ prepare, shown, until, columns }: Screenshot): Promise<readonly (readonly Run[])[]> {
  const project = new Project();
  try {
    await prepare?.(project);
    return shown.flatMap((args, index) => {
      const typed: Run = { text: `$ npx migrate ${args}`.trim(), style: "bold" };
      const sent = record(`${command} ${args}`, project.folder, columns);
      const isLast = index === shown.length - 1;
      const screen = screenAfter(until === undefined || !isLast ? sent : sentUntil(sent, until));
      return [[typed], ...screen, ...(isLast ? [] : [[]])];
    });
  } finally {
    project.remove();
  }
}

function sentUntil(sent: string, until: RegExp): string {
  const found = until.exec(sent);
  if (found === null) throw new Error(`no screen with ${until}:\n${sent}`);
  return sent.slice(0, found.index + found[0].length);
}
