/** What a call destroys of that which applications have written. */
import type { Action } from "../../src/actions/model/action.ts";
import type { MemoryTable, MemoryTables } from "./target/memory-table.ts";
import type { Row } from "../../src/wire/rows/ipc-rows.ts";
import { markOf } from "./target/application-metadata.ts";
import type { Column } from "../../src/schema/data-type.ts";
import { formatPath } from "../../src/schema/path.ts";
import type { Machine } from "./machine.ts";
import type { Application, Loss } from "./schedule-state.ts";

/**
 * `before`: the table right before the call took effect. `acceptsLoss`: whether its sender was told that what it restores over
 * may be lost. `asked`: rows of which the sender must ask before it drops or restores over them. `hasRemoved`: whether an
 * application has removed a row itself since.
 */
export function lossesOf(
  action: Action,
  sender: Machine,
  before: MemoryTable | undefined,
  tables: MemoryTables,
  acceptsLoss: boolean,
  asked: readonly Row[],
  hasRemoved: Application["hasRemoved"],
): readonly Loss[] {
  const after = tables.get(action.table);
  const { table } = action;
  const current = () => tables.names().map((name) => tables.get(name)!);
  const losses: Loss[] = [];
  const lose = (what: string, isLost: () => boolean, more: Pick<Loss, "column" | "since" | "row"> = {}) => {
    if (isLost()) losses.push({ sender, table, what, isLost, ...more });
  };
  const isGone = (row: Row) => () => !hasRemoved(row) && current().every(({ rows }) => !rows.includes(row));
  // A migration drops a table with its rows. A rollback does not, except for rows that arrive in that moment.
  if (after === undefined && action.kind === "dropTable")
    for (const row of asked) if (before?.rows.includes(row)) lose(`a row of ${table} is dropped`, isGone(row));
  if (action.kind === "restoreTable" && acceptsLoss)
    for (const row of asked) if (before?.rows.includes(row)) lose(`a row of ${table} is restored over`, isGone(row));
  if (after === undefined) return losses;
  if (!after.isReadable && before?.isReadable !== false)
    lose(`${table} can't be read any more`, () => tables.get(table)?.isReadable === false);
  if (after.isMixed === true && before?.isMixed !== true)
    lose(`${table} was changed though it is another table`, () => tables.get(table)?.isMixed === true);
  if (action.kind === "putBackRows" && new Set(after.rows).size < after.rows.length)
    lose(`rows of ${table} are there twice`, () => {
      const { rows = [] } = tables.get(table) ?? {};
      return new Set(rows).size < rows.length;
    });
  if (before === undefined && action.kind !== "createTable")
    lose(`${table} was dropped, and is there again`, () => tables.get(table)?.born === after.born);
  if (before === undefined) return losses;
  const mayLoseRows = action.kind === "restoreTable" && acceptsLoss;
  for (const row of mayLoseRows ? [] : before.rows) lose(`a row of ${table} is gone`, isGone(row), { row });
  if (action.kind === "dropColumns" || before.columns === after.columns) return losses;
  for (const [at, column] of before.columns.entries()) {
    const value = markOf(column);
    const index = action.kind === "restoreTable" ? restoredFrom(column, before, after) : at;
    if (value === undefined || index === -1) continue;
    // An application may have set it anew, with a greater number.
    const isSetAnew = () => {
      const now = tables.get(table)?.columns[index];
      return Number((now && markOf(now)) ?? 0) > Number(value);
    };
    const isThere = () => current().some(({ columns }) => columns.some((one) => markOf(one) === value));
    const isLost = () => !isThere() && !isSetAnew();
    const since = versionThatSet(value, before);
    lose(`metadata of ${table}.${column.name} is gone`, isLost, { column: column.name, since });
  }
  return losses;
}

function versionThatSet(value: string, table: MemoryTable): number {
  const has = ({ columns }: MemoryTable) => columns.some((one) => markOf(one) === value);
  let first = table;
  while (first.previous !== undefined && has(first.previous)) first = first.previous;
  return first.version;
}

/**
 * Where a column is in the version that is restored; -1 where it is gone. Of one that was renamed or made since, or that has the
 * name of another one that was dropped, nothing is said.
 */
function restoredFrom({ name }: Column, before: MemoryTable, after: MemoryTable): number {
  const sinceThen = (path: string) => {
    const [old, now] = [after, before].map(({ effects }) => effects.get(path) ?? []);
    return old!.every((words, at) => words === now![at]) ? now!.slice(old!.length) : undefined;
  };
  const [own, table] = [sinceThen(formatPath([name])), sinceThen("")];
  const isAnother = own === undefined || own.some((words) => /^(renamed to|worked out as) /.test(words));
  const isNew = table === undefined || table.includes(`added ${name}`);
  return isAnother || isNew ? -1 : after.columns.findIndex((one) => one.name === name);
}
