/** Reads and writes saved plans. */
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { firstLine, MigrateError } from "../../errors/migrate-error.ts";
import { parseSavedPlan, type SavedPlan } from "../../plan/assess/saved-plan.ts";

/** The --plan of `up`, `down` and `plan`. */
export const planFlag = z.string("--plan is given twice or without a value").min(1, "--plan needs a file");

/** Throws ERR_PLAN_INVALID. */
export function readPlan(file: string): SavedPlan {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    const problem = cause instanceof SyntaxError ? "is no saved plan" : `can't be read: ${firstLine(cause)}`;
    throw new MigrateError("ERR_PLAN_INVALID", { file, problem }, { cause });
  }
  return parseSavedPlan(value, file);
}

/** Throws ERR_USAGE. */
export function writePlan(file: string, plan: SavedPlan): void {
  try {
    writeFileSync(file, `${JSON.stringify(plan, undefined, 2)}\n`);
  } catch (cause) {
    throw new MigrateError("ERR_USAGE", { problem: `the plan can't be written: ${firstLine(cause)}` }, { cause });
  }
}

/** Refuses flags that would repeat or contradict what the plan contains. Throws ERR_USAGE. */
export function checkPlanAlone(flags: Readonly<Record<string, unknown>>, others: readonly string[]): void {
  const other = flags["plan"] === undefined ? undefined : others.find((name) => flags[name] !== undefined);
  if (other !== undefined)
    throw new MigrateError("ERR_USAGE", {
      problem: `--plan and --${other} say two things; the plan already contains it`,
    });
}
