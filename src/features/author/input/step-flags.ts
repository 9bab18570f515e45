/** Steps that are typed as flags, such as those of `migrate new`, in the order in which they are typed. */
import { isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import { similarName } from "../../../schema/names.ts";
import { readStep, stepFlags, type Step } from "../../../steps/registry.ts";
import type { Context } from "../../../cli/command/command.ts";
import { flag, type FlagTable } from "../../../cli/command/flags.ts";

/** The flags of all steps, or just those that `only` names. `typedSteps` reads their values. */
export function stepFlagTable(only: readonly string[] = [...stepFlags.keys()]): FlagTable {
  const described = only.map((name) => {
    const { describe, form } = stepFlags.get(name)!;
    return [name, flag("value", describe, (typed) => typed, { value: `"${form}"` })] as const;
  });
  return Object.fromEntries(described);
}

/** Throws ERR_NOTATION, ERR_USAGE. */
export function typedSteps({ flags, words }: Pick<Context, "flags" | "words">): readonly Step[] {
  const values = new Map([...stepFlags.keys()].map((name) => [name, [flags[name] ?? []].flat()]));
  const typed = words
    .flatMap((word) => /^--([a-z-]+)(?:=|$)/.exec(word)?.[1] ?? [])
    .filter((name) => stepFlags.has(name));
  // yargs gives the values of each flag in the order in which they were typed. The order of the flags is that of the
  // words.
  const steps = typed.map((name) => {
    const value = values.get(name)!.shift();
    if (typeof value !== "string" || value === "") throw valueMissing(name);
    return readStep(stepFlags.get(name)!, value);
  });
  // For example, yargs accepts --no-rename.
  const left = [...values].find(([, more]) => more.length > 0);
  if (left !== undefined) throw valueMissing(left[0]);
  return steps;
}

function valueMissing(name: string): MigrateError {
  return new MigrateError("ERR_USAGE", { problem: `--${name} needs a value: "${stepFlags.get(name)!.form}"` });
}

/** Parses a step from one line: a flag, with or without its dashes, and its value. Throws ERR_NOTATION, ERR_USAGE. */
export function stepOfLine(line: string): Step {
  const [, name = "", value = ""] = /^(?:--)?([^\s=]+)(?:\s+|=|$)(.*)$/s.exec(line.trim()) ?? [];
  const flag = stepFlags.get(name);
  if (flag !== undefined) return readLine(flag, value);
  const similar = similarName(name, stepFlags.keys());
  throw new MigrateError("ERR_USAGE", {
    problem: `there is no step ${name}; ${similar === undefined ? `there is ${[...stepFlags.keys()].join(", ")}` : `did you mean ${similar}?`}`,
  });
}

/**
 * A value that is copied from a shell is in quotes. But a name may be in quotes too, so the value is first read as it
 * is.
 */
function readLine(flag: Parameters<typeof readStep>[0], value: string): Step {
  try {
    return readStep(flag, value);
  } catch (error) {
    const inside = /^(?:'[^']*'|"[^"]*")$/.test(value.trim()) ? value.trim().slice(1, -1) : undefined;
    if (inside === undefined || !isMigrateError(error, "ERR_NOTATION")) throw error;
    return readStep(flag, inside);
  }
}
