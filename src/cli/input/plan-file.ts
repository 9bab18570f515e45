/** Reads and writes saved plans. */
import { withoutMark } from "../../checks/byte-order-mark.ts";
import { isError } from "../../checks/realm.ts";
import { readFileSync } from "node:fs";
import { firstLine, MigrateError } from "../../errors/migrate-error.ts";
import { writeIntoFolder } from "../../migrations/generated-file.ts";
import { parseSavedPlan, type SavedPlan } from "../../plan/document/saved-plan.ts";

/** Throws ERR_PLAN_INVALID. */
export function readPlan(file: string): SavedPlan {
  let value: unknown;
  try {
    value = JSON.parse(withoutMark(readFileSync(file, "utf8")));
  } catch (cause) {
    const problem =
      isError(cause) && cause.name === "SyntaxError" ? "is no saved plan" : `can't be read: ${firstLine(cause)}`;
    throw new MigrateError("ERR_PLAN_INVALID", { file, problem }, { cause });
  }
  return parseSavedPlan(value, file);
}

/** Throws ERR_USAGE. */
export function writePlan(file: string, plan: SavedPlan): void {
  try {
    writeIntoFolder(file, `${JSON.stringify(plan, undefined, 2)}\n`);
  } catch (cause) {
    throw new MigrateError("ERR_USAGE", { problem: `the plan can't be written: ${firstLine(cause)}` }, { cause });
  }
}
