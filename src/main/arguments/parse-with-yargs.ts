/** Parses the words of a command line with yargs, and explains what is wrong. */
import yargs, { type Argv } from "yargs";
import { MigrateError } from "../../errors/migrate-error.ts";
import { similarName } from "../../schema/names.ts";
import { loadCommands } from "../commands/registry.ts";
import { usageOf, type Command } from "../../cli/command/command.ts";
import { commonFlags, withFlags, type FlagTable } from "../../cli/command/flags.ts";
import { ourCommand } from "./other-verbs.ts";
import type { GivenCommand } from "./parse-plainly.ts";

/** The command that was given, and its flags. Throws ERR_USAGE. */
export async function parseWithYargs(args: readonly string[]): Promise<GivenCommand> {
  const commands = await loadCommands();
  checkWords(args, commands);
  let given: GivenCommand | undefined;
  await commandLine(args, commands, (found) => (given = found)).parseAsync();
  if (given === undefined) throw new MigrateError("ERR_USAGE", { problem: noCommand });
  return given;
}

const noCommand = "give a command, such as migrate up; see migrate --help";

function commandLine(
  args: readonly string[],
  commands: readonly Command[],
  choose: (given: GivenCommand) => void,
): Argv {
  const cli = withFlags(yargs([...args]), commonFlags)
    .scriptName("migrate")
    // Its own messages are in English too.
    .locale("en")
    .help(false)
    .version(false)
    .strict()
    .demandCommand(1, noCommand)
    .parserConfiguration({ "parse-numbers": false, "camel-case-expansion": false, "duplicate-arguments-array": true })
    .exitProcess(false)
    .showHelpOnFail(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new MigrateError("ERR_USAGE", { problem: usageProblem(message ?? "wrong usage", args, commands) });
    });
  return commands.reduce(
    (all, command) =>
      all.command(
        // A command that needs a name states itself which, if it is missing.
        usageOf(command).replaceAll("<", "[").replaceAll(">", "]"),
        command.describe,
        (builder) => withFlags(builder, command.flags),
        (typed) => choose({ command, typed: withoutEmptyLists(typed) }),
      ),
    cli,
  );
}

/** For yargs, an argument that may be several words and is not given is an empty list. */
function withoutEmptyLists(typed: GivenCommand["typed"]): GivenCommand["typed"] {
  return Object.fromEntries(Object.entries(typed).filter(([, value]) => !Array.isArray(value) || value.length > 0));
}

/**
 * Refuses what yargs would accept silently: it takes --dry-run=yes for no, uses the last of --dry-run --no-dry-run, and
 * drops what follows --.
 */
function checkWords(args: readonly string[], commands: readonly Command[]): void {
  const words = args.flatMap(inFull);
  const switches = [commonFlags, ...commands.map(({ flags }) => flags)].flatMap((flags: FlagTable) =>
    Object.keys(flags).filter((name) => flags[name]!.kind === "switch"),
  );
  const valued = switches.find((name) =>
    words.some((word) => new RegExp(`^--(no-)?${name}=(?!true$|false$)`).test(word)),
  );
  if (valued !== undefined) throw new MigrateError("ERR_USAGE", { problem: `--${valued} takes no value` });
  const twice = switches.find(
    (name) => words.filter((word) => new RegExp(`^--(no-)?${name}(=|$)`).test(word)).length > 1,
  );
  if (twice !== undefined) throw new MigrateError("ERR_USAGE", { problem: `--${twice} is given twice` });
  const end = args.indexOf("--");
  if (end !== -1 && end + 1 < args.length)
    throw new MigrateError("ERR_USAGE", {
      problem: `unknown argument behind --: ${args[end + 1]}; see migrate --help`,
    });
}

function optionsIn(flags: FlagTable): string[] {
  return Object.keys(flags).filter((name) => flags[name]!.kind !== "positional");
}

/** A word with its short forms expanded: -qv and --q stand for --quiet and --verbose. */
function inFull(word: string): readonly string[] {
  const [, no = "", letters, value = ""] = /^-(?:-(no-)?(?=\w(?:=|$)))?([a-z]+)(=.*)?$/is.exec(word) ?? [];
  if (letters === undefined) return [word];
  const flagOf = (letter: string) =>
    Object.entries(commonFlags).find(([, { kind, alias }]) => kind === "switch" && alias === letter)?.[0] ?? letter;
  return [...letters].map((letter) => `--${no}${flagOf(letter)}${value}`);
}

/** Steps are named after the builders in files, such as renameColumn, and their flags are shorter: --rename. */
function similarFlag(flag: string, known: readonly string[]): string | undefined {
  const short = known.find((name) => flag === `${name}-column`);
  return short ?? similarName(flag, known);
}

/** The message of yargs, completed with what yargs knows and does not report. */
function usageProblem(message: string, args: readonly string[], commands: readonly Command[]): string {
  const text = message.split("\n", 1)[0] ?? message;
  const names = commands.map(({ name }) => name);
  const isCommand = (word: string) => names.includes(word);
  const unknown = (/^Unknown (?:argument|command)s?: (.*)/.exec(text)?.[1] ?? "").split(", ");
  const start = args.findIndex((arg) => unknown.includes(arg));
  const hasVerb = start !== -1 && !args.slice(0, start).some(isCommand);
  const other = hasVerb ? ourCommand(args.slice(start), isCommand) : undefined;
  if (other !== undefined) return `there is no command ${other.typed}; migrate ${other.ours} does that`;
  // Values of flags are words too. The mistyped command is a word that yargs calls unknown and that was typed like
  // that.
  const word = args.find(isCommand) ?? args[start];
  if (word !== undefined && !isCommand(word)) {
    const similar = similarName(word, names);
    return `there is no command ${word}; ${similar === undefined ? "see migrate --help" : `did you mean ${similar}?`}`;
  }
  const [number] = unknown;
  if ((word === "up" || word === "down") && /^\d{1,6}$/.test(number ?? ""))
    return `migrate ${word} takes a number only with a flag: --steps ${number} for how many migrations, --to ${number} for the last one that is then applied`;
  if (word !== undefined && unknown.includes("bundle"))
    return `migrate ${word} takes no --bundle; only commands that compare migrations with a database do; see migrate ${word} --help`;
  const command = commands.find(({ name }) => name === word);
  const flag = unknown.find((name) => args.some((arg) => arg.startsWith("-") && arg.includes(name)));
  const similar = flag && similarFlag(flag, optionsIn({ ...commonFlags, ...command?.flags }));
  if (similar !== undefined && similar !== "") return `there is no flag --${flag}; did you mean --${similar}?`;
  if (text.startsWith("Unknown argument"))
    return `${text.replace(/^Unknown arguments?/, "unknown flag or argument")}; see migrate ${word ?? ""} --help`;
  return text === noCommand ? text : `${text}; see migrate --help`;
}
