/** What can be typed next, for shells that complete a command line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withoutMark } from "../../checks/byte-order-mark.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import { lockName } from "../../migrations/schema-lock.ts";
import { openProject } from "../../session/session.ts";
import { flagsOf, type Command } from "../../cli/command/command.ts";
import type { KnownCommands } from "../../cli/command/feature.ts";
import { commonFlags, type Flag, type FlagTable } from "../../cli/command/flags.ts";
import { printable } from "../../cli/command/printable.ts";

/** A word, and what it means. */
type Candidate = readonly [word: string, meaning?: string];

/** Typed words up to the cursor, and flags that they may contain. */
interface Typed {
  readonly before: readonly string[];
  readonly current: string;
  readonly flags: FlagTable;
  readonly known: KnownCommands;
}

/** One line for each candidate for the last of these words: the word, a tab and its meaning. */
export async function complete(words: readonly string[], known: KnownCommands): Promise<string> {
  const before = words.slice(0, -1);
  const command = await commandIn(before, known);
  const flags = command === undefined ? commonFlags : flagsOf(command);
  const typed = { before, current: words.at(-1) ?? "", flags, known };
  const candidates = (await valuesFor(typed)) ?? (await wordsFor(typed, command));
  return candidates.map((words) => `${words.map((text = "") => printable(text)).join("\t")}\n`).join("");
}

async function commandIn(words: readonly string[], { loadCommand }: KnownCommands): Promise<Command | undefined> {
  for (const [index, word] of words.entries()) {
    const isValue = takesValue(commonFlags, words[index - 1]) !== undefined;
    const command = isValue ? undefined : await loadCommand(word);
    if (command !== undefined) return command;
  }
  return undefined;
}

/** The flag of this word, if its value is the next word. */
function takesValue(flags: FlagTable, word = ""): Flag<unknown> | undefined {
  const isNamed = ([name, { alias = "" }]: readonly [string, Flag<unknown>]) =>
    word === `--${name}` || word === `${alias.length === 1 ? "-" : "--"}${alias}`;
  const [, flag] = Object.entries(flags).find(isNamed) ?? [];
  return flag?.kind === "value" ? flag : undefined;
}

/** The values of the flag to which the current word belongs; undefined if it belongs to none. */
async function valuesFor(typed: Typed): Promise<readonly Candidate[] | undefined> {
  const { before, current, flags } = typed;
  // bash takes --to=3 for three words.
  const [last, word] = current === "=" ? ["=", ""] : [before.at(-1), current];
  const name = last !== "=" ? last : current === "=" ? before.at(-1) : before.at(-2);
  const separate = takesValue(flags, name);
  if (separate !== undefined) return startingWith(word, await valuesOf(separate, typed));
  const [, joined = "", value = ""] = /^(--[a-z-]+)=(.*)$/s.exec(current) ?? [];
  const flag = takesValue(flags, joined);
  if (flag === undefined) return undefined;
  return startingWith(value, await valuesOf(flag, typed)).map(([one, ...meaning]) => [`${joined}=${one}`, ...meaning]);
}

/** Commands, values of an argument without a flag, or flags. */
async function wordsFor(
  { before, current, flags, known }: Typed,
  command: Command | undefined,
): Promise<readonly Candidate[]> {
  if (command === undefined && !current.startsWith("-"))
    return startingWith(
      current,
      (await known.loadCommands()).map(({ name, describe }) => [name, describe]),
    );
  const positionals = Object.values(flags).filter(({ kind }) => kind === "positional");
  const all = await Promise.all(positionals.map((flag) => valuesOf(flag, { before, current, flags, known })));
  // Each once, also if several arguments take it.
  const values = [...new Map(all.flat().map((candidate) => [candidate[0], candidate])).values()];
  const given = values.filter(([value]) => before.includes(value)).length;
  const takesMore = positionals.some(({ isList }) => isList) || given < positionals.length;
  if (values.length > 0 && takesMore && !current.startsWith("-"))
    return startingWith(
      current,
      values.filter(([value]) => !before.includes(value)),
    );
  const left = Object.entries(flags).filter(
    ([name, { kind, value = "" }]) => kind !== "positional" && (isAboutTables(value) || !before.includes(`--${name}`)),
  );
  const candidates = left.map(([name, { describe }]): Candidate => [`--${name}`, describe]);
  return startingWith(current, [...candidates, ["--help", "show help"]]);
}

function startingWith(current: string, candidates: readonly Candidate[]): readonly Candidate[] {
  // The shell would interpret other characters.
  return candidates.filter(([word]) => word.startsWith(current) && /^[\p{L}\p{N}_.:@+-]+$/u.test(word));
}

function wordsIn(value: string): readonly Candidate[] {
  return /^[a-z]+(\|[a-z]+)*$/.test(value) ? value.split("|").map((word): Candidate => [word]) : [];
}

/** Flags of steps on tables, which may be given several times. */
function isAboutTables(value: string): boolean {
  return /^"?TABLE/.test(value);
}

async function valuesOf({ value = "" }: Flag<unknown>, typed: Typed): Promise<readonly Candidate[]> {
  try {
    if (value === "TARGET") return Object.keys((await projectOf(typed)).config.targets).map((name) => [name]);
    if (value === "NUMBER")
      return (await projectOf(typed)).migrations.list().map(({ version, name }) => [formatVersion(version), name]);
    if (isAboutTables(value)) return await tablesFor(value, typed);
    return wordsIn(value);
  } catch {
    // The command itself will report what is wrong with the configuration or the migrations.
    return [];
  }
}

/** The configuration, or the one that is typed. */
async function projectOf({ before, known }: Typed): ReturnType<typeof openProject> {
  const at = before.findLastIndex((word) => takesValue({ config: commonFlags.config }, word) !== undefined);
  return await openProject({ config: at === -1 ? undefined : before[at + 1], loadSeconds: 5 }, known.features);
}

/** The tables after the last migration, or also their columns. */
async function tablesFor(value: string, typed: Typed): Promise<readonly Candidate[]> {
  const text = withoutMark(readFileSync(join((await projectOf(typed)).folder, lockName), "utf8"));
  const { tables } = JSON.parse(text) as { tables: Record<string, { columns: Record<string, string> }> };
  if (!value.startsWith('"TABLE.COLUMN')) return Object.keys(tables).map((table) => [table]);
  return Object.entries(tables).flatMap(([table, { columns }]) =>
    Object.entries(columns).map(([column, type]): Candidate => [`${table}.${column}`, type]),
  );
}
