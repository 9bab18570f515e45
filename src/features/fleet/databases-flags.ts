import { MigrateError } from "../../errors/migrate-error.ts";
import type { CommandInput } from "../../cli/command/additions.ts";
import { wholeFlag, type FlagValues } from "../../cli/command/flags.ts";
import type { DatabasesChoice } from "./on-all-databases.ts";

/** The flags of a command that runs on all databases of a target. */
export const databasesFlags = {
  concurrency: wholeFlag("how many databases to work on at a time, of a target with several (8)", 1, 1000),
  canaries: wholeFlag("how many databases must succeed before the others begin (1 for up, 0 for status)", 0),
  "max-failures": wholeFlag("begin no other database after this many have failed", 1),
};

/** Throws ERR_USAGE if a flag is given that is for several databases. */
export function checkOneDatabase(flags: CommandInput["flags"]): void {
  const given = Object.keys(databasesFlags).find((name) => flags[name] !== undefined);
  if (given !== undefined)
    throw new MigrateError("ERR_USAGE", {
      problem: `--${given} is for a target with several databases, all of which the command works on`,
    });
}

export function databasesChoice(flags: CommandInput["flags"]): DatabasesChoice {
  // Parsed by the flags above.
  const { concurrency, canaries, "max-failures": maxFailures } = flags as FlagValues<typeof databasesFlags>;
  return { concurrency, canaries, maxFailures };
}
