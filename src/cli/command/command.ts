/** The interface of a command, and the flags that all commands take. */
import type { Argv } from "yargs";
import { z } from "zod";
import { acceptances } from "../../migrations/acceptance.ts";
import { defaultSeconds } from "../../session/config.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import type { RunEvent } from "../../run/events.ts";
import { openSession, type Session, type SessionOptions } from "../../session/session.ts";
import { longestSeconds, secondsProblem } from "../../time/durations.ts";
import type { Output } from "./output.ts";

export interface Command {
  /** The command and its arguments in the notation of yargs: `new <name>`. */
  readonly usage: string;
  readonly describe: string;
  /** Flags without a value, with their descriptions. */
  readonly switches?: Readonly<Record<string, string>>;
  /** Adds the other flags and arguments. */
  readonly flags?: (cli: Argv) => Argv;
  /** What the command prints when it is asked to stop; "stopping" by default. */
  readonly stopping?: string;
  /** Runs the command and gives the exit code. */
  readonly run: (context: Context) => Promise<number>;
}

export interface Context {
  /** The typed values by flag. Each command parses them with zod. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** The typed arguments, word by word. */
  readonly words: readonly string[];
  readonly output: Output;
  readonly signal: AbortSignal;
  /** Reports whether work is in progress that must reach its safe point. If not, the command may be ended anywhere. */
  readonly underWay: (something: boolean) => void;
}

/** Flags without a value that every command takes. */
export const commonSwitches: Readonly<Record<string, string>> = {
  json: "print JSON on stdout",
  quiet: "no progress",
  verbose: "say more",
  color: "colours on a terminal; --no-color for none",
};

export const shortSwitches: Readonly<Record<string, string>> = { quiet: "q", verbose: "v" };

export function commonFlags(cli: Argv): Argv {
  return withSwitches(cli, commonSwitches)
    .option("target", { alias: "t", type: "string", describe: "a target of the configuration" })
    .option("config", { alias: "c", type: "string", describe: "the configuration file (migrate.config.ts)" })
    .option("timeout", { type: "string", describe: "seconds after which it stops at the next safe point" })
    .option("load-timeout", {
      type: "string",
      describe: "seconds to evaluate the configuration and each migration (60)",
    })
    .alias(shortSwitches)
    .default("color", true);
}

/** The flags of a command that takes the lease. */
export function leaseFlags(cli: Argv): Argv {
  const { wait, lease } = defaultSeconds;
  return cli
    .option("wait", {
      type: "string",
      describe: `seconds to wait for another run (waitSeconds of the configuration, else ${wait})`,
    })
    .option("lease", {
      type: "string",
      describe: `seconds without a record of this run after which another run may take over (leaseSeconds, else ${lease})`,
    });
}

export function withSwitches(cli: Argv, switches: Command["switches"] = {}): Argv {
  return Object.entries(switches).reduce(
    (all, [name, describe]) => all.option(name, { type: "boolean", describe }),
    cli,
  );
}

const once = (flag: string) =>
  z.string(`--${flag} is given twice or without a value`).min(1, `--${flag} needs a value`);

/** A flag with a number of seconds. */
export const secondsFlag = (flag: string, least = 0) => {
  const problem = `--${flag} ${secondsProblem(least)}`;
  return z
    .string(`--${flag} is given twice or without a value`)
    .regex(/^\d+(\.\d+)?$/, problem)
    .transform(Number)
    .refine((seconds) => seconds >= least && seconds <= longestSeconds, problem);
};

/** A flag with a whole number of at most nine digits. */
export const wholeFlag = (flag: string, least: number) => {
  const problem = `--${flag} must be a whole number from ${least} to 999999999`;
  return z
    .string(`--${flag} is given twice or without a value`)
    .regex(/^\d{1,9}$/, problem)
    .transform(Number)
    .refine((value) => value >= least, problem);
};

/** The flags for opening a configuration. */
export const commonSchema = z.looseObject({
  target: once("target").optional(),
  config: once("config").optional(),
  "load-timeout": secondsFlag("load-timeout", 0.1).optional(),
});

export const leaseSchema = z.looseObject({
  wait: secondsFlag("wait").optional(),
  lease: secondsFlag("lease", 1).optional(),
});

/** The flag that limits the time of a command. */
export const timeoutSchema = z.looseObject({ timeout: secondsFlag("timeout", 0.1).optional() });

/** Opens the configured target, runs `work` and closes the target. */
export async function withSession<Result>(
  { flags, signal }: Context,
  more: Pick<SessionOptions, "emit" | "waitSeconds" | "leaseSeconds">,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const { target, config, "load-timeout": loadSeconds } = parseFlags(commonSchema, flags);
  const session = await openSession({ target, config, loadSeconds, signal, ...more });
  try {
    return await work(session);
  } finally {
    await session.close();
  }
}

/** A run may be ended anywhere until it asks for the lease, and while it waits for another run that holds the lease. */
export function tellUnderWay({ event }: RunEvent, underWay: Context["underWay"]): void {
  if (event === "taking" || event === "waiting") underWay(event === "taking");
}

/** Parses flags with zod. Throws ERR_USAGE with the first problem. */
export function parseFlags<Schema extends z.ZodType>(schema: Schema, flags: Context["flags"]): z.output<Schema> {
  const parsed = schema.safeParse(flags);
  if (parsed.success) return parsed.data;
  throw new MigrateError("ERR_USAGE", { problem: parsed.error.issues[0]!.message });
}

/** A flag without a value. */
export const switchFlag = z.boolean().optional();

/** What the user accepts: one word, or several separated by commas. */
export const acceptFlag = z
  .string("--accept is given twice or without a value")
  .transform((words) => words.split(","))
  .pipe(z.array(z.enum(acceptances, `--accept must be ${acceptances.join(" or ")}`)));

/** The number of a migration: 3 or 0003. */
export const versionFlag = z
  .string("--to is given twice or without a value")
  .regex(/^\d+$/, "--to must be the number of a migration, such as 0003")
  .transform(Number);
