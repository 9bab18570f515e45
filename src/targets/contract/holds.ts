/**
 * Checks whether a table holds the rows and values that an action gives it, which its description does not show.
 * Another program may have given it the same description with other rows or values. Later writes do not count.
 */
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { Action, ActionFor } from "../../actions/model/action.ts";
import { isReserved } from "../../actions/rewrite/append-guard.ts";
import type { Column } from "../../schema/data-type.ts";
import { madeName } from "../../schema/names.ts";
import { parsePath } from "../../schema/path.ts";
import { isNull } from "../../actions/model/risk.ts";
import { isChanging, sqlPath } from "../../schema/sql.ts";
import { castSql } from "../../wire/arrow/arrow-cast.ts";
import { isRestored } from "./restore-versions.ts";
import type { VersionedTable } from "./versioned-table.ts";
import { newestCommit } from "./versions.ts";
import { common, writtenSince } from "./written-since.ts";

/** Undefined if it is unknown. */
export async function holds(table: VersionedTable, action: Action): Promise<boolean | undefined> {
  try {
    switch (action.kind) {
      case "createTable":
        return await holdsRows(table, action);
      case "addColumns":
        return await holdsValues(table, action);
      case "convertColumn":
        return await wasMade(table, action);
      case "restoreTable":
        return await isAsRestored(table, action);
      default:
        return true;
    }
  } catch (error) {
    // If the target answers with an error, the result is unknown. If it can't be reached, the check itself fails.
    if (isMigrateError(error) && !isMigrateError(error, "ERR_ANSWER")) throw error;
    return undefined;
  }
}

/** Whether the action's rows are in the table's first existing version or in its newest. */
async function holdsRows(table: VersionedTable, action: ActionFor<"createTable">): Promise<boolean | undefined> {
  const versions = await newestFirst(table);
  const first = versions.at(-1)!;
  for (const version of new Set([first, versions[0]!])) if (await hasRows(table, version, action)) return true;
  // If the first version was cleaned up, the rows may have been changed before the oldest that is left.
  return first === 1 ? false : undefined;
}

async function hasRows(
  table: VersionedTable,
  version: number,
  { columns, rows = [] }: ActionFor<"createTable">,
): Promise<boolean> {
  if (!haveAll(await table.columns(version), columns)) return false;
  const there = await table.count(version);
  if (there < rows.length || there > table.mostCompared) return false;
  const [{ canRead, rowDifference }, { rowsToIpcFile }] = await Promise.all([
    import("../../wire/rows/row-checksum.ts"),
    import("../../wire/rows/write-rows.ts"),
  ]);
  const read = columns.filter((column) => canRead([column]));
  if (read.length === 0) return there === rows.length;
  const names = read.map(({ name }) => name);
  const own = rowsToIpcFile(read, rows);
  const { removed } = await rowDifference([own], table.batches(version, [...names, "_rowid"]), "_rowid");
  return removed === 0;
}

/** Whether the newest version, or the one that added the columns, has the values of their expressions. */
async function holdsValues(table: VersionedTable, { columns }: ActionFor<"addColumns">): Promise<boolean | undefined> {
  const filled = columns.filter(({ name, as }) => as !== undefined && !isNull(as) && !isReserved(name));
  if (filled.length === 0) return true;
  const others = filled.map(({ name, type, as }) => differing(name, castSql(`(${as!})`, type), as!));
  const hasValues = async (version: number) => (await table.count(version, others.join(" or "))) === 0;
  const versions = await newestFirst(table);
  const has = async (version: number) => haveAll(await table.columns(version), filled);
  const newest = versions[0]!;
  if ((await has(newest)) && (await hasValues(newest))) return true;
  const { made: added, before } = await newestCommit(versions, has);
  if (added === undefined) return undefined;
  if (added !== newest && (await hasValues(added))) return true;
  // If older versions were cleaned up, the values may have been changed before the oldest that is left.
  return added === 1 || before === added - 1 ? false : undefined;
}

/** A predicate for rows in which a column differs from an expression; only nulls count if its value varies. */
function differing(column: string, value: string, as: string): string {
  const name = sqlPath([column]);
  const isOther = `(${name} is null) <> (${value} is null)`;
  return isChanging(as) ? isOther : `${isOther} or coalesce(${name} <> ${value}, false)`;
}

/** Whether the version was restored, or all its rows are in the table. */
async function isAsRestored(table: VersionedTable, action: ActionFor<"restoreTable">): Promise<boolean | undefined> {
  if (await isRestored(table, action)) return true;
  const written = await writtenSince(table, action.version, { from: action.after });
  if (written !== undefined && written.changed + written.removed === 0) return true;
  // The version that restored it may have been cleaned up.
  return areAllSince(action.after + 1, await newestFirst(table)) ? false : undefined;
}

/** Whether a version has the recreated column under its temporary name, which only this tool uses. */
async function wasMade(
  table: VersionedTable,
  { path, type }: ActionFor<"convertColumn">,
): Promise<boolean | undefined> {
  const versions = await newestFirst(table);
  const has = (name: string) => async (version: number) => haveAll(await table.columns(version), [{ name, type }]);
  if ((await newestCommit(versions, has(madeName))).made !== undefined) return true;
  const { made: added, before } = await newestCommit(versions, has(parsePath(path)[0]!));
  if (added === undefined || (added !== 1 && before !== added - 1)) return undefined;
  // If versions in between were cleaned up, one of them may have had the temporary name.
  return areAllSince(added, versions) ? false : undefined;
}

/** Whether none of the versions since that one was cleaned up. `versions`: the newest first. */
function areAllSince(first: number, versions: readonly number[]): boolean {
  const since = versions.filter((version) => version >= first);
  return since.length > 0 && since.length === since[0]! - first + 1;
}

async function newestFirst(table: VersionedTable): Promise<readonly number[]> {
  return (await table.list()).map(({ version }) => version).toReversed();
}

function haveAll(columns: readonly Column[], wanted: readonly Pick<Column, "name" | "type">[]): boolean {
  return common(wanted, columns).length === wanted.length;
}
