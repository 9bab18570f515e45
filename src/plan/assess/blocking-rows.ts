/** What has to be asked of the tables before migrations are taken back, as they are before anything is changed. Pure. */
import { count, type StepPlace } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { changesRows } from "../../actions/apply-action.ts";
import { castVerdict } from "../../schema/cast-rules.ts";
import type { TableVersions } from "../../ledger/state/record.ts";
import { formatType, ownValue } from "../../schema/data-type.ts";
import { change, type Database, type Table, type Tables } from "../../schema/table.ts";
import type { Blocker } from "../../actions/model/inverse.ts";
import { askAfter, askOf, type Ask, type RowsObstacle } from "./row-questions.ts";
import type { Plan, PlannedAction, PlannedMigration } from "../make-plan.ts";
import { spansSince, type Span } from "./version-spans.ts";

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
  /** Where others may have written since that version; undefined where that is everywhere. */
  readonly spans?: readonly Span[] | undefined;
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
  /** Only others wrote after it; undefined where it is unknown. */
  readonly version: number | undefined;
  /** Whether the migration wrote rows itself. */
  readonly writes: boolean;
  /** Where others may have written since that version; undefined where that is everywhere. */
  readonly spans: readonly Span[] | undefined;
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
  /** Columns whose values they lose then. */
  readonly leaves: readonly string[];
  /** Whether they lose none, or that was consented to. */
  readonly isWhole: boolean;
}

export interface Questions {
  readonly rows: readonly Question[];
  readonly since: readonly SinceQuestion[];
}

/** All of a plan that takes migrations back. */
export function questionsOf({ now, migrations }: Pick<Plan, "now" | "migrations">): Questions {
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
          const asked = sinceOf(obstacle, place, own.slice(at - done), way, now, since, migrations.slice(0, index));
          if (asked !== undefined) since.push(asked);
          return [];
        }
        const asks = places.flatMap((database, skipped) => askAfter(obstacle, way.slice(skipped), database) ?? []);
        const about = aboutOf(obstacle, asks[0]);
        const spans =
          about.since == null
            ? undefined
            : spansSince(obstacle.table, about.since, migrations.slice(0, index), asks[0]?.version);
        return [{ place, asks, wasAsked: index === 0 && places.length > 1, ...about, spans }];
      });
    before.push(...own);
    // What is made on the way has no rows that anybody wrote.
    return questions.filter(({ asks, isRefused, allowed }) => asks.length > 0 || !(isRefused || allowed === noLimit));
  });
  return { rows, since };
}

/** Those of one action, on the tables right before it. `at`: how many actions of its migration come before it. */
export function questionsAt(planned: PlannedMigration, at: number, before: Tables): Questions {
  const now = new Map([...before].flatMap(([name, table]) => (table === undefined ? [] : [[name, table] as const])));
  const obstacles = planned.obstacles.filter((one) => one.at === at);
  const actions = planned.actions.slice(at - planned.done);
  return questionsOf({ now, migrations: [{ ...planned, done: at, midway: undefined, actions, obstacles }] });
}

/** What restoring a version would lose. `before`: the actions between the tables as they are and that. */
function sinceOf(
  { table: name, version, writes, leaves }: Extract<Blocker, { kind: "since" }>,
  place: StepPlace,
  [restoring, next]: readonly Action[],
  before: readonly Action[],
  now: Database,
  asked: readonly SinceQuestion[],
  newer: readonly PlannedMigration[],
): SinceQuestion | undefined {
  const table = askOf({ kind: "rows", table: name, own: 0 }, before, now)?.table;
  if (table === undefined || restoring?.kind !== "restoreTable") return undefined;
  const { version: restores, after, as } = restoring;
  // Rows that the way back changes itself can't be told from those of others.
  const isChanged = before.some(
    (action) =>
      changesRows(action) && action.kind !== "restoreTable" && action.kind !== "putBackRows" && action.table === name,
  );
  const until = asked.findLast((one) => one.table === table)?.restores;
  return {
    place,
    table,
    version: isChanged ? undefined : version,
    writes,
    spans: version === undefined ? undefined : spansSince(name, version, newer, until),
    restores,
    after,
    as,
    until,
    putsBack: next?.kind === "putBackRows" && next.columns !== undefined && !isChanged,
    leaves,
    isWhole: next?.kind === "putBackRows" && (next.leaves ?? []).length === 0,
  };
}

/**
 * The rollback where versions are restored only after these ones of their tables: a version that was restored before, or by
 * somebody else, may hold the very same.
 */
export function restoringAfter(planned: PlannedMigration, starts: TableVersions): PlannedMigration {
  const startOf = (table: string) => ownValue(starts, table)?.[0] ?? 0;
  const later = (action: Action): Action =>
    action.kind === "restoreTable" || action.kind === "putBackRows"
      ? { ...action, after: Math.max(action.after, startOf(action.table)) }
      : action;
  const restoring = (one: PlannedAction): PlannedAction => ({ ...one, action: later(one.action) });
  const { actions, found } = planned;
  return { ...planned, actions: actions.map(restoring), ...(found && { found: restoring(found) }) };
}

/** The plan where nobody has consented to put rows back that lose values by it. */
export function keepingValues(plan: Plan): Plan {
  return { ...plan, migrations: plan.migrations.map(keepingValuesOf) };
}

function keepingValuesOf(planned: PlannedMigration): PlannedMigration {
  const leavesOf = (table: string) =>
    planned.obstacles.flatMap(({ obstacle }) =>
      obstacle.kind === "since" && obstacle.table === table ? obstacle.leaves : [],
    );
  return {
    ...planned,
    actions: planned.actions.map((one) =>
      one.action.kind === "putBackRows"
        ? { ...one, action: { ...one.action, leaves: leavesOf(one.action.table) } }
        : one,
    ),
  };
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
    case "misfit":
      return {
        allowed: 0,
        words: (rows = 0) => `${are(rows, "does", "do")} not fit ${formatType(obstacle.to)}`,
        mayLose: false,
        isRefused: true,
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
