/** What has to be asked of the tables before migrations are taken back, as they are before anything is changed. Pure. */
import { count, type StepPlace } from "../errors.ts";
import type { Action } from "../schema/action.ts";
import { castVerdict } from "../schema/cast.ts";
import { formatType, type DataType } from "../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../schema/path.ts";
import { change, columnPaths, findColumn, replaceColumn, type Database } from "../schema/table.ts";
import type { Obstacle } from "../schema/way-back.ts";
import { arrowName } from "../wire/arrow-cast.ts";
import { followPath } from "./blind.ts";
import type { Plan, PlannedMigration } from "./plan.ts";

export interface Question {
  readonly place: StepPlace;
  /**
   * How it is asked: by the one or the other where a column may have its old name or its new one; by none where nobody
   * can. It is passed over where none of them can be asked and it was asked before.
   */
  readonly asks: readonly Ask[];
  /** So many rows may be there. */
  readonly allowed: number;
  /** What is in the way, where rows are too many; or where nobody can tell how many there are. */
  readonly words: (rows: number | undefined) => string;
  /** Whether it may go on all the same: only what came since is lost. */
  readonly mayLose: boolean;
  /** Whether the target itself refuses what these rows stand in the way of. */
  readonly isRefused: boolean;
  readonly wasAsked: boolean;
}

/** What was written to a table after a version, which restoring it would lose. */
export interface SinceQuestion {
  readonly place: StepPlace;
  /** As it is called now. */
  readonly table: string;
  /** Undefined where nobody knows which one it is. */
  readonly version: number | undefined;
  /** The version that is to be restored, an older one or the same. */
  readonly restores: number;
  /** The version that has been restored by then; undefined where the table is as it is now. */
  readonly until: number | undefined;
  /** Whether rows that were added can be put back. */
  readonly putsBack: boolean;
}

interface Ask {
  readonly table: string;
  /** As it is called there; none where all rows are counted. */
  readonly column?: string | undefined;
  /** SQL; every row when absent. */
  readonly predicate: string | undefined;
}

export interface Questions {
  readonly rows: readonly Question[];
  readonly since: readonly SinceQuestion[];
}

/** All of a plan that takes migrations back. */
export function questionsOf({ now, migrations }: Plan): Questions {
  const places = placesNow(now, migrations);
  const before: Action[] = [];
  const since: SinceQuestion[] = [];
  const rows = migrations.flatMap(({ actions, obstacles, done, midway }, index) => {
    const own = actions.map(({ action }) => action);
    // Of an action that has begun it was asked before.
    const first = midway === undefined ? done : done + 1;
    const questions = obstacles
      .filter(({ at }) => at >= first)
      .flatMap(({ place, obstacle, at }): readonly Question[] => {
        const way = [...before, ...own.slice(0, at - done)];
        if (obstacle.kind === "since") {
          const asked = askOf({ kind: "rows", table: obstacle.table, own: 0 }, way, now);
          const [restoring, next] = own.slice(at - done);
          if (asked === undefined || restoring?.kind !== "restoreTable") return [];
          const { version: restores } = restoring;
          const until = since.findLast(({ table }) => table === asked.table)?.restores;
          since.push({
            until,
            place,
            table: asked.table,
            version: obstacle.version,
            restores,
            putsBack: next?.kind === "putBackRows",
          });
          return [];
        }
        const asks = places.flatMap((database, skipped) => askOf(obstacle, way.slice(skipped), database) ?? []);
        return [{ place, asks, wasAsked: index === 0 && places.length > 1, ...aboutOf(obstacle, asks[0]) }];
      });
    before.push(...own);
    // What is made on the way has no rows that anybody wrote.
    return questions.filter(({ asks, isRefused, allowed }) => asks.length > 0 || !(isRefused || allowed === noLimit));
  });
  return { rows, since };
}

/** The tables as they may be: an action that takes several commits may have given columns their new names. */
function placesNow(now: Database, [first]: readonly PlannedMigration[]): readonly Database[] {
  const begun = first?.midway === undefined ? undefined : first.actions[0];
  if (begun === undefined) return [now];
  const after = new Map(now);
  change(after, begun.after);
  return [now, after];
}

const noLimit = Number.POSITIVE_INFINITY;

type RowsObstacle = Exclude<Obstacle, { kind: "since" }>;

function aboutOf(
  obstacle: RowsObstacle,
  ask: Ask | undefined,
): Pick<Question, "allowed" | "words" | "mayLose" | "isRefused"> {
  const place = ask?.table ?? obstacle.table;
  if (obstacle.kind === "rows")
    return {
      allowed: ask === undefined ? noLimit : obstacle.own,
      words: (rows) =>
        rows === undefined
          ? `rows of ${place} can't be counted here, and it goes with them`
          : `${place} has ${count(rows, "row")}, ${rows - obstacle.own} of them written since, and goes with them`,
      mayLose: true,
      isRefused: false,
    };
  const column = `${place}.${ask?.column ?? obstacle.path}`;
  const are = (rows: number, one: string, many: string) =>
    `${count(rows, "row")} of ${column} ${rows === 1 ? one : many}`;
  switch (obstacle.kind) {
    case "null":
      return {
        allowed: 0,
        words: (rows = 0) => `${are(rows, "is", "are")} null, and it was not null before`,
        mayLose: false,
        isRefused: true,
      };
    case "values":
      return {
        allowed: 0,
        words: (rows) =>
          rows === undefined
            ? `values of ${column} can't be looked for here, and would be dropped with it`
            : `${are(rows, "has a value", "have values")}, which would be dropped with it`,
        mayLose: true,
        isRefused: false,
      };
    case "cast": {
      const { from, to } = obstacle;
      const verdict = castVerdict(from, to);
      const back = `back from ${formatType(from)} to ${formatType(to)}`;
      return {
        allowed: 0,
        words: (rows) =>
          rows === undefined
            ? `values of ${column} can't be compared here, and may not come ${back} as they are`
            : `${are(rows, "does", "do")} not come ${back} as ${rows === 1 ? "it is" : "they are"}`,
        // What does not fit is refused whatever is said.
        mayLose: verdict.allowed && verdict.mayLose && !verdict.mayFail,
        isRefused: verdict.allowed && !verdict.mayLose,
      };
    }
  }
}

/** `before`: the actions between the tables as they are and what the obstacle is about. Undefined where nobody can ask. */
function askOf(obstacle: RowsObstacle, before: readonly Action[], now: Database): Ask | undefined {
  if (obstacle.kind === "rows") {
    const table = [...now.keys()].find(
      (name) => follow({ table: name, path: [], casts: [] }, before)?.table === obstacle.table,
    );
    return table === undefined ? undefined : { table, predicate: undefined };
  }
  const wanted = parsePath(obstacle.path);
  for (const [table, { columns }] of now)
    for (const path of columnPaths(columns)) {
      const there = follow({ table, path, casts: [] }, before);
      if (there?.table !== obstacle.table) continue;
      const inside = restOf(wanted, there.path);
      const { type } = findColumn(columns, path)!;
      if (inside === undefined || (inside.length > 0 && type.kind === "struct")) continue;
      const predicate = predicateOf(obstacle, named(path), there.casts.at(-1) ?? type, inside, there.casts);
      return predicate === undefined ? undefined : { table, column: formatPath([...path, ...inside]), predicate };
    }
  return undefined;
}

/** `type`: what the column is by then. `inside`: where in it the obstacle is, should it be a list. */
function predicateOf(
  obstacle: Exclude<RowsObstacle, { kind: "rows" }>,
  sql: string,
  type: DataType,
  inside: Path,
  casts: readonly DataType[],
): string | undefined {
  switch (obstacle.kind) {
    case "null":
      // The engine looks into lists itself.
      return inside.length > 0 ? undefined : `${sql} IS NULL`;
    case "values":
      return `${sql} IS NOT NULL`;
    case "cast": {
      const column = { name: "", type, nullable: true };
      const [was] = replaceColumn([column], ["", ...inside], (one) => ({ ...one, type: obstacle.to }));
      const is = castTo(sql, casts);
      const back = castTo(is, [was!.type, type]);
      return `${sql} IS NOT NULL AND (${back} IS NULL OR ${back} <> ${is})`;
    }
  }
}

/** A column, and the types that it was cast to on its way, one after the other. */
interface Followed {
  readonly table: string;
  readonly path: Path;
  readonly casts: readonly DataType[];
}

/** Where a column is after these actions; undefined where it is gone, or its values are others. */
function follow(from: Followed, actions: readonly Action[]): Followed | undefined {
  let at: Followed | undefined = from;
  for (const action of actions) {
    if (at === undefined) return undefined;
    at = action.table === at.table ? followOne(at, action) : at;
  }
  return at;
}

function followOne(at: Followed, action: Action): Followed | undefined {
  const { path, casts } = at;
  switch (action.kind) {
    case "renameTable":
      return { ...at, table: action.name };
    case "dropTable":
      return undefined;
    case "dropColumns":
      return action.paths.some((one) => restOf(path, parsePath(one)) !== undefined) ? undefined : at;
    case "convertColumn":
      return parsePath(action.path)[0] === path[0] ? undefined : at;
    case "alterColumns": {
      const types = action.alterations.filter(({ type }) => type !== undefined);
      const own = types.find((one) => formatPath(parsePath(one.path)) === formatPath(path));
      // A cast around it, or of the items of a list in it: its values are others.
      const isOther = types.some(
        (one) => one !== own && (restOf(path, parsePath(one.path)) ?? restOf(parsePath(one.path), path)) !== undefined,
      );
      if (isOther && path.length > 0) return undefined;
      return { ...at, path: followPath(path, [action]), casts: own === undefined ? casts : [...casts, own.type!] };
    }
    default:
      return at;
  }
}

/** What a path has after another one that it begins with; undefined where it does not. */
function restOf(path: Path, start: Path): Path | undefined {
  return start.every((name, index) => path[index] === name) ? path.slice(start.length) : undefined;
}

/** Null where a value does not fit. */
function castTo(sql: string, types: readonly DataType[]): string {
  return types.reduce((inner, type) => `arrow_try_cast(${inner}, '${arrowName(type).replaceAll("'", "''")}')`, sql);
}

function named(path: Path): string {
  return path.map((name) => `\`${name.replaceAll("`", "``")}\``).join(".");
}
