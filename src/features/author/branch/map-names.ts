/** Maps names of tables and columns from one history to another, in which other migrations ran first. Pure. */
import { MigrateError } from "../../../errors/migrate-error.ts";
import type { Action } from "../../../actions/model/action.ts";
import { applyActions, describeAction, refAfter } from "../../../actions/apply-action.ts";
import type { Moving } from "../../../steps/define/name-map.ts";
import { formatPath, isWithin, parsePath, restOf, type Path } from "../../../schema/path.ts";
import type { RowValues } from "../../../schema/row-values.ts";
import { hasWord } from "../../shared/whole-word.ts";
import { columnPaths, type Database, type Table } from "../../../schema/table.ts";
import { follow } from "../../../actions/follow.ts";
import type { ColumnRef } from "../../../actions/model/action-model.ts";

interface MappedColumn {
  readonly here: ColumnRef;
  /** Undefined if it is gone. */
  readonly there: ColumnRef | undefined;
  /** The migration and action that renamed or dropped it there; empty if none did. */
  readonly by: string;
}

export interface NameMap extends Moving {
  /** Advances this history by the actions `here`, and the other one by their counterparts `there`. */
  advance(here: readonly Action[], there: readonly Action[]): void;
}

/** Both histories begin with `base`. In the other one, the actions `others` came next, each from migration `by`. */
export function nameMapAfter(
  base: Database,
  others: readonly { readonly by: string; readonly action: Action }[],
): NameMap {
  const database = new Map<string, Table>(base);
  let entries = [...base].flatMap(([table, { columns }]) =>
    [[], ...columnPaths(columns)].map((path): MappedColumn => ({
      here: { table, path },
      there: { table, path },
      by: "",
    })),
  );
  for (const { by, action } of others)
    entries = entries.map((entry) => {
      const there = entry.there && refAfter(entry.there, action);
      return there === entry.there || (there !== undefined && keyOf(there) === keyOf(entry.there!))
        ? entry
        : { here: entry.here, there, by: `${by} (${describeAction(action)})` };
    });

  const find = (table: string, path: Path): ColumnRef => {
    const own = entries.filter(({ here }) => here.table === table);
    const [nearest] = own
      .filter(({ here }) => isWithin(path, here.path))
      .toSorted((one, other) => other.here.path.length - one.here.path.length);
    if (nearest === undefined) return { table, path };
    const { here, there, by } = nearest;
    if (there === undefined)
      throw new MigrateError("ERR_MOVED", { path: keyOf({ table, path }), problem: `is gone: ${by}` });
    return { table: there.table, path: [...there.path, ...restOf(path, here.path)!] };
  };

  /** The columns and fields whose last name differs there, or that are gone. */
  const renamed = (table: string) =>
    entries.filter(
      ({ here, there }) => here.table === table && here.path.length > 0 && there?.path.at(-1) !== here.path.at(-1),
    );

  const rowThere = (table: string, row: RowValues): RowValues =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => {
        const inside = renamed(table).find(({ here: { path } }) => path.length > 1 && path[0] === name);
        if (inside !== undefined && value !== null)
          throw new MigrateError("ERR_MOVED", {
            path: keyOf(inside.here),
            problem: `is used in rows, and has another name there: ${inside.by}`,
          });
        return [find(table, [name]).path[0]!, value];
      }),
    );

  return {
    table: (name) => find(name, []).table,
    path: (table, path) => formatPath(find(table, parsePath(path)).path),
    sql(table, sql) {
      const named = renamed(table).find(({ here }) => hasWord(sql, here.path.at(-1)!, "iu"));
      if (named === undefined) return sql;
      throw new MigrateError("ERR_MOVED", {
        path: keyOf(named.here),
        problem: `is used in SQL, and has another name there: ${named.by}`,
      });
    },
    rows: (table, rows) => rows.map((row) => rowThere(table, row)),
    advance(here, there) {
      applyActions(database, here);
      entries = entries.flatMap((entry) => {
        const own = follow(entry.here, here);
        return own === undefined ? [] : [{ ...entry, here: own, there: entry.there && follow(entry.there, there) }];
      });
      const known = new Set(entries.map((entry) => keyOf(entry.here)));
      for (const [table, { columns }] of database)
        for (const path of [[], ...columnPaths(columns)])
          if (!known.has(keyOf({ table, path })))
            entries.push({ here: { table, path }, there: find(table, path), by: "" });
    },
  };
}

function keyOf({ table, path }: ColumnRef): string {
  return path.length === 0 ? table : `${table}.${formatPath(path)}`;
}
