import type { Shape } from "../../checks/check.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import type { Additions } from "./additions.ts";
import type { Command, CommandDefinition, Context } from "./command.ts";
import type { CommandResult } from "./exit-code.ts";
import type { FlagTable, FlagValues } from "./flags.ts";

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
export type Loaders = Readonly<Record<string, () => Promise<CommandDefinition>>>;

export type CommandGroups = { readonly [Title in (typeof groupTitles)[number]]?: Loaders };

/** What a folder of `src/features` adds. If it has commands or flags, what they print with --json is in `json.ts` there, by the names of commands. */
export interface Feature extends Additions {
  readonly commands?: CommandGroups;
  /** The flags that it adds to commands of the core, by their names. */
  readonly flags?: Readonly<Record<string, FlagTable>>;
  /** What it adds to commands of the core, by their names. */
  readonly extensions?: Readonly<Record<string, () => Promise<Extension>>>;
  /** What `migrate __complete` prints for the words that are typed. */
  readonly complete?: (words: readonly string[], known: KnownCommands) => Promise<string>;
  /** What it adds to the migrator for programs. */
  readonly members?: () => Promise<Readonly<Record<string, MigratorMember<never, unknown>>>>;
}

/** All commands, and the features that add to them. */
export interface KnownCommands {
  readonly features: readonly Feature[];
  /** The command of this name; undefined if there is none. */
  readonly loadCommand: (name: string) => Promise<Command | undefined>;
  readonly loadCommands: () => Promise<readonly Command[]>;
}

/** A function of the migrator: the options that it takes, and what it does. */
export interface MigratorMember<Choice extends object, Result> {
  readonly shape: Shape<Choice>;
  verb(options: MigratorOptions, choice: Choice): Promise<Result>;
}

/** More flags of a command, and what it does with them. */
export interface Extension<Table extends FlagTable = FlagTable> extends Pick<CommandDefinition, "examples"> {
  readonly flags: Table;
  /** As those of a command, whose flags they may name too. */
  readonly conflicts: NonNullable<CommandDefinition["conflicts"]>;
  /** Runs in place of the command, which is `rest`. */
  run(context: Context<FlagValues<Table>>, rest: () => Promise<CommandResult>): Promise<CommandResult>;
}

/** Types flow as in a command. */
export function defineExtension<Table extends FlagTable>(extension: Extension<Table>): Extension {
  return extension as unknown as Extension;
}

/** The command with what a feature adds to it. */
export function extended(command: Command, { examples, flags, conflicts, run }: Extension): Command {
  const byFirst = Map.groupBy([...(command.conflicts ?? []), ...conflicts], ([first]) => first);
  return {
    ...command,
    examples: [...command.examples, ...examples],
    flags: { ...command.flags, ...flags },
    conflicts: [...byFirst.values()].map((lists) => lists.reduce((all, [, ...others]) => [...all, ...others])),
    run: async (context) => await run(context, async () => await command.run(context)),
  };
}
