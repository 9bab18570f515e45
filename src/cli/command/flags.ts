/** Flags. One table per command gives the options of yargs, the parsed values and their types. */
import type { Argv } from "yargs";
import { z } from "zod";
import { MigrateError } from "../../errors/migrate-error.ts";
import { acceptances } from "../../migrations/acceptance.ts";
import { defaultSeconds } from "../../session/config.ts";
import { longestSeconds, secondsProblem } from "../../time/durations.ts";

/** Flags by name, each with its description. Messages continue a sentence that begins with the flag's name. */
export type FlagTable = Readonly<Record<string, z.ZodType>>;

const notOnce = "is given twice or without a value";

/** A flag without a value. */
export const switchFlag = (describe: string) => z.boolean().optional().describe(describe);

export const textFlag = (describe: string) => z.string(notOnce).min(1, "needs a value").optional().describe(describe);

export const patternFlag = (describe: string, pattern: RegExp, problem: string) =>
  z.string(notOnce).regex(pattern, problem).optional().describe(describe);

const numberFlag = (describe: string, pattern: RegExp, problem: string, holds: (value: number) => boolean) =>
  z.string(notOnce).regex(pattern, problem).transform(Number).refine(holds, problem).optional().describe(describe);

/** A whole number of at most nine digits. */
export const wholeFlag = (describe: string, least: number, most = 999_999_999) => {
  const problem = `must be a whole number from ${least} to ${most}`;
  return numberFlag(describe, /^\d{1,9}$/, problem, (value) => value >= least && value <= most);
};

export const secondsFlag = (describe: string, least = 0) =>
  numberFlag(describe, /^\d+(\.\d+)?$/, secondsProblem(least), (value) => value >= least && value <= longestSeconds);

/** The number of a migration: 3 or 0003. */
export const versionFlag = (describe: string) =>
  numberFlag(describe, /^\d{1,15}$/, "must be the number of a migration, such as 0003", () => true);

/** What the user accepts: one word, or several separated by commas. */
export const acceptFlag = (describe: string) =>
  z
    .string(notOnce)
    .transform((words) => words.split(","))
    .pipe(z.array(z.enum(acceptances, `must be ${acceptances.join(" or ")}`)))
    .optional()
    .describe(describe);

/** The name that a command takes without a flag. */
export const nameArgument = (describe: string) =>
  z.string("is given twice").optional().meta({ description: describe, isPositional: true });

/** The flags of every command. */
export const commonFlags = {
  timeout: secondsFlag("seconds after which the command stops at its next safe point", 0.1),
  target: textFlag("the target of the configuration to use").meta({ alias: "t" }),
  config: textFlag("the configuration file (migrate.config.ts)").meta({ alias: "c" }),
  "load-timeout": secondsFlag("seconds to evaluate the configuration and each migration (60)", 0.1),
  json: switchFlag("print JSON on stdout"),
  quiet: switchFlag("print no progress").meta({ alias: "q" }),
  verbose: switchFlag("print more details").meta({ alias: "v" }),
  color: switchFlag("use colours on a terminal; --no-color for none"),
};

/** The flags of a command that takes the lease. */
export const leaseFlags = {
  wait: secondsFlag(`seconds to wait for another run (waitSeconds in the configuration, or ${defaultSeconds.wait})`),
  lease: secondsFlag(
    `seconds without a record of this run after which another run may take over (leaseSeconds, or ${defaultSeconds.lease})`,
    1,
  ),
};

export function isSwitch(flag: z.ZodType): boolean {
  return flag instanceof z.ZodOptional && flag.unwrap() instanceof z.ZodBoolean;
}

export function withFlags(cli: Argv, flags: FlagTable): Argv {
  return Object.entries(flags).reduce((all, [name, flag]) => {
    const { description: describe, alias, isPositional } = metaOf(flag);
    if (isPositional === true) return all.positional(name, { type: "string", describe });
    return all.option(name, { type: isSwitch(flag) ? "boolean" : "string", describe, alias });
  }, cli);
}

export function metaOf(flag: z.ZodType) {
  const { description, alias, isPositional } = flag.meta() ?? {};
  return { description, alias: alias as string | undefined, isPositional: isPositional === true };
}

/**
 * Parses what yargs found. The first flag of each list of `conflicts` can't be used with any of the others. Throws
 * ERR_USAGE with the first problem.
 */
export function parseFlags<Table extends FlagTable>(
  flags: Table,
  typed: Readonly<Record<string, unknown>>,
  conflicts: readonly (readonly string[])[] = [],
): z.output<z.ZodObject<Table>> {
  const label = (name: string) => (metaOf(flags[name]!).isPositional ? `the ${name}` : `--${name}`);
  const { data, error } = z.object(flags).safeParse(typed);
  if (error !== undefined) {
    const { path, message } = error.issues[0]!;
    throw new MigrateError("ERR_USAGE", { problem: `${label(String(path[0]))} ${message}` });
  }
  const isGiven = (name: string) => typed[name] !== undefined && typed[name] !== false;
  for (const [one = "", ...others] of conflicts) {
    const other = isGiven(one) ? others.find(isGiven) : undefined;
    if (other !== undefined)
      throw new MigrateError("ERR_USAGE", { problem: `${label(one)} and ${label(other)} can't be used together` });
  }
  return data;
}
