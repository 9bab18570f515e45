/** What is known, before anything is changed, to make an action of a plan fail on the rows that exist now. Pure. */
import { count } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { changesRows, tablesOfAction } from "../../actions/apply-action.ts";
import { formatType, type Column, type DataType } from "../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../schema/path.ts";
import { isNull } from "../../actions/model/risk.ts";
import { namesIn } from "../../schema/sql.ts";
import { columnPaths, findColumn } from "../../schema/table.ts";
import { sqlOf } from "../../wire/arrow/arrow-cast.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import { placeAfter, restOf } from "../compile/track-column.ts";
import { askAfter, type Ask } from "./row-questions.ts";
import type { Plan, PlannedAction } from "../make-plan.ts";
import { trialsOf, type Trials } from "./trials.ts";
import { bareBefore, emptyFor, vectorsProblem, type Bare } from "../compile/vector-index-check.ts";

/** A question about the tables as they are now, whose answer may be that an action will fail. */
export type FailureQuestion = {
  /** Of the table as it is called now. */
  readonly ask: Ask;
  /** Whether the query itself fails where the action would: it works out the same values for the same rows. */
  readonly isSame?: boolean;
  /** The problem and the way out, with that many rows; undefined where the action works. */
  readonly problem: (rows: number) => string | undefined;
};

/** What is asked of each action. */
export interface Suspicion extends Trials {
  /** The table's schema alone tells, as the plan leaves it. */
  readonly certain?: string | undefined;
  readonly questions: readonly FailureQuestion[];
  /** Columns that are given nulls, which a primary key never holds: as they are called now. */
  readonly nullable: readonly { readonly table: string; readonly path: string }[];
}

/** Of all actions that apply migrations, but those of which part has run already. */
export function suspicionsOf({ now, migrations }: Plan): ReadonlyMap<PlannedAction, Suspicion> {
  const found = new Map<PlannedAction, Suspicion>();
  const planned = migrations.flatMap((one, at) =>
    one.actions.map((action) => ({ action, one, before: migrations[at - 1] })),
  );
  const all = planned.map(({ action }) => action.action);
  const bare = bareBefore(all);
  const begun = planned.find(({ one }) => one.midway !== undefined)?.action;
  for (const [at, { action: own, one, before }] of planned.entries()) {
    if (one.direction !== "up" || (begun !== undefined && begun.action.table === own.action.table)) continue;
    const earlier = all.slice(0, at);
    const asking = { earlier, now, bare: bare[at]! };
    const empty = emptyFor(own.action, bare[at]!);
    found.set(own, {
      certain:
        empty === undefined
          ? undefined
          : vectorsProblem(
              empty,
              before === undefined
                ? "create it in a later migration, once there are rows"
                : `apply what comes before with migrate up --to ${before.migration.version}, and ${formatMigration(one.migration)} once there are rows`,
            ),
      questions: [...obstacleQuestions(own, asking), ...nullQuestions(own, asking)],
      nullable: nullableNow(own.action, asking),
      ...trialsOf(own, asking),
    });
  }
  return found;
}

interface Asking {
  readonly earlier: readonly Action[];
  readonly now: Plan["now"];
  readonly bare: readonly Bare[];
}

/** The rows that the action's own risks of failure are about. */
function obstacleQuestions({ risks }: PlannedAction, { earlier, now }: Asking): readonly FailureQuestion[] {
  return risks.flatMap(({ kind, obstacle }): readonly FailureQuestion[] => {
    if (kind !== "failure" || obstacle === undefined || obstacle.kind === "since") return [];
    const ask = askAfter(obstacle, earlier, now);
    if (ask === undefined || isWrittenBefore(ask, earlier, obstacle.kind === "vectors")) return [];
    const place = `${ask.table}.${ask.column!}`;
    switch (obstacle.kind) {
      case "null":
        return [{ ask, problem: (rows) => (rows === 0 ? undefined : nullsProblem(place, rows)) }];
      case "misfit": {
        const to = formatType(obstacle.to);
        const words = (rows: number) =>
          `${count(rows, "row")} of ${place} can't become ${to} now; change them in a step before, or in the application`;
        return [{ ask, problem: (rows) => (rows === 0 ? undefined : words(rows)) }];
      }
      case "vectors":
        return [
          {
            ask,
            problem: (rows) => (rows >= obstacle.least ? undefined : vectorsMissing(place, rows, obstacle.least)),
          },
        ];
      default:
        return [];
    }
  });
}

function nullsProblem(place: string, rows: number): string {
  return `${place} is null in ${count(rows, "row")} now; fill them in a step before, or in the application`;
}

function vectorsMissing(place: string, rows: number, least: number): string {
  return `${place} has ${count(rows, "vector")} now, and this index is made of ${least} at least; apply this migration once there are as many`;
}

/** Values that a step gives to columns, and nulls where a column holds none. */
function nullQuestions({ action, before }: PlannedAction, asking: Asking): readonly FailureQuestion[] {
  const { table } = action;
  const columns = before.get(table)?.columns ?? [];
  const isStrict = (path: string) => findColumn(columns, parsePath(path))?.nullable === false;
  switch (action.kind) {
    case "addColumns":
      return action.columns.flatMap(({ name, type, nullable, as }) =>
        as === undefined ? [] : given({ table, path: name, as, type, isStrict: !nullable }, asking),
      );
    case "convertColumn": {
      const { path, type, using } = action;
      return given({ table, path, as: using, type, isStrict: isStrict(path) }, asking);
    }
    case "updateRows":
      return Object.entries(action.set).flatMap(([path, as]) =>
        isStrict(path) ? given({ table, path, as, where: action.where ?? "true", isStrict: true }, asking) : [],
      );
    case "alterColumns":
      return action.alterations.flatMap(({ path, nullable }) => {
        const isBare = asking.bare.some((one) => one.table === table && formatPath(one.path) === path);
        const words = `${table}.${path} was added without values; give it values with \`as\`, or in a step before`;
        return nullable === false && isBare ? allRows(table, words, asking) : [];
      });
    case "refreshColumn": {
      const column = findColumn(columns, parsePath(action.path));
      return column?.computed === undefined ? [] : computed(table, column, asking);
    }
    default:
      return [];
  }
}

/** The values that a refresh computes. */
function computed(table: string, column: Column, { earlier, now }: Asking): readonly FailureQuestion[] {
  const touching = earlier.filter((one) => tablesOfAction(one).includes(table));
  const read = new Set(namesIn(column.computed!).map((name) => name.toLowerCase()));
  const isSame = touching.every(
    (one) => one.kind === "addColumns" && !one.columns.some(({ name }) => read.has(name.toLowerCase())),
  );
  if (!now.has(table) || !isSame) return [];
  const predicate = `${sqlOf({ ...column, as: column.computed })} IS NULL`;
  return [{ ask: { table, predicate }, problem: () => undefined, isSame }];
}

interface Given {
  readonly table: string;
  readonly path: string;
  /** The expression. */
  readonly as: string;
  /** What it is cast to, in every row of the table; absent of an update, whose expression is for some rows only. */
  readonly type?: DataType;
  readonly where?: string;
  /** Whether the column holds no nulls. */
  readonly isStrict: boolean;
}

function given({ table, path, as, type, where, isStrict }: Given, asking: Asking): readonly FailureQuestion[] {
  const place = `${table}.${path}`;
  if (isStrict && isNull(as) && (where ?? "true") === "true")
    return allRows(table, `${place} is not null, and null is given to it; give it another value`, asking);
  const touching = asking.earlier.filter((one) => tablesOfAction(one).includes(table));
  if (!asking.now.has(table) || !touching.every(({ kind }) => keepsValues.has(kind))) return [];
  const value = type === undefined ? `(${as})` : sqlOf({ name: path, type, nullable: true, as });
  const predicate = `${where === undefined ? "" : `(${where}) AND `}${value} IS NULL`;
  const problem = (rows: number) =>
    isStrict && rows > 0
      ? `${place} is not null, and ${as} is null in ${count(rows, "row")} now; change these rows or the expression`
      : undefined;
  const isSame = type !== undefined && touching.length === 0;
  return [{ ask: { table, predicate }, problem, isSame }];
}

/** After these, what an expression reads of existing columns is what it reads now. */
const keepsValues: ReadonlySet<Action["kind"]> = new Set([
  "addColumns",
  "addField",
  "createIndex",
  "dropIndex",
  "setMetadata",
]);

/** A problem wherever the table has rows. */
function allRows(table: string, words: string, { earlier, now }: Asking): readonly FailureQuestion[] {
  const ask = askAfter({ kind: "rows", table, own: 0 }, earlier, now);
  if (ask === undefined || isWrittenBefore(ask, earlier, false)) return [];
  return [{ ask, problem: (rows) => (rows === 0 ? undefined : `${words}: ${table} has ${count(rows, "row")} now`) }];
}

/** Whether steps before may change what is asked, so that it is unknown. `isMore`: rows that are added count too. */
function isWrittenBefore({ table, column }: Ask, earlier: readonly Action[], isMore: boolean): boolean {
  let at = { table, path: column === undefined ? [] : parsePath(column) };
  for (const action of earlier) {
    if (action.table === at.table && changesRows(action) && mayChange(action, at.path, isMore)) return true;
    const next = placeAfter(at, action);
    if (next === undefined) return true;
    at = next;
  }
  return false;
}

function mayChange(action: Action, path: Path, isMore: boolean): boolean {
  switch (action.kind) {
    case "insertRows":
      return isMore;
    case "updateRows":
      return Object.keys(action.set).some((one) => parsePath(one)[0] === path[0]);
    default:
      return true;
  }
}

/** Columns that are let hold nulls, as they are called now. */
function nullableNow(action: Action, { earlier, now }: Asking): Suspicion["nullable"] {
  if (action.kind !== "alterColumns") return [];
  const wanted = action.alterations.filter(({ nullable }) => nullable === true).map(({ path }) => parsePath(path));
  return [...now].flatMap(([table, { columns }]) =>
    columnPaths(columns).flatMap((path) => {
      const there = earlier.reduce<{ table: string; path: Path } | undefined>((at, one) => at && placeAfter(at, one), {
        table,
        path,
      });
      const isWanted =
        there?.table === action.table && wanted.some((one) => formatPath(one) === formatPath(there.path));
      return isWanted ? [{ table, path: formatPath(path) }] : [];
    }),
  );
}

/** Whether one of these columns, or what is inside it, is a primary key of the engine, none of whose parts can be null. */
export function isInKey(path: string, columns: readonly Column[]): boolean {
  return columnPaths(columns).some(
    (one) =>
      restOf(one, parsePath(path)) !== undefined &&
      Object.keys(findColumn(columns, one)?.metadata ?? {}).some((key) =>
        key.startsWith("lance-schema:unenforced-primary-key"),
      ),
  );
}
