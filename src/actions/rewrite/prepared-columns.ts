/**
 * Prepared columns: the new values of a column are computed in a column of their own, which takes the column's place when
 * it is complete. Until then, migrations don't see it: it may exist long before the migration that prepares it runs.
 */
import type { PrepareColumnAction, SwitchColumnAction } from "../model/action.ts";
import type { Alteration } from "../model/alteration.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { nameOfCode, type Computation } from "../model/computation.ts";
import { markName } from "./source-marks.ts";
import type { Column } from "../../schema/data-type.ts";
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

/** Metadata of a column that names the model of its values, for applications. Migrations don't see it. */
export function modelMetadata({ version, with: code }: Pick<Computation, "version" | "with">) {
  return { lance_migrate_version: version, lance_migrate_with: nameOfCode(code) };
}

/** The metadata of a column without that which names its model; undefined if there is no other. */
export function withoutModel(metadata: Column["metadata"]): Column["metadata"] {
  const { lance_migrate_version: _version, lance_migrate_with: _with, ...others } = metadata ?? {};
  return Object.keys(others).length === 0 ? undefined : others;
}

function isNamed({ metadata }: Column): boolean {
  return metadata !== undefined && "lance_migrate_version" in metadata;
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

/** A table as migrations see it: without prepared columns and their indexes, and with the old columns of kept marks. */
export function withoutPrepared(table: Table): Table {
  const { columns, indexes } = table;
  if (!columns.some((column) => isPrepared(column.name) || isNamed(column))) return table;
  const watched = columns.filter(({ name }) => isKeptMark(name)).map(({ name }) => name.slice(keptMarks.length));
  return {
    ...table,
    ...(watched.length > 0 && { watched }),
    columns: columns.filter(({ name }) => !isPrepared(name)).map(asMigrationsSeeIt),
    ...(indexes !== undefined && {
      indexes: Object.fromEntries(
        Object.entries(indexes).filter(([, index]) => index === null || !isPrepared(parsePath(index.path)[0]!)),
      ),
    }),
  };
}

function asMigrationsSeeIt(column: Column): Column {
  if (!isNamed(column)) return column;
  const { metadata, ...rest } = column;
  const others = withoutModel(metadata);
  return others === undefined ? rest : { ...rest, metadata: others };
}
