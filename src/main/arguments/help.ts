/** The text of help. */
import { loadGroups } from "../commands/registry.ts";
import { flagsOf, usageOf, type Command } from "../../cli/command/command.ts";
import { endingCode, type EndingName } from "../../cli/command/exit-code.ts";
import { commonFlags, type Flag, type FlagTable } from "../../cli/command/flags.ts";

/** Something that is explained, and the explanation. */
export type HelpEntry = readonly [term: string, meaning: string];

/** Help about all commands, or about the first of these words that is one. */
export async function helpAbout(words: readonly string[], columns: number): Promise<string> {
  const groups = await loadGroups();
  const commands = groups.flatMap(([, all]) => all);
  const command = words.map((word) => commands.find(({ name }) => name === word)).find((found) => found !== undefined);
  const blocks = command === undefined ? allHelp(groups, columns) : commandHelp(command, columns);
  return `${blocks.join("\n\n")}\n`;
}

function allHelp(groups: Awaited<ReturnType<typeof loadGroups>>, columns: number): readonly string[] {
  const listed = groups.map(
    ([title, commands]) => [title, commands.map((one): HelpEntry => [usageOf(one), one.describe])] as const,
  );
  const indent = indentOf(listed.flatMap(([, entries]) => entries));
  return [
    "migrate <command> [flags]",
    "Schema migrations for LanceDB tables.",
    ...listed.map(([title, entries]) => block(title, entries, columns, indent)),
    block("Examples", beginning, columns),
    block("Flags of all commands", [...flagEntries(commonFlags), ...helpFlags], columns),
    wrapped("migrate <command> --help shows the flags of one command, and examples.", columns).join("\n"),
  ];
}

/** What a new user runs first. */
const beginning: readonly HelpEntry[] = [
  ["migrate new create_documents --create-table 'documents(id int64, title utf8)'", "write a migration"],
  ["migrate plan", "show what it will do"],
  ["migrate up", "apply it"],
];

function commandHelp(command: Command, columns: number): readonly string[] {
  const { describe, examples, flags } = command;
  const common = Object.entries(flagsOf(command)).filter(([name]) => !Object.hasOwn(flags, name));
  const own = flagEntries(flags);
  const exits = exitEntries(command);
  return [
    `migrate ${usageOf(command)}${own.length === 0 ? "" : " [flags]"}`,
    wrapped(describe, columns).join("\n"),
    block("Examples", examples, columns),
    ...(own.length === 0 ? [] : [block("Flags", own, columns)]),
    ...(exits.length === 0 ? [] : [block("Exit codes", exits, columns)]),
    block("Flags of all commands", [...flagEntries(Object.fromEntries(common)), ...helpFlags], columns),
  ];
}

/** What exit codes mean for this command in particular. */
export function exitEntries({ exits = {} }: Command): readonly HelpEntry[] {
  return Object.entries(exits).map(([ending, meaning]) => [String(endingCode(ending as EndingName)), meaning]);
}

const helpFlags: readonly HelpEntry[] = [
  ["-h, --help", "show this help"],
  ["-V, --version", "show the version"],
];

export function flagEntries(flags: FlagTable): readonly HelpEntry[] {
  return Object.entries(flags).map(([name, flag]) => [labelOf(name, flag), flag.describe]);
}

function labelOf(name: string, { kind, alias = "", value }: Flag<unknown>): string {
  if (kind === "positional") return name;
  const names =
    alias === "" ? `    --${name}` : alias.length === 1 ? `-${alias}, --${name}` : `    --${name}, --${alias}`;
  return value === undefined ? names : `${names} ${value}`;
}

/** The longest term that has its explanation beside it. That of a longer one is below it. */
const longestTerm = 28;

/** Where explanations begin. */
function indentOf(entries: readonly HelpEntry[]): number {
  const widths = entries.map(([term]) => term.length).filter((length) => length <= longestTerm);
  return Math.max(4, ...widths) + 4;
}

function block(title: string, entries: readonly HelpEntry[], columns: number, indent = indentOf(entries)): string {
  const lines = entries.flatMap(([term, meaning]) => {
    const explained = wrapped(meaning, columns - indent).map((line) => " ".repeat(indent) + line);
    if (term.length <= longestTerm)
      return [`  ${term}`.padEnd(indent) + explained[0]!.trimStart(), ...explained.slice(1)];
    const words = term.trimStart();
    const start = " ".repeat(2 + term.length - words.length);
    const fits = start.length + words.length <= columns;
    const [first = "", ...rest] = wrapped(words, fits ? words.length : columns - start.length - 4);
    return [start + first, ...rest.map((line) => `${start}    ${line}`), ...explained];
  });
  return [`${title}:`, ...lines].join("\n");
}

/** The lines of a text. A word that is longer than a line is not broken. */
function wrapped(text: string, columns: number): readonly string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1)!;
    if (last === "") lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
