/** All commands, by the groups of --help: in each those of the core, then those of features by their names. */
import type { Command } from "../../cli/command/command.ts";
import { extended, groupTitles, type CommandGroups, type Feature, type Loaders } from "../../cli/command/feature.ts";
import type { FlagTable } from "../../cli/command/flags.ts";
import * as features from "../../features/index.ts";

const core: CommandGroups = {
  "Apply and roll back": {
    plan: async () => (await import("../../cli/commands/plan.ts")).planCommand,
    up: async () => (await import("../../cli/commands/up.ts")).upCommand,
    down: async () => (await import("../../cli/commands/down.ts")).downCommand,
  },
  Inspect: {
    status: async () => (await import("../../cli/commands/status.ts")).statusCommand,
    history: async () => (await import("../../cli/commands/history.ts")).historyCommand,
    verify: async () => (await import("../../cli/commands/verify.ts")).verifyCommand,
  },
};

const all = Object.values<Feature>(features);

const groups = groupTitles.map((title): readonly [title: string, group: Loaders] => [
  title,
  Object.assign({}, core[title], ...all.map(({ commands }) => commands?.[title])) as Loaders,
]);

const loaders: Loaders = Object.assign({}, ...groups.map(([, group]) => group));

export const commandNames: readonly string[] = Object.keys(loaders);

/** The command of this name; undefined if there is none. */
export async function loadCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(loaders, name) ? await load(name) : undefined;
}

/** A command that is extended is the same one each time. */
const loaded: Record<string, Promise<Command>> = {};
const load = async (name: string) => await (loaded[name] ??= loadExtended(name));

async function loadExtended(name: string): Promise<Command> {
  const extensions = await Promise.all(all.flatMap((one) => one.extensions?.[name]?.() ?? []));
  const command = await loaders[name]!();
  const flags = Object.assign({}, command.flags, ...all.map((one) => one.flags?.[name])) as FlagTable;
  return extensions.reduce(extended, { ...command, name, flags });
}

export async function loadCommands(): Promise<readonly Command[]> {
  return (await loadGroups()).flatMap(([, commands]) => commands);
}

/** What can be typed next, for shells; undefined without a feature that finds it. */
export async function complete(words: readonly string[]): Promise<string | undefined> {
  // What a configuration prints must not become a candidate.
  console.log = console.info = console.debug = console.error;
  const known = { features: all, loadCommand, loadCommands };
  return await all.find((one) => one.complete !== undefined)?.complete?.(words, known);
}

/** The commands under the title of their group. */
export async function loadGroups(): Promise<readonly (readonly [title: string, commands: readonly Command[]])[]> {
  return await Promise.all(
    groups.map(async ([title, group]) => [title, await Promise.all(Object.keys(group).map(load))] as const),
  );
}
