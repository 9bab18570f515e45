/** Parses plain words: the name of a command, and flags in full. */
import { loadCommand } from "../commands/registry.ts";
import type { Command } from "../../cli/command/command.ts";
import { commonFlags, type FlagTable } from "../../cli/command/flags.ts";

/** The command that was given, and its flags as they were typed. */
export interface GivenCommand {
  readonly command: Command;
  readonly typed: Readonly<Record<string, unknown>>;
}

/** The command; undefined unless all words are plain and can mean only one thing. Then yargs has to parse them. */
export async function parsePlainly([name = "", ...words]: readonly string[]): Promise<GivenCommand | undefined> {
  const command = await loadCommand(name);
  if (command === undefined) return undefined;
  const flags: FlagTable = { ...commonFlags, ...command.flags };
  const typed: Record<string, unknown> = {};
  for (let position = 0; position < words.length; position++) {
    const [, flag = "", value] = plainFlag.exec(words[position]!) ?? [];
    const kind = Object.hasOwn(flags, flag) && !Object.hasOwn(typed, flag) ? flags[flag]!.kind : undefined;
    if (kind === undefined || kind === "positional") return undefined;
    if (kind === "switch") {
      if (value !== undefined) return undefined;
      typed[flag] = true;
      continue;
    }
    const text = value ?? words[++position];
    if (text === undefined || !plainValue.test(text)) return undefined;
    typed[flag] = text;
  }
  return { command, typed };
}

const plainFlag = /^--([a-z-]+)(?:=(.*))?$/s;
/** Not a flag, not empty, and without quotes, which yargs removes. */
const plainValue = /^[\w./:@,+][\w./:@,+-]*$/;
