/** The questions that show in advance which actions of a plan would fail on the current rows. Pure. */
import { count } from "../../errors/migrate-error.ts";
import type { Action } from "../../actions/model/action.ts";
import { changesRows, givenTo, refAfter, rewrites, tablesOfAction } from "../../actions/apply-action.ts";
import type { Column, DataType } from "../../schema/data-type.ts";
import { formatPath, isWithin, parsePath, type Path } from "../../schema/path.ts";
import { isNull } from "../../actions/model/risk.ts";
import { specialStorage } from "../../schema/reserved-metadata.ts";
import { namesIn } from "../../schema/sql.ts";
import { columnPaths, columnsWithin, findColumn } from "../../schema/table.ts";
import { castSql, mayBeNull } from "../../wire/arrow/arrow-cast.ts";
import type { Capabilities } from "../../targets/contract/target.ts";
import { followValues, originOf } from "../../actions/follow.ts";
import type { ColumnRef } from "../../actions/model/action-model.ts";
import { kindOf } from "../rollback/blocker-kinds.ts";
import { askAfter, type Ask } from "./row-questions.ts";
import { mayHaveBegun } from "../history/progress.ts";
import type { Plan, PlannedAction } from "../make-plan.ts";
import { isGroup, type MigrationBatch } from "../group/group-migrations.ts";
import { brokenBy } from "./broken.ts";
import { trialChecks, type TrialChecks } from "./trials.ts";
import { bareBefore } from "../compile/vector-index-check.ts";

/** A question about the current tables. Its answer may be that an action will fail. */
export type FailureQuestion = {
  /** Uses the current names of the table and its columns. */
  readonly ask: Ask;
  /** Whether the query fails whenever the action would, because it computes the same values for the same rows. */
  readonly isSame?: boolean;
  /** If there are as many rows, more make no difference. */
  readonly most?: number | undefined;
  /** The problem and its solution for that number of rows; undefined if the action would succeed. */
  readonly problem: (rows: number) => string | undefined;
};

/** The questions about one action. */
export interface PreflightChecks extends TrialChecks {
  /** Why the engine fails later, whatever the rows are. */
  readonly broken?: string | undefined;
  readonly questions: readonly FailureQuestion[];
  /** Columns that become nullable, by their current names. No part of a primary key can be nullable. */
  readonly nullable: readonly { readonly table: string; readonly path: string }[];
  /** Columns that may no longer hold nulls, by their current names. */
  readonly strict: PreflightChecks["nullable"];
  /** Columns that are retyped, alone or in a part, or get a field, by their current names. The engine then stores them as any other. */
  readonly retyped: readonly {
    readonly table: string;
    readonly column: string;
    /** Whether it, or what is inside it now at this path, still has its values then. */
    readonly isStill: (path: Path) => boolean;
  }[];
}

/** The questions about the actions of `up`, except those on the table of an action that has begun. */
export function preflightChecks({ now, migrations }: Plan): ReadonlyMap<PlannedAction, PreflightChecks> {
  const found = new Map<PlannedAction, PreflightChecks>();
  const planned = migrations.flatMap((one) => one.actions.map((action) => ({ action, one })));
  const all = planned.map(({ action }) => action.action);
  const bare = bareBefore(all);
  const begun = planned.find(({ one }) => one.midway !== undefined)?.action;
  for (const [at, { action: own, one }] of planned.entries()) {
    if (one.direction !== "up" || (begun !== undefined && begun.action.table === own.action.table)) continue;
    const earlier = all.slice(0, at);
    const asking = { earlier, now, bare: bare[at]! };
    found.set(own, {
      questions: [...blockerQuestions(own, asking), ...nullQuestions(own, asking)],
      broken: brokenBy(own.action, asking),
      nullable: madeNullable(true, own.action, asking),
      strict: madeNullable(false, own.action, asking),
      retyped: retypedNow(own.action, asking),
      ...trialChecks(own, asking),
    });
  }
  return found;
}

/**
 * Whether the first call of a run itself shows what questions about its rows would: nothing is changed before it, and a
 * call that the engine refuses changes nothing.
 */
export function showsItself([first]: readonly MigrationBatch[], { fences }: Pick<Capabilities, "fences">): boolean {
  // A service may be of another make, and accept a null in a column that must hold none.
  if (!fences || first === undefined || isGroup(first)) return false;
  const { direction, restores, actions } = first;
  const isFresh = direction === "up" && !mayHaveBegun(first) && restores.length === 0;
  const [action] = actions;
  return isFresh && action?.commits.length === 1 && changesColumns.has(action.action.kind);
}

const changesColumns: ReadonlySet<Action["kind"]> = new Set(["addColumns", "alterColumns"]);

interface CheckInput {
  readonly earlier: readonly Action[];
  readonly now: Plan["now"];
  /** Of the action's table, before it. */
  readonly bare: readonly ColumnRef[];
}

/** Questions about the rows that make the action fail, according to its risks. */
function blockerQuestions({ risks }: PlannedAction, { earlier, now }: CheckInput): readonly FailureQuestion[] {
  return risks.flatMap(({ kind, blocker }): readonly FailureQuestion[] => {
    if (kind !== "failure" || blocker === undefined || blocker.kind === "since" || blocker.kind === "key") return [];
    const ask = askAfter(blocker, earlier, now);
    if (ask === undefined || isWrittenBefore(ask, earlier, blocker.kind === "vectors")) return [];
    const column = `${ask.table}.${ask.column!}`;
    const most = blocker.kind === "vectors" ? blocker.least : undefined;
    return [{ ask, most, problem: (rows) => kindOf(blocker).failure?.(blocker, column, rows) }];
  });
}

/** Questions about the values that an action gives to columns, and about nulls in columns that must hold none. */
function nullQuestions({ action, before }: PlannedAction, asking: CheckInput): readonly FailureQuestion[] {
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
        if (nullable !== false) return [];
        if (!asking.bare.some((one) => formatPath(one.path) === path)) return givenBefore({ table, path }, asking);
        const words = `${table}.${path} was added without values; give it values with \`as\`, or in a step before`;
        return allRows(table, words, asking);
      });
    case "refreshColumn": {
      const column = findColumn(columns, parsePath(action.path));
      return column?.computed === undefined ? [] : computed(table, column, asking);
    }
    default:
      return [];
  }
}

/** Asks whether the expression that gives a column its values in an earlier action is null in a row. */
function givenBefore({ table, path }: { readonly table: string; readonly path: string }, asking: CheckInput) {
  const { earlier } = asking;
  const at = { table, path: parsePath(path) };
  const last = earlier.findLastIndex((one) => givenTo(at, one) !== undefined);
  const giving = last === -1 ? undefined : givenTo(at, earlier[last]!);
  const isKept = earlier.slice(last + 1).every((one) => one.table !== table || keepsValues.has(one.kind));
  const isWhole = earlier[last]?.kind === "convertColumn" || earlier[last]?.kind === "addColumns";
  if (giving?.sql === undefined || formatPath(giving.path) !== path || !isKept || !isWhole) return [];
  return given({ table, path, as: giving.sql, isStrict: true }, { ...asking, earlier: earlier.slice(0, last) });
}

/** Asks whether a refresh can compute its values. */
function computed(table: string, column: Column, { earlier, now }: CheckInput): readonly FailureQuestion[] {
  const touching = earlier.filter((one) => tablesOfAction(one).includes(table));
  const read = new Set(namesIn(column.computed!).map((name) => name.toLowerCase()));
  const isSame = touching.every(
    (one) => one.kind === "addColumns" && !one.columns.some(({ name }) => read.has(name.toLowerCase())),
  );
  if (!now.has(table) || !isSame) return [];
  const predicate = `${computedValue(column.computed!, column.type)} IS NULL`;
  return [{ ask: { table, predicate }, problem: () => undefined, isSame }];
}

interface Given {
  readonly table: string;
  readonly path: string;
  /** The expression. */
  readonly as: string;
  /** The type that it is cast to, in every row. Absent for an update, whose expression applies to some rows only. */
  readonly type?: DataType;
  readonly where?: string;
  /** Whether the column is not null. */
  readonly isStrict: boolean;
}

function given({ table, path, as, type, where, isStrict }: Given, asking: CheckInput): readonly FailureQuestion[] {
  const place = `${table}.${path}`;
  if (isStrict && isNull(as) && (where ?? "true") === "true")
    return allRows(table, `${place} is not null, and null is given to it; give it another value`, asking);
  const touching = asking.earlier.filter((one) => tablesOfAction(one).includes(table));
  if (!asking.now.has(table) || !touching.every(({ kind }) => keepsValues.has(kind))) return [];
  const value = type === undefined ? `(${as})` : computedValue(as, type);
  const predicate = `${where === undefined ? "" : `(${where}) AND `}${value} IS NULL`;
  const problem = (rows: number) =>
    isStrict && rows > 0
      ? `${place} is not null, and ${as} is null in ${count(rows, "row")} now; change these rows or the expression`
      : undefined;
  const isSame = type !== undefined && touching.length === 0;
  return [{ ask: { table, predicate }, problem, isSame }];
}

/** The value as a column of that type. The engine must compute it to know whether it is null. */
function computedValue(as: string, type: DataType): string {
  return mayBeNull(castSql(`(${as})`, type), type);
}

/** After actions of these kinds, an expression reads the same values of existing columns as now. */
const keepsValues: ReadonlySet<Action["kind"]> = new Set([
  "addColumns",
  "addField",
  "createIndex",
  "dropIndex",
  "optimizeTable",
  "rebuildIndex",
  "setMetadata",
]);

/** Asks whether the table has rows, which is a problem. */
function allRows(table: string, words: string, { earlier, now }: CheckInput): readonly FailureQuestion[] {
  const ask = askAfter({ kind: "rows", table, own: 0 }, earlier, now);
  if (ask === undefined || isWrittenBefore(ask, earlier, false)) return [];
  return [{ ask, problem: (rows) => (rows === 0 ? undefined : `${words}: ${table} has ${count(rows, "row")} now`) }];
}

/** Whether earlier actions may change the answer, which is then unknown. `isMore`: inserted rows change it too. */
export function isWrittenBefore({ table, column }: Ask, earlier: readonly Action[], isMore: boolean): boolean {
  let at: ColumnRef = { table, path: column === undefined ? [] : parsePath(column) };
  for (const action of earlier) {
    if (action.table === at.table && changesRows(action) && mayChange(action, at.path, isMore)) return true;
    const next = refAfter(at, action);
    if (next === undefined) return true;
    at = next;
  }
  return false;
}

function mayChange(action: Action, path: Path, isMore: boolean): boolean {
  switch (action.kind) {
    case "createIndex":
    case "optimizeTable":
    case "rebuildIndex":
      return false;
    case "insertRows":
      return isMore;
    case "updateRows":
      return Object.keys(action.set).some((one) => parsePath(one)[0] === path[0]);
    default:
      return true;
  }
}

/** The columns that become nullable, or not null, by their current names. */
function madeNullable(wanted: boolean, action: Action, { earlier, now }: CheckInput): PreflightChecks["nullable"] {
  if (action.kind !== "alterColumns") return [];
  return action.alterations.flatMap(({ path, nullable }) => {
    if (nullable !== wanted) return [];
    const from = originOf({ table: action.table, path: parsePath(path) }, earlier, now);
    return from === undefined ? [] : [{ table: from.table, path: formatPath(from.path) }];
  });
}

function retypedNow(action: Action, { earlier, now }: CheckInput): PreflightChecks["retyped"] {
  if (action.kind !== "alterColumns" && action.kind !== "addField") return [];
  return [...rewrites(action)].flatMap((name) => {
    const from = originOf({ table: action.table, path: [name] }, earlier, now);
    if (from === undefined) return [];
    const isStill = (path: Path) => followValues({ table: from.table, path }, earlier) !== undefined;
    return [{ table: from.table, column: from.path[0]!, isStill }];
  });
}

/** The column, or the field inside it, that the engine stores otherwise than its type, and how. */
export function specialIn(
  { column: name, isStill }: PreflightChecks["retyped"][number],
  columns: readonly Column[],
): { readonly path: string; readonly storage: string } | undefined {
  for (const { path, column } of columnsWithin(columns.filter((one) => one.name === name))) {
    const storage = specialStorage(column.metadata);
    if (storage !== undefined && isStill(path)) return { path: formatPath(path), storage };
  }
  return undefined;
}

/** Whether the column, or a field inside it, is part of a primary key of the engine, which holds no nulls. */
export function isInKey(path: string, columns: readonly Column[]): boolean {
  return columnPaths(columns).some(
    (one) =>
      isWithin(one, parsePath(path)) &&
      Object.keys(findColumn(columns, one)?.metadata ?? {}).some((key) =>
        key.startsWith("lance-schema:unenforced-primary-key"),
      ),
  );
}
