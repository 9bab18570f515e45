/** Whether code that was edited while its values were being computed still gives the same values. */
import { count, firstLine } from "../../../errors/migrate-error.ts";
import type { FillColumnAction } from "../../../actions/model/action.ts";
import { markName } from "../../../actions/rewrite/source-marks.ts";
import { isOfOtherCode } from "./mark-conditions.ts";
import type { Column } from "../../../schema/data-type.ts";
import type { RowValue, RowValues } from "../../../schema/row-values.ts";
import { parsePath } from "../../../schema/path.ts";
import { sqlPath } from "../../../schema/sql.ts";
import { FillFailed } from "./fill-failed.ts";
import type { RowAccess } from "../../../targets/contract/row-access.ts";

/** How many rows are computed again for that. */
export const mostCompared = 20;

/** How far a vector may be from the one that was computed before, as a part of its length: models are not exact. */
const tolerance = 0.01;

/** A few rows that code with another hash computed, with their sources and values. */
export async function rowsOfOtherCode(
  { path, ...action }: FillColumnAction,
  codeHash: string,
  rows: Pick<RowAccess, "read">,
): Promise<readonly RowValues[]> {
  const { table, from, where } = action;
  const select = [...from, parsePath(path)[0]!].map((name) => [name, sqlPath([name])] as const);
  const other = isOfOtherCode(action, codeHash);
  const both = where === undefined ? other : `(${other}) and (${where})`;
  return await rows.read(table, { select, where: both, limit: mostCompared });
}

/**
 * The problem, if the code gives other values for rows that it computed before it was edited; undefined if there is none.
 * `known`: such rows.
 */
export async function editedProblem(
  action: FillColumnAction,
  column: Column,
  known: readonly RowValues[],
  compute: (rows: readonly RowValues[]) => Promise<readonly unknown[]>,
): Promise<string | undefined> {
  if (known.length === 0) return undefined;
  const { from } = action;
  const sources = known.map((row) => Object.fromEntries(from.map((name) => [name, row[name] ?? null])));
  const problem = await compute(sources)
    .then(async (values) => {
      const found = await stored(values, column);
      const isOther = (row: RowValues, index: number) => !isSame(row[column.name]!, found[index]![column.name]!);
      const others = known.filter(isOther).length;
      return others === 0
        ? undefined
        : `now gives another ${column.name} for ${others} of ${count(known.length, "row")} that it computed`;
    })
    .catch((error: unknown) => {
      if (error instanceof FillFailed) throw error;
      return `now fails for these rows: ${firstLine(error)}`;
    });
  return (
    problem &&
    `: it was edited after it had computed rows, and ${problem}; restore it to keep the values, or ${otherWay(action)}`
  );
}

/** Once a column has taken the place of another one, its step can't be changed. */
function otherWay({ table, mark = markName, overwrite, keepsFailed }: FillColumnAction): string {
  if (mark === markName || (overwrite === true && keepsFailed !== true))
    return "state another `version` in the step to compute them again";
  const drop = `drop the column ${mark} of ${table}, and run the command again`;
  return overwrite === true
    ? `${drop} to compute them again`
    : `${drop}; rows that were written since the switch then keep the values that they have`;
}

/** The values as the table returns them. */
async function stored(values: readonly unknown[], column: Column): Promise<readonly RowValues[]> {
  const [{ rowsToIpcFile }, { rowsIn }] = await Promise.all([
    import("../../../wire/rows/write-rows.ts"),
    import("../../../wire/rows/read-values.ts"),
  ]);
  const given = values.map((value) => ({ [column.name]: value as RowValue }));
  return rowsIn([rowsToIpcFile([{ ...column, nullable: true }], given)]);
}

function isSame(one: RowValue, other: RowValue): boolean {
  const [before, now] = [numbersIn(one), numbersIn(other)];
  if (before === undefined || now?.length !== before.length) return textOf(one) === textOf(other);
  const far = Math.hypot(...before.map((number, index) => number - now[index]!));
  return far <= tolerance * Math.hypot(...before);
}

function textOf(value: RowValue): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? String(item) : item));
}

function numbersIn(value: RowValue): readonly number[] | undefined {
  const items: readonly unknown[] =
    Array.isArray(value) || ArrayBuffer.isView(value) ? [...(value as readonly unknown[])] : [value];
  return items.every((item) => typeof item === "number") ? items : undefined;
}
