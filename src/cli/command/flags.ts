/** Flags. One table per command gives the options of yargs, the parsed values and their types. */
import type { Argv } from "yargs";
import { MigrateError } from "../../errors/migrate-error.ts";
import { acceptances, type Acceptance } from "../../migrations/acceptance.ts";
import { defaultSeconds } from "../../session/config.ts";
import { longestSeconds, secondsProblem } from "../../time/durations.ts";

export interface Flag<Value> {
  readonly describe: string;
  /** A switch has no value; a positional has no name. */
  readonly kind: "switch" | "value" | "positional";
  readonly alias?: string;
  /** For a positional without which the command does not work. */
  readonly isNeeded?: true;
  /** For the last positional, if it takes several words. */
  readonly isList?: true;
  /** What help shows in place of the value. Shells complete FILE, TARGET, NUMBER (of a migration), TABLE and a|b. */
  readonly value?: string;
  /** The value of what was typed: true for a switch, else a text, or a list if the flag is given several times. */
  readonly parse: (typed: unknown) => Value;
}

/** What help shows beside the name and the description. */
type Shown = { readonly [Key in "alias" | "value"]?: string | undefined };

/** Flags by name. Messages continue a sentence that begins with the flag's name. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

/** The values of the flags that were given. */
export type FlagValues<Table extends FlagTable> = {
  readonly [Name in keyof Table]?: ReturnType<Table[Name]["parse"]> | undefined;
};

class FlagProblem extends Error {}

/** Refuses what was typed. */
export function wrongFlag(problem: string): never {
  throw new FlagProblem(problem);
}

/** A flag without a value. */
export const switchFlag = (describe: string, alias?: string) =>
  flag("switch", describe, (typed) => (typeof typed === "boolean" ? typed : wrongFlag("is given twice")), { alias });

/** A flag whose value is one text. */
export const valueFlag = <Value>(describe: string, parse: (text: string) => Value, shown: Shown = {}) =>
  flag("value", describe, (typed) => parse(oneText(typed)), { value: "VALUE", ...shown });

export const textFlag = (describe: string, shown?: Shown) =>
  valueFlag(describe, (text) => (text === "" ? wrongFlag("needs a value") : text), shown);

export const patternFlag = (describe: string, pattern: RegExp, problem: string, shown?: Shown) =>
  valueFlag(describe, (text) => (pattern.test(text) ? text : wrongFlag(problem)), shown);

const numberFlag = (
  value: string,
  describe: string,
  pattern: RegExp,
  problem: string,
  holds: (value: number) => boolean,
) =>
  valueFlag(describe, (text) => (pattern.test(text) && holds(Number(text)) ? Number(text) : wrongFlag(problem)), {
    value,
  });

/** A whole number of at most nine digits. */
export const wholeFlag = (describe: string, least: number, most = 999_999_999) => {
  const problem = `must be a whole number from ${least} to ${most}`;
  return numberFlag("N", describe, /^\d{1,9}$/, problem, (value) => value >= least && value <= most);
};

export const secondsFlag = (describe: string, least = 0) =>
  numberFlag(
    "SECONDS",
    describe,
    /^\d+(\.\d+)?$/,
    secondsProblem(least),
    (value) => value >= least && value <= longestSeconds,
  );

/** The number of a migration: 3 or 0003. */
export const versionFlag = (describe: string) =>
  numberFlag("NUMBER", describe, /^\d{1,15}$/, "must be the number of a migration, such as 0003", () => true);

/** What the user accepts: one word, or several separated by commas. */
export const acceptFlag = (describe: string) =>
  valueFlag(
    describe,
    (words) => {
      const isKnown = (word: string): word is Acceptance => (acceptances as readonly string[]).includes(word);
      const given = words.split(",");
      return given.every(isKnown) ? given : wrongFlag(`must be ${acceptances.join(" or ")}`);
    },
    { value: acceptances.join("|") },
  );

/** A flag whose value is one of these words. */
export const choiceFlag = <Word extends string>(describe: string, words: readonly Word[]) =>
  valueFlag(describe, (text) => words.find((word) => word === text) ?? wrongFlag(`must be ${words.join(" or ")}`), {
    value: words.join("|"),
  });

/** The name that a command takes without a flag. */
export const nameArgument = (describe: string) =>
  flag("positional", describe, (typed) => (typeof typed === "string" ? typed : wrongFlag("is given twice")));

export const neededArgument = (describe: string, shown?: Shown) => ({
  ...nameArgument(describe),
  isNeeded: true as const,
  ...shown,
});

/** All names that a command takes without a flag. */
export const namesArgument = (describe: string, shown: Shown) => ({
  ...flag("positional", describe, (typed) => [typed].flat().map(String), shown),
  isList: true as const,
});

export function flag<Value>(
  kind: Flag<Value>["kind"],
  describe: string,
  parse: Flag<Value>["parse"],
  { alias, value }: Shown = {},
): Flag<Value> {
  return { kind, describe, parse, ...(alias && { alias }), ...(value && { value }) };
}

function oneText(typed: unknown): string {
  return typeof typed === "string" ? typed : wrongFlag("is given twice or without a value");
}

/** The flags of a command that reads the configuration. */
export const configFlags = {
  target: textFlag("the target of the configuration to use", { alias: "t", value: "TARGET" }),
  database: textFlag("the database to use, of a target with several", { value: "NAME" }),
  config: textFlag("the configuration file (migrate.config.ts)", { alias: "c", value: "FILE" }),
  "load-timeout": secondsFlag("seconds to evaluate the configuration and each migration (60)", 0.1),
};

/** The flags of every command. */
export const commonFlags = {
  timeout: secondsFlag("seconds after which the command stops at its next safe point", 0.1),
  ...configFlags,
  json: switchFlag("print JSON on stdout"),
  quiet: switchFlag("print no progress", "q"),
  verbose: switchFlag("print more details", "v"),
  color: switchFlag("use colours on a terminal; --no-color for none"),
};

/** The flags of a command that takes the lease. */
export const leaseFlags = {
  by: textFlag(
    "who runs it, for the ledger (MIGRATE_ACTOR, or who started the pipeline, or the operating system's user)",
    {
      value: "NAME",
    },
  ),
  wait: secondsFlag(`seconds to wait for another run (waitSeconds in the configuration, or ${defaultSeconds.wait})`),
  lease: secondsFlag(
    `seconds without a record of this run after which another run may take over (leaseSeconds, or ${defaultSeconds.lease})`,
    1,
  ),
};

/** The flag of a command that loads computed columns. */
export const pythonFlag = {
  python: textFlag(
    "the Python that loads computed columns, and runs Ray (MIGRATE_PYTHON, python in the configuration, or .venv)",
    {
      value: "PROGRAM",
    },
  ),
};

/** The flags of a command that calls code of the project, which may cost something. */
export const budgetFlags = {
  "max-calls": wholeFlag("stop before code of the project is called more often than this; the next run resumes", 1),
  "max-cost": numberFlag(
    "COST",
    "stop before the calls of code cost more than this, in the unit of pricePer1000Rows",
    /^\d+(\.\d+)?$/,
    "must be a number greater than 0",
    (value) => value > 0,
  ),
};

/** The flag of a command that reads migrations and writes no file of them. */
export const bundleFlags = {
  bundle: textFlag("read the migrations from this file of migrate build, not from their folder", { value: "FILE" }),
};

/** The flag of a command that plans what it applies. */
export const contractFlags = {
  contract: flag(
    "value",
    "refuse what breaks the releases of these contracts too: files or folders, separated by commas",
    (typed) => {
      if (typeof typed !== "string") return wrongFlag("must be given once, with several paths separated by commas");
      return typed.split(",").includes("") ? wrongFlag("needs a path between commas") : typed.split(",");
    },
    { value: "FILE" },
  ),
};

export function withFlags(cli: Argv, flags: FlagTable): Argv {
  return Object.entries(flags).reduce((all, [name, { kind, describe, alias }]) => {
    if (kind === "positional") return all.positional(name, { type: "string", describe });
    return all.option(name, { type: kind === "switch" ? "boolean" : "string", describe, alias });
  }, cli);
}

/**
 * Parses what was typed. The first flag of each list of `conflicts` can't be used with any of the others. Throws
 * ERR_USAGE with the first problem.
 */
export function parseFlags<Table extends FlagTable>(
  flags: Table,
  typed: Readonly<Record<string, unknown>>,
  conflicts: readonly (readonly string[])[] = [],
): FlagValues<Table> {
  const label = (name: string) => (flags[name]!.kind === "positional" ? `the ${name}` : `--${name}`);
  const isGiven = (name: string) => typed[name] !== undefined && typed[name] !== false;
  const values = Object.keys(flags)
    .filter((name) => typed[name] !== undefined)
    .map((name) => [name, parseFlag(flags[name]!, typed[name], label(name))]);
  for (const [one = "", ...others] of conflicts) {
    const other = isGiven(one) ? others.find(isGiven) : undefined;
    if (other !== undefined)
      throw new MigrateError("ERR_USAGE", { problem: `${label(one)} and ${label(other)} can't be used together` });
  }
  return Object.fromEntries(values) as FlagValues<Table>;
}

function parseFlag({ parse }: Flag<unknown>, typed: unknown, label: string): unknown {
  try {
    return parse(typed);
  } catch (error) {
    if (!(error instanceof FlagProblem)) throw error;
    throw new MigrateError("ERR_USAGE", { problem: `${label} ${error.message}` });
  }
}
