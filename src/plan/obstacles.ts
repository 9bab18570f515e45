/** What has to be asked of the tables before migrations are taken back, as they are before anything is changed. Pure. */
import { count, type StepPlace } from "../errors.ts";
import { tablesOfAction, type Action } from "../schema/action.ts";
import { formatType, type DataType } from "../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../schema/path.ts";
import { columnPaths, type Table } from "../schema/table.ts";
import type { Obstacle } from "../schema/way-back.ts";
import { arrowName } from "../wire/arrow-cast.ts";
import { followPath } from "./blind.ts";
import type { Plan } from "./plan.ts";

export interface Question {
  readonly place: StepPlace;
  readonly table: string;
  /** SQL; every row when absent. */
  readonly predicate: string | undefined;
  /** So many rows may be there. */
  readonly allowed: number;
  /** What is in the way, where `rows` are too many. */
  readonly words: (rows: number) => string;
  /** Whether it may go on all the same: only what came since is lost. */
  readonly mayLose: boolean;
}

/** All of a plan that takes migrations back. */
export function questionsOf({ now, migrations }: Plan): readonly Question[] {
  const before: Action[] = [];
  return migrations.flatMap(({ actions, obstacles, done }) => {
    const own = actions.map(({ action }) => action);
    const questions = obstacles
      .filter(({ at }) => at >= done)
      .flatMap(({ place, obstacle, at }) => {
        const question = questionOf(obstacle, [...before, ...own.slice(0, at - done)], now);
        return question === undefined ? [] : [{ place, ...question }];
      });
    before.push(...own);
    return questions;
  });
}

/** `before`: the actions between the tables as they are and what the obstacle is about. */
function questionOf(
  obstacle: Obstacle,
  before: readonly Action[],
  now: ReadonlyMap<string, Table>,
): Omit<Question, "place"> | undefined {
  const table = nameBefore(obstacle.table, before);
  const live = now.get(table);
  if (live === undefined) return undefined;
  const own = before.filter((action) =>
    tablesOfAction(action).some((name) => name === table || name === obstacle.table),
  );
  if (obstacle.kind === "rows")
    return {
      table,
      predicate: undefined,
      allowed: obstacle.own,
      words: (rows) =>
        `${table} has ${count(rows, "row")}, ${rows - obstacle.own} of them written since, and goes with them`,
      mayLose: true,
    };
  const wanted = formatPath(parsePath(obstacle.path));
  const path = columnPaths(live.columns).find((at) => formatPath(followPath(at, own)) === wanted);
  if (path === undefined) return undefined;
  const column = `${table}.${formatPath(path)}`;
  const sql = named(path);
  switch (obstacle.kind) {
    case "null":
      return {
        table,
        predicate: `${sql} IS NULL`,
        allowed: 0,
        words: (rows) =>
          `${count(rows, "row")} of ${column} ${rows === 1 ? "is" : "are"} null, and it was not null before`,
        mayLose: false,
      };
    case "values":
      return {
        table,
        predicate: `${sql} IS NOT NULL`,
        allowed: 0,
        words: (rows) =>
          `${count(rows, "row")} of ${column} ${rows === 1 ? "has a value" : "have values"}, which would be dropped with it`,
        mayLose: true,
      };
    case "cast": {
      const { from, to } = obstacle;
      const is = castTo(sql, [...typesOf(path, own), from]);
      const back = castTo(is, [to, from]);
      return {
        table,
        predicate: `${sql} IS NOT NULL AND (${back} IS NULL OR ${back} <> ${is})`,
        allowed: 0,
        words: (rows) =>
          `${count(rows, "row")} of ${column} ${rows === 1 ? "does" : "do"} not come back from ${formatType(from)} to ${formatType(to)} as ${rows === 1 ? "it is" : "they are"}`,
        mayLose: false,
      };
    }
  }
}

/** The name of a table before actions that may rename it. */
function nameBefore(table: string, before: readonly Action[]): string {
  return before.reduceRight(
    (name, action) => (action.kind === "renameTable" && action.name === name ? action.table : name),
    table,
  );
}

/** The types that a column is cast to on its way, one after the other. */
function typesOf(path: Path, actions: readonly Action[]): readonly DataType[] {
  return actions.flatMap((action, index) => {
    const at = formatPath(followPath(path, actions.slice(0, index)));
    const alterations = action.kind === "alterColumns" ? action.alterations : [];
    return alterations.flatMap((one) =>
      one.type !== undefined && formatPath(parsePath(one.path)) === at ? [one.type] : [],
    );
  });
}

/** Null where a value does not fit. */
function castTo(sql: string, types: readonly DataType[]): string {
  return types.reduce((inner, type) => `arrow_try_cast(${inner}, '${arrowName(type).replaceAll("'", "''")}')`, sql);
}

function named(path: Path): string {
  return path.map((name) => `\`${name.replaceAll("`", "``")}\``).join(".");
}
