/** Counts the vectors that an index can be trained on. */
import type { Column } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { sqlPath } from "../../schema/sql.ts";
import { findColumn } from "../../schema/table.ts";
import { holdsVectors, vectorsNeeded, type TableIndex } from "../../schema/table-index.ts";
import type { Target } from "./target.ts";

/** `columns`: those of the table. It stops counting at `needed`. Undefined if the target can't count. */
export async function countVectors(
  table: string,
  index: TableIndex,
  columns: readonly Column[],
  { rows, countRows }: Pick<Target, "countRows" | "rows">,
): Promise<{ readonly vectors: number; readonly needed: number } | undefined> {
  const needed = vectorsNeeded(index);
  const path = parsePath(index.path);
  const type = findColumn(columns, path)?.type;
  const where = holdsVectors(sqlPath(path), type);
  if (type?.kind === "list" && rows !== undefined) {
    const lengths = [["length", `array_length(${sqlPath(path)})`]] as const;
    const found = await rows.read(table, { select: lengths, where, limit: needed });
    return { vectors: found.reduce((sum, { length }) => sum + Number(length), 0), needed };
  }
  if (countRows === undefined) return undefined;
  return { vectors: await countRows(table, where, undefined, needed), needed };
}
