import { conflict } from "../../model/conflict.ts";
import { checkNotComputed, checkNotRead, declareAgain } from "../../rewrite/computed-columns.ts";
import { childColumns, withChildColumns, type Column } from "../../../schema/data-type.ts";
import { risksForEmbeddings } from "../../rewrite/embedding-functions.ts";
import { formatPath, isWithin, parsePath, type Path } from "../../../schema/path.ts";
import { findColumn, requireColumn, withoutIndexesOn, type Table } from "../../../schema/table.ts";
import type { DropColumnsAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const dropColumns: ActionModel<DropColumnsAction> = {
  kind: "dropColumns",
  after: (before, { table, paths }) => {
    for (const path of paths.map(parsePath)) {
      checkNotRead(table, before.columns, path);
      if (path.length > 1) checkNotComputed(table, before.columns, path, declareAgain);
    }
    return paths.map(parsePath).reduce((left, path) => without(left, path, table), before);
  },
  pathAfter: (path, { paths }) => (paths.some((dropped) => isWithin(path, parsePath(dropped))) ? undefined : path),
  invert: ({ table, paths }) => ({
    lost: `${paths.map((path) => `${table}.${path}`).join(", ")} is dropped with its values`,
  }),
  describe: ({ table, paths }) => paths.map((path) => `drop ${table}.${path}`).join(", "),
  risks: ({ table, paths, holds = "its values" }, before) => [
    ...paths.map((path) => ({
      kind: "loss" as const,
      text: `${table}.${path} is dropped with ${holds}`,
      blocker: { kind: "values" as const, table, path },
    })),
    ...risksForEmbeddings(table, before, paths),
  ],
};

function without(table: Table, path: Path, name: string): Table {
  requireColumn(name, table.columns, path);
  if (isItem(table.columns, path))
    throw conflict(
      name,
      `the engine drops a list together with its item ${formatPath(path)}; drop ${formatPath(path.slice(0, -1))}`,
    );
  const columns = withoutColumn(table.columns, path);
  if (columns.length === 0) throw conflict(name, `${formatPath(path)} is its last column; drop the table instead`);
  return withoutIndexesOn({ ...table, columns }, path);
}

function isItem(columns: readonly Column[], path: Path): boolean {
  const parent = findColumn(columns, path.slice(0, -1));
  return parent !== undefined && parent.type.kind !== "struct";
}

/** Dropping the last field of a struct also drops the struct, and the list that contains it. */
function withoutColumn(columns: readonly Column[], [name, ...rest]: Path): readonly Column[] {
  return columns.flatMap((column) => {
    if (column.name !== name) return [column];
    const left = rest.length === 0 ? [] : withoutColumn(childColumns(column.type), rest);
    return left.length === 0 ? [] : [{ ...column, type: withChildColumns(column.type, left) }];
  });
}
