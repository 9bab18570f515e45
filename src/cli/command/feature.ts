import type { Command } from "./command.ts";

/** The titles of --help, in its order. */
export const groupTitles = [
  "Write migrations",
  "Apply and roll back",
  "Inspect",
  "Work on branches",
  "Existing databases and repairs",
  "More",
] as const;

/** Commands by name. Each is loaded when it is needed. */
export type Loaders = Readonly<Record<string, () => Promise<Command>>>;

export type CommandGroups = { readonly [Title in (typeof groupTitles)[number]]?: Loaders };

/** What a folder of `src/features` adds. Its shapes of --json are in `json.ts` there, each under its command's name. */
export interface Feature {
  readonly commands: CommandGroups;
}
