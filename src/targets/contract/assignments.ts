/** What an update sets, as the engine takes it. */
import type { UpdateRowsAction } from "../../actions/model/action.ts";
import { isNull } from "../../actions/model/risk.ts";
import { typesWithin, type Column, type DataType } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { findColumn } from "../../schema/table.ts";
import { castSql } from "../../wire/arrow/arrow-cast.ts";

/**
 * Pairs of a column and its expression; `columns` are those of the table. The engine expects names of columns without
 * quotes. A vector of another length it would store as null, and a text in it as 0, without an error (docs/internals/engine.md).
 */
export function assignments(
  { set }: Pick<UpdateRowsAction, "set">,
  columns: readonly Column[],
): readonly (readonly [column: string, sql: string])[] {
  return Object.entries(set).map(([path, sql]) => {
    const at = parsePath(path);
    const type = findColumn(columns, at)?.type;
    const isCast = type?.kind === "fixedSizeList" && !isNull(sql) && hasSqlName(type);
    return [at.join("."), isCast ? castSql(`(${sql})`, type) : sql];
  });
}

function hasSqlName(type: DataType): boolean {
  return typesWithin(type).every(({ kind }) => kind !== "unknown");
}
