/** Follows each table and column through the migrations, under all of its names. Pure. */
import { refAfter } from "../../../actions/apply-action.ts";
import type { Action } from "../../../actions/model/action.ts";
import { isMigrateError } from "../../../errors/migrate-error.ts";
import type { Migration } from "../../../migrations/load.ts";
import { formatPath, isWithin, parsePath, type Path } from "../../../schema/path.ts";
import { columnPaths, findColumn, type Table, type Tables } from "../../../schema/table.ts";
import { compileMigration } from "../../../plan/compile/compile.ts";
import { replay } from "../../../plan/compile/replay.ts";
import {
  changesBetween,
  columnAt,
  creationOf,
  typeText,
  type ChangeText,
  type PlacedColumn,
} from "./column-changes.ts";

export interface ColumnEvent extends ChangeText {
  /** The migration. */
  readonly version: number;
  /** Counted from 1. */
  readonly step: number;
  /** Where the column is after the change; where it was, if it is dropped. */
  readonly table: string;
  readonly path: string;
}

/** A column, or a field of a struct, from its creation to its end. */
export interface ColumnLife {
  /** Each `table.path` that it had, in order. */
  readonly names: readonly string[];
  /** In the order in which they happened. */
  readonly events: readonly ColumnEvent[];
  /** After the pending migrations. Absent if it is dropped. */
  readonly now?: PresentColumn | undefined;
  /** Before the pending migrations, if they change this. */
  readonly today?: PresentColumn | undefined;
}

export interface PresentColumn {
  readonly table: string;
  readonly path: string;
  readonly type: string;
}

export interface TableLife {
  /** The last name that it had. */
  readonly name: string;
  /** The version of the migration that created it. */
  readonly created: number;
  /** The version of the migration that dropped it. */
  readonly dropped?: number | undefined;
  /** In the order in which they were created. */
  readonly columns: readonly ColumnLife[];
}

export interface TableLives {
  readonly tables: readonly TableLife[];
  /** Why they end before the last migration: a step can't work, for example because a migration before it is missing. */
  readonly problem?: string | undefined;
}

/**
 * `migrations`: in the order in which they ran, or would run. `pending`: the version of the first one that is not complete,
 * if there is one.
 */
export function tableLives(migrations: readonly Migration[], pending?: number): TableLives {
  const walk: Walk = { database: new Map(), existing: new Map(), all: [] };
  const lives = () => walk.all.map((table) => lifeOf(table, walk.database));
  try {
    for (const migration of migrations) {
      if (migration.version === pending) noteToday(walk);
      // A target that can't describe its tables swaps columns with names in between, which say nothing about a column.
      replay(walk.database, compileMigration(migration, { describes: true }), ({ place, action }, before, after) =>
        follow(walk, action, before, after, { version: migration.version, step: place.step }),
      );
    }
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return { tables: lives(), problem: error.message };
  }
  return { tables: lives() };
}

interface Walk {
  readonly database: Map<string, Table>;
  readonly existing: Map<string, TableSoFar>;
  readonly all: TableSoFar[];
}

interface TableSoFar {
  name: string;
  readonly created: number;
  dropped?: number;
  /** Those that exist. */
  columns: readonly ColumnSoFar[];
  readonly all: ColumnSoFar[];
}

interface ColumnSoFar {
  path: Path;
  today?: PresentColumn;
  readonly events: ColumnEvent[];
}

function noteToday({ database, existing }: Walk): void {
  for (const [name, { columns }] of existing)
    for (const column of columns) column.today = presentColumn(name, column.path, database);
}

type EventOrigin = Pick<ColumnEvent, "version" | "step">;

const noTable: Table = { columns: [] };

function follow({ existing, all }: Walk, action: Action, tables: Tables, made: Tables, step: EventOrigin): void {
  const before = tables.get(action.table) ?? noTable;
  let table = existing.get(action.table);
  if (table === undefined) all.push((table = { name: action.table, created: step.version, columns: [], all: [] }));
  existing.delete(action.table);
  const name = refAfter({ table: action.table, path: [] }, action)?.table;
  const after = name === undefined ? undefined : made.get(name);
  followColumns(table, action, { before, after, name: name ?? table.name, step });
  if (name === undefined) table.dropped = step.version;
  else existing.set((table.name = name), table);
}

interface Made {
  readonly before: Table;
  /** Undefined if the action drops the table. */
  readonly after: Table | undefined;
  /** The table's name after the action. */
  readonly name: string;
  readonly step: EventOrigin;
}

function followColumns(table: TableSoFar, action: Action, { before, after = noTable, name, step }: Made): void {
  const left: ColumnSoFar[] = [];
  const add = (column: ColumnSoFar, at: PlacedColumn, changes: readonly ChangeText[]) => {
    for (const one of changes)
      if (!isRepeated(one, column.events.at(-1), step))
        column.events.push({ ...step, ...one, table: at.name, path: formatPath(at.path) });
  };
  for (const column of table.columns) {
    const was = { name: table.name, table: before, path: column.path };
    const path = pathAfter(column.path, action);
    if (path === undefined || findColumn(after.columns, path) === undefined) {
      add(column, was, [{ change: "dropped", before: typeText(columnAt(was)) }]);
      continue;
    }
    const is = { name, table: after, path };
    add(column, is, changesBetween(was, is, action));
    column.path = path;
    left.push(column);
  }
  const known = new Set(left.map(({ path }) => formatPath(path)));
  for (const path of columnPaths(after.columns)) {
    if (known.has(formatPath(path))) continue;
    const column: ColumnSoFar = { path, events: [] };
    const is = { name, table: after, path };
    add(column, is, creationOf(is, keptFrom(path, action), action));
    table.all.push(column);
    left.push(column);
  }
  table.columns = left;
}

/**
 * To the engine, a column that is switched to new values is another column, and the old one gets a new name. To people, it
 * is the same column, and the old values are kept in a new one.
 */
function pathAfter(path: Path, action: Action): Path | undefined {
  return action.kind === "switchColumn" ? path : refAfter({ table: action.table, path }, action)?.path;
}

/** The column whose old values this new one keeps. */
function keptFrom(path: Path, action: Action): Path | undefined {
  if (action.kind !== "switchColumn" || !isWithin(path, [action.keep])) return undefined;
  return [...parsePath(action.path), ...path.slice(1)];
}

/** A step may compute the same column in several actions. */
function isRepeated(
  { change, after }: ChangeText,
  last: ColumnEvent | undefined,
  { version, step }: EventOrigin,
): boolean {
  return last?.change === change && last.after === after && last.version === version && last.step === step;
}

function lifeOf({ name, created, dropped, columns, all }: TableSoFar, database: ReadonlyMap<string, Table>): TableLife {
  const existing = new Set(dropped === undefined ? columns : []);
  return {
    name,
    created,
    dropped,
    columns: all.map((column) => {
      const { path, events, today } = column;
      const names = [...new Set(events.map((event) => `${event.table}.${event.path}`))];
      if (!existing.has(column)) return { names, events, ...(today && { today }) };
      const now = presentColumn(name, path, database);
      return { names, events, now, ...(today && !isSame(today, now) && { today }) };
    }),
  };
}

function presentColumn(table: string, path: Path, database: ReadonlyMap<string, Table>): PresentColumn {
  return { table, path: formatPath(path), type: typeText(findColumn(database.get(table)!.columns, path)!) };
}

function isSame(one: PresentColumn, other: PresentColumn): boolean {
  return one.table === other.table && one.path === other.path && one.type === other.type;
}
