/** Parses the words of a command line, and explains what is wrong with them. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { similarName } from "../../schema/names.ts";
import { commandNames, loadCommand } from "../commands/registry.ts";
import type { Command } from "../../cli/command/command.ts";
import { commonFlags, type Flag, type FlagTable } from "../../cli/command/flags.ts";

/** The command that was given, and its flags as they were typed. */
export interface GivenCommand {
  readonly command: Command;
  readonly typed: Typed;
}

/** By the name of the flag: true or false for a switch, else a text, or a list if the flag was given several times. */
type Typed = Readonly<Record<string, unknown>>;

/** Throws ERR_USAGE. */
export async function parseArguments(args: readonly string[]): Promise<GivenCommand> {
  const at = commandAt(args);
  const name = args[at];
  const command = await loadCommand(name ?? "");
  if (command === undefined) throw wrongUsage(commandProblem(name));
  const flags: FlagTable = { ...commonFlags, ...command.flags };
  const { typed, unknown } = readFlags(args.toSpliced(at, 1), flags);
  if (unknown.length > 0) throw wrongUsage(unknownProblem(unknown, args, at, flags));
  return { command, typed };
}

/** The index of the word that names the command: the first that is no flag and no value of one; -1 if there is none. */
export function commandAt(words: readonly string[]): number {
  return words.findIndex((word, index) => !isFlag(word) && !isValueOf(words[index - 1]));
}

/** Whether the word after this one is its value. Any flag but a common switch may have one: it may be the command's own. */
function isValueOf(flag = ""): boolean {
  const last = lettersOf(flag).at(-1)!;
  const isWhole = last.includes("=") || last.startsWith("--no-");
  return isFlag(last) && !isWhole && flagNamed(last, commonFlags)?.[1].kind !== "switch";
}

/** Negative numbers are values. */
function isFlag(word: string): boolean {
  return /^-(?!\.?\d)/.test(word);
}

/** The flag of a word such as `--target`, `-t` or `target`. */
export function flagNamed(word: string, flags: FlagTable): readonly [name: string, flag: Flag<unknown>] | undefined {
  const label = word.replace(/^--?/, "");
  return Object.entries(flags).find(([name, { alias }]) => name === label || alias === label);
}

/** The values of flags as they were typed, and the words that belong to none of them. Throws ERR_USAGE. */
export function readFlags(
  words: readonly string[],
  flags: FlagTable,
): { readonly typed: Typed; readonly unknown: readonly string[] } {
  const typed: Record<string, unknown> = {};
  const unknown: string[] = [];
  const positionals = Object.keys(flags).filter((name) => flags[name]!.kind === "positional");
  const add = (name: string, value: string | false) => {
    typed[name] = Object.hasOwn(typed, name) ? [typed[name], value].flat() : value;
  };
  const left = beforeEnd(words).flatMap(lettersOf);
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!isFlag(word)) {
      const name = positionals.shift();
      if (name === undefined) unknown.push(word);
      else add(name, unquoted(word));
      continue;
    }
    const { 1: no, 2: label = word, 3: joined } = /^--(no-)?([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const [name, flag] = flagNamed(label, flags) ?? [];
    const isNext = left[0] !== undefined && no === undefined && joined === undefined && mayFollow(left[0], flag);
    const value = isNext ? left.shift() : joined;
    if (name === undefined) unknown.push(label);
    else if (flag?.kind !== "switch") add(name, no === undefined && unquoted(value ?? ""));
    else if (Object.hasOwn(typed, name)) throw wrongUsage(`--${name} is given twice`);
    else typed[name] = switchValue(name, value) === (no === undefined);
  }
  return { typed, unknown };
}

/** Whether the word can be the value of the flag before it. Of an unknown flag, it may be the value too. */
function mayFollow(word: string, flag: Flag<unknown> | undefined): boolean {
  return flag?.kind === "switch" ? word === "true" || word === "false" : !isFlag(word);
}

function switchValue(name: string, value = "true"): boolean {
  if (value !== "true" && value !== "false") throw wrongUsage(`--${name} takes no value`);
  return value === "true";
}

function beforeEnd(words: readonly string[]): readonly string[] {
  const end = words.indexOf("--");
  if (end === -1) return words;
  if (end + 1 < words.length) throw wrongUsage(`unknown argument behind --: ${words[end + 1]}; see migrate --help`);
  return words.slice(0, end);
}

/** A word of flags with one letter each as several words: `-qv` as `--q` and `--v`. */
function lettersOf(word: string): readonly string[] {
  const { 1: letters, 2: value = "" } = /^-([a-z]+)(=.*)?$/is.exec(word) ?? [];
  return letters === undefined ? [word] : [...letters].map((letter) => `--${letter}${value}`);
}

/** Some shells pass on the quotes around a value. */
function unquoted(value: string): string {
  return /^(["']).*\1$/s.test(value) ? value.slice(1, -1) : value;
}

function wrongUsage(problem: string): MigrateError {
  return new MigrateError("ERR_USAGE", { problem });
}

function commandProblem(name: string | undefined): string {
  if (name === undefined) return "give a command, such as migrate up; see migrate --help";
  const similar = similarName(name, commandNames);
  return `there is no command ${name}; ${similar === undefined ? "see migrate --help" : `did you mean ${similar}?`}`;
}

/** `at`: the index of the command among the words. */
function unknownProblem(unknown: readonly string[], words: readonly string[], at: number, flags: FlagTable): string {
  const name = words[at]!;
  if (unknown.includes("bundle"))
    return `migrate ${name} takes no --bundle; only commands that compare migrations with a database do; see migrate ${name} --help`;
  const flag = unknown.find((one) => words.some((word) => word.startsWith("-") && word.includes(one)));
  const similar = flag && similarFlag(flag, flags);
  if (similar !== undefined && similar !== "") return `there is no flag --${flag}; did you mean --${similar}?`;
  return `unknown flag or argument: ${unknown.join(", ")}; see migrate ${name} --help`;
}

/** Steps are named after the builders in files, such as renameColumn, and their flags are shorter: --rename. */
function similarFlag(flag: string, flags: FlagTable): string | undefined {
  const known = Object.keys(flags).filter((name) => flags[name]!.kind !== "positional");
  return known.find((name) => flag === `${name}-column`) ?? similarName(flag, known);
}
