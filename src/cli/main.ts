/** The command line: takes flags, and ends the process with an exit code. */
import yargs from "yargs";
import packageJson from "../../package.json" with { type: "json" };
import { firstLine, isMigrateError, MigrateError } from "../errors/migrate-error.ts";
import { keepSecret } from "../secrets/redact.ts";
import { similarName } from "../schema/names.ts";
import type { Command } from "./command/command.ts";
import { endingCode, exitCodeOf } from "./command/exit-code.ts";
import { commonFlags, isSwitch, metaOf, parseFlags, withFlags, type FlagTable } from "./command/flags.ts";
import { commands } from "./commands/index.ts";
import { interruptible } from "./interruptible.ts";
import { createOutput, keepSecretsOut, type Output, type OutputOptions } from "./command/output.ts";
import { uncaught } from "./uncaught.ts";

export async function main(args: readonly string[]): Promise<void> {
  outliveReaders();
  keepSecret(...typedKeys(args));
  for (const stream of [process.stdout, process.stderr]) keepSecretsOut(stream);
  let output = createOutput({ json: args.includes("--json"), color: false });
  printWarnings((line) => output.problem(line));
  // Without these handlers, Node would report an error of a migration's timer past our output, and a rejected promise
  // without the reason.
  const end = (thrown: unknown) => {
    const error = uncaught(thrown);
    report(error, output);
    process.exit(exitCodeOf(error));
  };
  process.on("uncaughtException", end).on("unhandledRejection", end);
  try {
    process.exitCode = await runCommand(args, (chosen) => (output = chosen));
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    report(error, output);
  }
  // A timer or a socket that a migration file has left behind must not keep a deployment waiting.
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => stream.write("", () => done()))),
  );
  process.exit();
}

const noCommand = "give a command, such as migrate up; see migrate --help";

async function runCommand(args: readonly string[], choose: (output: Output) => void): Promise<number> {
  let exitCode = 0;
  checkWords(args);
  const cli = withFlags(yargs([...args]), commonFlags)
    .scriptName("migrate")
    .usage("$0 <command>\n\nSchema migrations for Lance tables.")
    .version(packageJson.version)
    .alias({ version: "V", help: "h" })
    .strict()
    .demandCommand(1, noCommand)
    .parserConfiguration({ "parse-numbers": false, "camel-case-expansion": false, "duplicate-arguments-array": true })
    .exitProcess(false)
    .showHelpOnFail(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new MigrateError("ERR_USAGE", { problem: usageProblem(message ?? "wrong usage", args) });
    });
  for (const command of commands) {
    const { usage, describe, flags, conflicts } = command;
    cli.command(
      usage,
      describe,
      (builder) =>
        withFlags(builder, flags)
          .group(optionsIn(flags), "Options:")
          .group([...optionsIn(commonFlags), "help", "version"], "Common options:"),
      async (typed) => {
        const output = createOutput(typed as OutputOptions);
        choose(output);
        // What a migration or a configuration prints itself goes to stderr, so that it does not mix with results.
        console.log = console.info = console.debug = console.error;
        const values = parseFlags({ ...flags, ...commonFlags }, typed, conflicts);
        const ending = await interruptible({ flags: values, words: args, output }, command);
        if (isMigrateError(ending)) output.problem(ending.message);
        exitCode = endingCode(ending);
      },
    );
  }
  await cli.parseAsync();
  return exitCode;
}

/**
 * Refuses what yargs would accept silently: it takes --dry-run=yes for no, uses the last of --dry-run --no-dry-run, and
 * drops what follows --.
 */
function checkWords(args: readonly string[]): void {
  const words = args.flatMap(inFull);
  const switches = [commonFlags, ...commands.map(({ flags }) => flags)].flatMap((flags: FlagTable) =>
    Object.keys(flags).filter((name) => isSwitch(flags[name]!)),
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
  return Object.keys(flags).filter((name) => !metaOf(flags[name]!).isPositional);
}

/** A word with its short forms expanded: -qv and --q stand for --quiet and --verbose. */
function inFull(word: string): readonly string[] {
  const [, no = "", letters, value = ""] = /^-(?:-(no-)?(?=\w(?:=|$)))?([a-z]+)(=.*)?$/is.exec(word) ?? [];
  if (letters === undefined) return [word];
  const nameOf = (letter: string) =>
    Object.entries(commonFlags).find(([, flag]) => isSwitch(flag) && metaOf(flag).alias === letter)?.[0] ?? letter;
  return [...letters].map((letter) => `--${no}${nameOf(letter)}${value}`);
}

/** Keys that were typed, in any way: the error about an unknown argument may repeat them. */
function typedKeys(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, index) => {
    const typed = /^--api-?key(=|$)/i.exec(arg);
    return typed === null ? [] : typed[1] === "=" ? [arg.slice(typed[0].length)] : (args[index + 1] ?? []);
  });
}

/** The message of yargs, completed with what yargs knows and does not report. */
function usageProblem(message: string, args: readonly string[]): string {
  const text = message.split("\n", 1)[0] ?? message;
  const unknown = (/^Unknown (?:argument|command)s?: (.*)/.exec(text)?.[1] ?? "").split(", ");
  // Values of flags are words too. The mistyped command is a word that yargs calls unknown and that was typed like
  // that.
  const word = args.find((arg) => commandOf(arg) !== undefined) ?? args.find((arg) => unknown.includes(arg));
  if (word !== undefined && commandOf(word) === undefined) {
    const similar = similarName(word, commands.map(wordOf));
    return `there is no command ${word}; ${similar === undefined ? "see migrate --help" : `did you mean ${similar}?`}`;
  }
  if (text.startsWith("Unknown argument"))
    return `${text.replace(/^Unknown arguments?/, "unknown flag or argument")}; see migrate ${word ?? ""} --help`;
  if (text.startsWith("Not enough non-option arguments"))
    return `migrate ${word} needs a name, such as migrate ${word} add_headlines`;
  return text === noCommand ? text : `${text}; see migrate --help`;
}

function wordOf({ usage }: Command): string {
  return usage.split(" ", 1)[0]!;
}

function commandOf(word: string): Command | undefined {
  return commands.find((command) => wordOf(command) === word);
}

function report(error: unknown, output: Output): void {
  const ours = isMigrateError(error);
  const message = ours ? error.message : firstLine(error);
  output.data({ event: "error", code: ours ? error.code : "ERR_INTERNAL", message });
  output.problem(ours ? message : `internal error: ${message}; run with --verbose for where, and report it`);
  if (!output.verbose || !(error instanceof Error)) return;
  for (const at of [error, error.cause]) if (at instanceof Error) for (const line of traceOf(at)) output.problem(line);
}

/** The lines of a stack. Those of a message with line breaks are indented like the calls. */
function traceOf({ stack = "" }: Error): readonly string[] {
  return stack.split("\n").map((line, index) => (index === 0 ? line : `    ${line.trim()}`));
}

/** A reader that closes its pipe (migrate up | head -1) must not stop a run between two actions. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
}

/** Node's warnings, without those about type stripping and package.json, which users of migrations did not ask for. */
function printWarnings(print: (line: string) => void): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    const code = (warning as { code?: string }).code;
    if (warning.name === "ExperimentalWarning" || code === "MODULE_TYPELESS_PACKAGE_JSON") return;
    print(`${warning.name}: ${warning.message}`);
  });
}
