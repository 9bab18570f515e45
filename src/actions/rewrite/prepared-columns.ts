/**
 * Prepared columns: the new values of a column are computed in a column of their own, which takes the column's place when
 * it is complete. Until then, migrations don't see it: it may exist long before the migration that prepares it runs.
 */
import type { PrepareColumnAction, SwitchColumnAction } from "../model/action.ts";
import type { Alteration } from "../model/alteration.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { markName } from "./source-marks.ts";
import { requireColumn, type Table } from "../../schema/table.ts";

const values = "_lance_migrate_next_";
const marks = `${markName}_`;
const copies = "_lance_migrate_copy_";
const keptMarks = "_lance_migrate_kept_";

/** The name of the column that holds the new values of a column. */
export function preparedName(column: string): string {
  return `${values}${column}`;
}

/** The name of the column that holds the marks of these values (`source-marks.ts`). */
export function preparedMark(column: string): string {
  return `${marks}${column}`;
}

/** The names of the columns of the values and of the marks. */
export function preparedAs({ path, into }: Pick<PrepareColumnAction, "path" | "into">): {
  readonly next: string;
  readonly mark: string;
} {
  const column = parsePath(path)[0]!;
  const [own] = into === undefined ? [] : parsePath(into);
  return own === undefined
    ? { next: preparedName(column), mark: preparedMark(column) }
    : { next: own, mark: preparedMark(own) };
}

/** The name of a copy of such a column, while it is moved to the end of the table. */
export function copyName(prepared: string): string {
  return `${copies}${prepared}`;
}

/**
 * The name that the marks get after the switch. As long as the column `kept` holds the old values, they show whose sources
 * have changed since, so that a rollback computes only the old values of these rows.
 */
export function keptMark(kept: string): string {
  return `${keptMarks}${kept}`;
}

/** Whether a name is that of marks which a rollback needs. */
export function isKeptMark(column: string): boolean {
  return column.startsWith(keptMarks);
}

/** Whether a name is that of a prepared column or of its marks. */
export function isPrepared(column: string): boolean {
  return [values, marks, copies, keptMarks].some((prefix) => column.startsWith(prefix));
}

/** What puts a prepared column in the place of another one. The application does not write to the old one any more. */
export function switching(
  { table, path, keep }: Pick<SwitchColumnAction, "table" | "path" | "keep">,
  { columns }: Table,
): readonly Alteration[] {
  const at = parsePath(path);
  const isStrict = !requireColumn(table, columns, at).nullable;
  return [
    { path, rename: keep, ...(isStrict && { nullable: true }) },
    { path: formatPath([preparedName(at[0]!)]), rename: at[0]! },
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
