/** SQL about marks (`source-marks.ts`): which rows are computed, by which code, and when a value is written. */
import { isNumberType } from "../../../schema/cast-rules.ts";
import { isInteger, type DataType } from "../../../schema/data-type.ts";
import { sqlPath } from "../../../schema/sql.ts";
import {
  codeMark,
  failedMark,
  isOutdated,
  laterMark,
  markPath,
  markSql,
  nullMark,
  rowAddress,
  sourceMark,
  type Marked,
} from "../../../actions/rewrite/source-marks.ts";

/** An SQL predicate for the rows whose value could not be computed. */
export function hasFailed(action: Pick<Marked, "mark">): string {
  return `starts_with(${markPath(action)}, '${failedMark}')`;
}

/** An SQL predicate for the rows whose value was computed and is up to date. */
export function computedCondition(action: Pick<Marked, "mark" | "version" | "from">): string {
  return `${sourceMark(markPath(action), nullMark, laterMark)} = ${markSql(action)}`;
}

/** An SQL predicate for the rows whose value is up to date, and that code with another hash computed. */
export function isOfOtherCode(action: Pick<Marked, "mark" | "version" | "from">, code: string): string {
  return `${computedCondition(action)} and ${isByOtherCode(markPath(action), code)}`;
}

/** An SQL predicate for marks, of values or of failures, by code with another hash. */
export function isByOtherCode(mark: string, code: string): string {
  return `contains(${mark}, '${codeMark}') and not ends_with(${mark}, '${codeMark}${code}')`;
}

/** An SQL predicate for the rows that were computed before `where` ceased to hold for them, and that changed since unless `overwrite`. */
export function hasLeft(action: Marked & { readonly where: string }): string {
  const changed = action.overwrite === true ? `${markPath(action)} is not null` : isOutdated(action);
  return `(${changed}) and ((${action.where}) is not true)`;
}

/**
 * The condition under which a merge writes a value: its sources are the same, and no one else has given the row a value.
 * `addresses`: of the rows that are known to have lacked a value; every change of a row but one in place moves it to
 * another address. Without them, or if they are in more than `mostRanges`, the merge reads the column in every row of the
 * table. `target` and `source` are the engine's names for the table's row and the new one. Inside functions, it knows
 * neither, so the sources must not be among the columns that are merged (docs/internals/engine.md).
 */
export function isCurrent(action: Marked, column: string, addresses?: readonly number[], mostRanges?: number): string {
  const mark = markPath(action);
  const isOfSources = `source.${mark} like concat('%', ${markSql(action)}, '%')`;
  // A value with the same mark may be that of an application, if the merge is repeated.
  const differs = `target.${mark} <> source.${mark}`;
  const lacks = (addresses && isAmong(addresses, mostRanges)) ?? `target.${sqlPath([column])} is null`;
  const mayWrite = action.overwrite === true ? `target.${mark} is null` : lacks;
  return `${isOfSources} and (${mayWrite} or ${differs})`;
}

/** A list of more would nest too deeply for the engine's parser. */
const mostNested = 100;

/** An SQL predicate for the rows at these addresses; undefined if they are in more than `most` ranges. */
function isAmong(addresses: readonly number[], most = Infinity): string | undefined {
  const ranges: [first: number, last: number][] = [];
  for (const address of addresses.toSorted((one, other) => one - other)) {
    const range = ranges.at(-1);
    if (range !== undefined && address <= range[1] + 1) range[1] = address;
    else ranges.push([address, address]);
  }
  if (ranges.length > most) return undefined;
  const row = `target.${rowAddress}`;
  if (ranges.length > mostNested) return `${row} in (${addresses.join(", ")})`;
  return `(${ranges.map(([first, last]) => `${row} >= ${first} and ${row} <= ${last}`).join(" or ")})`;
}

/** How many numbers of a vector are hashed: all of them would take longer than all else. */
const printed = 64;

/** SQL for a hash of a value; undefined if the engine has none for its type. */
export function printSql(column: string, type: DataType): string | undefined {
  const value = sqlPath([column]);
  if (isInteger(type) || type.kind === "utf8") return `md5(cast(${value} as string))`;
  return type.kind === "fixedSizeList" && isNumberType(type.item.type)
    ? `md5(array_to_string(${value}[1:${printed}], ','))`
    : undefined;
}
