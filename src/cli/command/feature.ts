import type { Shape } from "../../checks/check.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import type { Additions } from "./additions.ts";
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
export interface Feature extends Additions {
  readonly commands: CommandGroups;
  /** What it adds to the migrator for programs. */
  readonly members?: () => Promise<Readonly<Record<string, Member<never, unknown>>>>;
}

/** A function of the migrator: the options that it takes, and what it does. */
export interface Member<Choice extends object, Result> {
  readonly shape: Shape<Choice>;
  verb(options: MigratorOptions, choice: Choice): Promise<Result>;
}
