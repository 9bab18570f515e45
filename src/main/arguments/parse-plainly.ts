/** Parses what can mean only one thing: the name of a command, and flags that are each given once. */
import { parseArgs, type ParseArgsConfig } from "node:util";
import { loadCommand } from "../commands/registry.ts";
import { flagsOf, type Command } from "../../cli/command/command.ts";
import type { FlagTable } from "../../cli/command/flags.ts";

/** The command that was given, and its flags as they were typed. */
export interface GivenCommand {
  readonly command: Command;
  readonly typed: Readonly<Record<string, unknown>>;
}

/** The command; undefined if yargs has to parse the words, or to explain what is wrong with them. */
export async function parsePlainly([name = "", ...words]: readonly string[]): Promise<GivenCommand | undefined> {
  const command = await loadCommand(name);
  if (command === undefined) return undefined;
  const typed = valuesOf(words, flagsOf(command));
  if (typed === undefined || words.some(isJoined) || !typed.every(isPlain)) return undefined;
  return { command, typed: Object.fromEntries(typed.map(([flag, [value]]) => [flag, value])) };
}

type Values = readonly [flag: string, values: readonly (string | boolean)[]];

/** What was typed for each flag; undefined if something is not one of these flags with its value. */
function valuesOf(args: readonly string[], flags: FlagTable): readonly Values[] | undefined {
  const options: ParseArgsConfig["options"] = {};
  for (const [name, { kind, alias = "" }] of Object.entries(flags)) {
    const short = alias.length === 1 ? { short: alias } : {};
    if (kind !== "positional")
      options[name] = { type: kind === "switch" ? "boolean" : "string", multiple: true, ...short };
  }
  try {
    return Object.entries(parseArgs({ args, options, allowNegative: true }).values) as unknown as readonly Values[];
  } catch {
    return undefined;
  }
}

/** For yargs, -tlocal is several flags. */
function isJoined(word: string): boolean {
  return /^-\w./.test(word);
}

/** Given once, and neither in quotes, which yargs removes, nor a dash alone, which it refuses. */
function isPlain([, [value, ...more]]: Values): boolean {
  return more.length === 0 && value !== "-" && !/^["']/.test(String(value));
}
