/** Brings the indexes of a table up to date. */
import { coverRows, type Coverage } from "../tables/cover-rows.ts";
import { isConflict } from "../../../engine/problem/engine-problem.ts";
import { isMigrateError } from "../../../errors/migrate-error.ts";
import { checkDataFolder, type DataFolder } from "../tables/data-folder.ts";
import { codes } from "../tables/error-answer.ts";
import type { ServedTables } from "../tables/open-tables.ts";
import { failureOf } from "./perform.ts";

export type CoverOutcome = Coverage | CoverFailure | "gone";

interface CoverFailure {
  readonly reason: string;
  /** Whether others' commits came first. */
  readonly isConflict: boolean;
}

/** Never throws. */
export async function cover(
  table: string,
  leastUncovered: number,
  data: DataFolder,
  open: () => Promise<ServedTables>,
): Promise<CoverOutcome> {
  try {
    checkDataFolder(data);
    const tables = await open();
    return await tables.read(table, (opened) => coverRows(opened, tables.folder, leastUncovered));
  } catch (error) {
    if (isMigrateError(error, "ERR_REQUEST") && error.details.code === codes.tableNotFound) return "gone";
    const { problem, cause = problem.error } = failureOf(error, data.path);
    return { reason: cause, isConflict: isConflict(error) };
  }
}
