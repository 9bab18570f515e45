/**
 * Prepared columns: the new values of a column are computed in a column of their own, which takes the column's place when
 * it is complete. Until then, migrations don't see it: it may exist long before the migration that prepares it runs.
 */
import type { SwitchColumnAction } from "../model/action.ts";
import type { Alteration } from "../model/alteration.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { markName } from "./source-marks.ts";
import type { Table } from "../../schema/table.ts";

const values = "_lance_migrate_next_";
const marks = `${markName}_`;

/** The name of the column that holds the new values of a column. */
export function preparedName(column: string): string {
  return `${values}${column}`;
}

/** The name of the column that holds the marks of these values (`source-marks.ts`). */
export function preparedMark(column: string): string {
  return `${marks}${column}`;
}

/** The name of a copy of a prepared column, while it is moved. No column has an empty name, so it is not taken. */
export const movingName = values;

/** Whether a name is that of a prepared column or of its marks. */
export function isPrepared(column: string): boolean {
  return column.startsWith(values) || column.startsWith(marks);
}

/** What puts a prepared column in the place of another one. */
export function switching({ path, keep }: Pick<SwitchColumnAction, "path" | "keep">): readonly Alteration[] {
  const column = parsePath(path)[0]!;
  return [
    { path, rename: keep },
    { path: formatPath([preparedName(column)]), rename: column },
  ];
}

/** A table without its prepared columns and their indexes. */
export function withoutPrepared(table: Table): Table {
  const { columns, indexes } = table;
  if (!columns.some(({ name }) => isPrepared(name))) return table;
  return {
    ...table,
    columns: columns.filter(({ name }) => !isPrepared(name)),
    ...(indexes !== undefined && {
      indexes: Object.fromEntries(
        Object.entries(indexes).filter(([, index]) => index === null || !isPrepared(parsePath(index.path)[0]!)),
      ),
    }),
  };
}
