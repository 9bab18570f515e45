/** The command line: takes flags, and ends the process with an exit code. */
import { isError } from "../checks/realm.ts";
import { firstLine, isMigrateError, MigrateError } from "../errors/migrate-error.ts";
import { isCodeAwaited } from "../migrations/evaluate.ts";
import { keepSecret } from "../secrets/redact.ts";
import { flagsOf, usageOf, type Command } from "../cli/command/command.ts";
import { endingCode, exitCodeOf } from "../cli/command/exit-code.ts";
import { commonFlags, parseFlags } from "../cli/command/flags.ts";
import type { errorDocumentShape } from "../cli/json/shared.ts";
import type { Feature } from "../cli/command/feature.ts";
import * as features from "../features/index.ts";
import { endProcess, keepExit } from "./end-process.ts";
import { errorLines, unknownErrorLine } from "./error-lines.ts";
import { readEnvFile } from "./env-file.ts";
import { interruptible, type Fatal } from "./interruptible.ts";
import { createOutput, keepSecretsOut, type Output, type OutputOptions } from "../cli/command/output.ts";
import { parsePlainly, type GivenCommand } from "./arguments/parse-plainly.ts";
import { uncaught, unwritable } from "./uncaught.ts";

export async function main(args: readonly string[]): Promise<void> {
  keepExit();
  keepSecret(...typedKeys(args));
  for (const stream of [process.stdout, process.stderr]) keepSecretsOut(stream);
  let output = createOutput({ json: args.includes("--json"), color: !args.includes("--no-color") });
  printWarnings((line) => output.problem(line));
  // Without these handlers, Node would report an error of a migration's timer past our output, and a rejected promise
  // without the reason.
  const end = (error: MigrateError) => {
    report(error, output);
    endProcess(exitCodeOf(error));
  };
  let stopWith: ((fatal: Fatal) => void) | undefined;
  const fail = (fatal: Fatal) => (stopWith ?? ((early) => end(early())))(fatal);
  const onUncaught = (thrown: unknown) => fail((done) => uncaught(thrown, done));
  process.on("uncaughtException", onUncaught).on("unhandledRejection", onUncaught);
  outliveReaders((stream, cause) => fail((done) => unwritable(stream, cause, done)));
  // Only when nothing is left that could ever happen: Node would then end with 0 in the middle of the work. What runs
  // code of the project gives up by itself, and names the file or the hook (migrations/evaluate.ts).
  process.on("beforeExit", () => {
    if (isCodeAwaited()) setImmediate(() => {});
    else end(new MigrateError("ERR_UNFINISHED", { check: "migrate status" }));
  });
  try {
    const { command, typed } = (await parsePlainly(args)) ?? (await parseWithYargs(args));
    output = createOutput(typed as OutputOptions);
    // What a migration or a configuration prints itself goes to stderr, so that it does not mix with results.
    console.log = console.info = console.debug = console.error;
    const flags = checkedFlags(command, typed);
    if (command.readsConfig !== false) readEnvFile(flags.config as string | undefined);
    const context = { flags, words: args, output, features: Object.values<Feature>(features) };
    const ending = await interruptible(context, command, (stop) => (stopWith = stop));
    if (isMigrateError(ending)) for (const line of errorLines(ending)) output.problem(line);
    process.exitCode = endingCode(ending);
  } catch (error) {
    process.exitCode = exitCodeOf(error);
    report(error, output);
  }
  for (const { ending } of Object.values<Feature>(features)) await ending?.(output);
  // A timer or a socket that a migration file has left behind must not keep a deployment waiting.
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => stream.write("", () => done()))),
  );
  endProcess();
}

function checkedFlags(command: Command, typed: GivenCommand["typed"]) {
  const table = flagsOf(command);
  // They are flags of every command, and this one would ignore them.
  const refused = Object.keys(commonFlags).find((name) => typed[name] !== undefined && !Object.hasOwn(table, name));
  if (refused !== undefined)
    throw new MigrateError("ERR_USAGE", {
      problem: `migrate ${usageOf(command)} reads no configuration and takes no --${refused}`,
    });
  return parseFlags(table, typed, command.conflicts);
}

/** Loaded only for what `parsePlainly` leaves to it: loading yargs takes longer than a run with nothing pending. */
async function parseWithYargs(args: readonly string[]): Promise<GivenCommand> {
  return await (await import("./arguments/parse-with-yargs.ts")).parseWithYargs(args);
}

/** Keys that were typed, in any way: the error about an unknown argument may repeat them. */
function typedKeys(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, index) => {
    const typed = /^--api-?key(=|$)/i.exec(arg);
    return typed === null ? [] : typed[1] === "=" ? [arg.slice(typed[0].length)] : (args[index + 1] ?? []);
  });
}

function report(error: unknown, output: Output): void {
  const ours = isMigrateError(error);
  const message = ours ? error.message : firstLine(error);
  output.data<typeof errorDocumentShape>({ event: "error", code: ours ? error.code : "ERR_INTERNAL", message });
  for (const line of ours ? errorLines(error) : [unknownErrorLine(error)]) output.problem(line);
  if (isMigrateError(error, "ERR_CONTRACT"))
    for (const [index, step] of error.details.sequence.entries()) output.problem(`  ${index + 1}. ${step}`);
  if (!output.verbose || !isError(error)) return;
  for (const at of [error, error.cause]) if (isError(at)) for (const line of traceOf(at)) output.problem(line);
}

/** The lines of a stack. Those of a message with line breaks are indented like the calls. */
function traceOf({ stack = "" }: Error): readonly string[] {
  return stack.split("\n").map((line, index) => (index === 0 ? line : `    ${line.trim()}`));
}

/** A reader that closes its pipe (migrate up | head -1) must not stop a run. An output that can't be written, as on a full disk, stops it. */
function outliveReaders(fail: (stream: string, cause: NodeJS.ErrnoException) => void): void {
  let hasFailed = false;
  for (const stream of ["stdout", "stderr"] as const)
    process[stream].on("error", (cause: NodeJS.ErrnoException) => {
      // Once: the report of the error may be written to the same stream.
      if (cause.code === "EPIPE" || hasFailed) return;
      hasFailed = true;
      fail(stream, cause);
    });
}

/** Node's warnings, without those that users of migrations did not ask for: about type stripping, package.json, and the kind of a module that an error names anyway. */
function printWarnings(print: (line: string) => void): void {
  process.removeAllListeners("warning");
  process.on("warning", (warning) => {
    const code = (warning as { code?: string }).code;
    if (warning.name === "ExperimentalWarning" || code === "MODULE_TYPELESS_PACKAGE_JSON") return;
    if (warning.message.startsWith("Failed to load the ES module")) return;
    print(`${warning.name}: ${warning.message}`);
  });
}
