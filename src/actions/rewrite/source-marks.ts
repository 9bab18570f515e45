/**
 * Marks: while code computes the values of a column, a second column holds for each row a hash of what its value was
 * computed from. So SQL finds the rows whose value is missing or outdated, and a value is only written to a row whose
 * sources are still those that it was computed from.
 */
import type { AddedColumn, FillColumnAction } from "../model/action.ts";
import { isNumberType } from "../../schema/cast-rules.ts";
import { isInteger, type DataType } from "../../schema/data-type.ts";
import { sqlPath, sqlText } from "../../schema/sql.ts";

/** The name of the second column, unless an action states another. */
export const markName = "_lance_migrate_source";

export function markColumn(name = markName): AddedColumn {
  return { name, type: { kind: "utf8" }, nullable: true };
}

type Marked = Pick<FillColumnAction, "version" | "from" | "mark" | "overwrite">;

/** Begins the mark of a row whose value could not be computed. */
export const failedMark = "!";
/** Begins the mark of a row whose value was computed and is null. */
export const nullMark = "-";

/** Begins the mark of a row whose value was computed when the column was in use: the column before it has no such value. */
export const laterMark = "+";

/** Is before the hash of the value in the mark of a row that SQL has made (`printSql`). */
export const printMark = "~";
/** Is before the hash of the value in the mark of a row. */
export const valueMark = "#";
/** Is before the hash of the code in the mark of a row that code computed. */
export const codeMark = "@";

/** A regular expression for what the mark of a row has besides that of the sources. */
export const besidesSources = `[${failedMark}${laterMark}${nullMark}]|[${valueMark}${codeMark}].*$`;

/** The mark of the sources in the mark of a row. */
export function markIn(mark: string): string {
  return mark.replace(new RegExp(besidesSources, "g"), "");
}

/** The end of the mark of a row that is computed now: the hash of the code. */
export function codePart({ codeHash }: { readonly codeHash?: string | undefined }): string {
  return codeHash === undefined ? "" : `${codeMark}${codeHash}`;
}

/** SQL for the mark of the sources, without a beginning. */
function sourceMark(mark: string, ...beginnings: readonly string[]): string {
  const plain = beginnings.reduce((sql, beginning) => `replace(${sql}, '${beginning}', '')`, mark);
  return `split_part(split_part(${plain}, '${codeMark}', 1), '${valueMark}', 1)`;
}

/** An SQL predicate for the rows whose value could not be computed. */
export function hasFailed(action: Pick<Marked, "mark">): string {
  return `starts_with(${markPath(action)}, '${failedMark}')`;
}

/** An SQL predicate for the rows whose value was computed and is up to date. */
export function isComputed(action: Pick<Marked, "mark" | "version" | "from">): string {
  return `${sourceMark(markPath(action), nullMark, laterMark)} = ${markSql(action)}`;
}

/** An SQL predicate for the rows whose value is up to date, and that code with another hash computed. */
export function isOfOtherCode(action: Pick<Marked, "mark" | "version" | "from">, code: string): string {
  return `${isComputed(action)} and ${isByOtherCode(markPath(action), code)}`;
}

/** An SQL predicate for marks, of values or of failures, by code with another hash. */
export function isByOtherCode(mark: string, code: string): string {
  return `contains(${mark}, '${codeMark}') and not ends_with(${mark}, '${codeMark}${code}')`;
}

/** SQL for the mark of a row whose value is up to date. Each source has its length, so that no two lists of sources are alike. */
export function markSql({ version, from }: Pick<Marked, "version" | "from">): string {
  const sources = from.map((column) => {
    const text = `cast(${sqlPath([column])} as string)`;
    return `coalesce(cast(octet_length(${text}) as string) || ':' || ${text}, '-')`;
  });
  return `md5(concat(${[sqlText(JSON.stringify([version, from])), ...sources].join(", ")}))`;
}

/**
 * An SQL predicate for the rows whose value is missing or outdated. With `overwrite`, values without a mark are
 * outdated, and the values themselves are not read.
 */
export function isPending(action: Marked, column: string): string {
  const mark = markPath(action);
  const outdated = isOutdated(action);
  if (action.overwrite === true) return `${mark} is null or ${outdated}`;
  const known = `starts_with(${mark}, '${failedMark}') or starts_with(${mark}, '${nullMark}')`;
  // An application may have removed a value that was computed.
  return `(${sqlPath([column])} is null and (${mark} is null or not (${known}))) or (${outdated})`;
}

/** An SQL predicate for the rows that were computed before `where` ceased to hold for them, and that changed since unless `overwrite`. */
export function hasLeft(action: Marked & { readonly where: string }): string {
  const changed = action.overwrite === true ? `${markPath(action)} is not null` : isOutdated(action);
  return `(${changed}) and ((${action.where}) is not true)`;
}

function isOutdated(action: Marked): string {
  return `${sourceMark(markPath(action), failedMark, nullMark, laterMark)} <> ${markSql(action)}`;
}

/** An SQL predicate for no row. */
export const isNever = "false";

/**
 * An SQL predicate for the rows whose old value is intact: its sources are those of when the column was replaced by
 * another one. A mark that was made later, or none, means that the row was written since, perhaps with its new value
 * alone. `marked`: the version in the marks `kept`; undefined if there are none.
 */
export function isIntact(
  { from }: Pick<Marked, "from">,
  column: string,
  marked: string | undefined,
  kept: string,
): string {
  const own = sqlPath([column]);
  if (marked === undefined) return isNever;
  const mark = sourceMark(sqlPath([kept]), failedMark, nullMark);
  // A row without a mark is not intact: null is neither true nor false.
  return `${own} is not null and coalesce(${mark} = ${markSql({ version: marked, from })}, false)`;
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

/** The engine's column for where a row is stored. */
export const rowAddress = "_rowaddr";

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

function markPath({ mark = markName }: Pick<Marked, "mark">): string {
  return sqlPath([mark]);
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
