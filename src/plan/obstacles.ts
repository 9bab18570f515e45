/** What has to be asked of the tables before migrations are taken back, as they are before anything is changed. Pure. */
import { count, type StepPlace } from "../errors.ts";
import { changesRows, type Action } from "../schema/action.ts";
import { castVerdict } from "../schema/cast.ts";
import { formatType, type DataType } from "../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../schema/path.ts";
import { change, columnPaths, findColumn, replaceColumn, type Database, type Table } from "../schema/table.ts";
import type { Obstacle } from "../schema/way-back.ts";
import { arrowName } from "../wire/arrow-cast.ts";
import { follow, restOf } from "./follow.ts";
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
  /** Those may be there that were at this version of the table; null where nobody knows which one it is. Any number counts when absent. */
  readonly since?: number | null | undefined;
  /** So many have to be there. */
  readonly least?: number;
  /** What is in the way, where rows are too many; or where nobody can tell how many there are. `written`: those of them that came since. */
  readonly words: (rows: number | undefined, written?: number) => string;
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
  /** A newer one, after which that was not done before. */
  readonly after: number;
  /** What the table has to be like in that version. */
  readonly as: Table;
  /** The version that has been restored by then; undefined where the table is as it is now. */
  readonly until: number | undefined;
  /** Whether rows that were added can be put back. */
  readonly putsBack: boolean;
}

export interface Ask {
  readonly table: string;
  /** As it is called there; none where all rows are counted. */
  readonly column?: string | undefined;
  /** SQL; every row when absent. */
  readonly predicate: string | undefined;
  /** The version that is restored by then; undefined where the table is as it is now. */
  readonly version?: number | undefined;
  /** Rows that came since are put back on it. */
  readonly putsBack?: boolean | undefined;
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
          const asked = sinceOf(obstacle, place, own.slice(at - done), way, now, since);
          if (asked !== undefined) since.push(asked);
          return [];
        }
        const asks = places.flatMap((database, skipped) => askAfter(obstacle, way.slice(skipped), database) ?? []);
        return [{ place, asks, wasAsked: index === 0 && places.length > 1, ...aboutOf(obstacle, asks[0]) }];
      });
    before.push(...own);
    // What is made on the way has no rows that anybody wrote.
    return questions.filter(({ asks, isRefused, allowed }) => asks.length > 0 || !(isRefused || allowed === noLimit));
  });
  return { rows, since };
}

/** What restoring a version would lose. `before`: the actions between the tables as they are and that. */
function sinceOf(
  { table: name, version }: Extract<Obstacle, { kind: "since" }>,
  place: StepPlace,
  [restoring, next]: readonly Action[],
  before: readonly Action[],
  now: Database,
  asked: readonly SinceQuestion[],
): SinceQuestion | undefined {
  const table = askOf({ kind: "rows", table: name, own: 0 }, before, now)?.table;
  if (table === undefined || restoring?.kind !== "restoreTable") return undefined;
  const { version: restores, after, as } = restoring;
  // Rows that the way back changes itself can't be told from those of others.
  const isChanged = before.some(
    (action) =>
      changesRows(action) && action.kind !== "restoreTable" && action.kind !== "putBackRows" && action.table === name,
  );
  return {
    place,
    table,
    version: isChanged ? undefined : version,
    restores,
    after,
    as,
    until: asked.findLast((one) => one.table === table)?.restores,
    putsBack: next?.kind === "putBackRows" && !isChanged,
  };
}

/** As `askOf`; of a table that is restored by then it is asked in that version. */
export function askAfter(obstacle: RowsObstacle, before: readonly Action[], now: Database): Ask | undefined {
  const leads = (table: string, actions: readonly Action[]) =>
    follow({ table, path: [], casts: [] }, actions)?.table === obstacle.table;
  const at = before.findLastIndex(
    (action, index) => action.kind === "restoreTable" && leads(action.table, before.slice(index + 1)),
  );
  const restoring = before[at];
  if (restoring?.kind !== "restoreTable") return askOf(obstacle, before, now);
  const { table, version, as } = restoring;
  const after = before.slice(at + 1);
  const ask = askOf(obstacle, after, new Map([[table, as]]));
  const live = askOf({ kind: "rows", table, own: 0 }, before.slice(0, at), now)?.table;
  const putsBack = after.some((action) => action.kind === "putBackRows" && action.table === table);
  return ask === undefined || live === undefined ? undefined : { ...ask, table: live, version, putsBack };
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

export type RowsObstacle = Exclude<Obstacle, { kind: "since" }>;

function aboutOf(
  obstacle: RowsObstacle,
  ask: Ask | undefined,
): Pick<Question, "allowed" | "since" | "least" | "words" | "mayLose" | "isRefused"> {
  const place = ask?.table ?? obstacle.table;
  if (obstacle.kind === "rows")
    return {
      allowed: ask === undefined ? noLimit : obstacle.own,
      since: ask === undefined ? undefined : obstacle.version,
      words: (rows, written) => wordsOfRows(place, rows, written),
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
    case "vectors":
      return {
        allowed: noLimit,
        least: obstacle.least,
        words: (rows = 0) =>
          `${column} has ${count(rows, "vector")}, and its index needs at least ${obstacle.least} to be made again`,
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
    case "filled":
      return {
        allowed: noLimit,
        since: obstacle.version,
        words: (rows = 0, written) =>
          written === undefined
            ? `${are(rows, "has a value", "have values")}, of which nobody can tell how many were written since, which would be dropped with it`
            : `${count(written, "row")} of ${place} ${written === 1 ? "was" : "were"} written since, and values of ${column} would be dropped with it`,
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

function wordsOfRows(table: string, rows: number | undefined, written: number | undefined): string {
  if (rows === undefined) return `rows of ${table} can't be counted here, and it goes with them`;
  if (written === undefined)
    return `${table} has ${count(rows, "row")}, of which nobody can tell how many were written since, and goes with them`;
  return `${table} has ${count(rows, "row")}, ${written} of them written since, and goes with them`;
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
    case "vectors":
      return inside.length > 0 ? undefined : `${sql} IS NOT NULL`;
    case "values":
    case "filled":
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

/** Null where a value does not fit. */
function castTo(sql: string, types: readonly DataType[]): string {
  return types.reduce((inner, type) => `arrow_try_cast(${inner}, '${arrowName(type).replaceAll("'", "''")}')`, sql);
}

function named(path: Path): string {
  return path.map((name) => `\`${name.replaceAll("`", "``")}\``).join(".");
}
