/** The questions about the current tables that a rollback needs answered before it changes anything. Pure. */
import type { StepPlace } from "../../errors/migrate-error.ts";
import type { Action, PutBackRowsAction } from "../../actions/model/action.ts";
import { changesRows } from "../../actions/apply-action.ts";
import { tableBefore } from "../../actions/follow.ts";
import type { TableVersions } from "../../ledger/state/record.ts";
import { ownValue } from "../../schema/data-type.ts";
import { change, databaseOf, type Database, type Table, type Tables } from "../../schema/table.ts";
import type { Blocker } from "../../actions/model/inverse.ts";
import { kindOf, type RowLimit } from "../rollback/blocker-kinds.ts";
import { emptyColumns } from "../rollback/reinsert-rows.ts";
import { askAfter, type Ask, type RowsBlocker } from "./row-questions.ts";
import type { Plan, PlannedAction, PlannedMigration } from "../make-plan.ts";
import { spansSince, type VersionSpan } from "./version-spans.ts";

export interface Question extends RowLimit {
  readonly place: StepPlace;
  /** How many migrations are rolled back before this one. */
  readonly newer: number;
  /**
   * Alternative queries: two if a column may have its old or its new name, none if the question cannot be asked. If
   * none can be answered and `wasAsked` is true, the question is skipped.
   */
  readonly asks: readonly Ask[];
  /** The spans in which others may have written since the version `since`; undefined for all versions since. */
  readonly spans?: readonly VersionSpan[] | undefined;
  readonly wasAsked: boolean;
}

/** Asks what was written to a table after a version and would be lost by a restore. */
export interface SinceQuestion {
  readonly place: StepPlace;
  /** The table's current name. */
  readonly table: string;
  /** The version after which only others wrote; undefined if unknown. */
  readonly version: number | undefined;
  /** Whether the migration itself wrote rows. */
  readonly writes: boolean;
  /** How many migrations are rolled back before this one. */
  readonly newer: number;
  /** The spans in which others may have written since `version`; undefined for all versions since. */
  readonly spans: readonly VersionSpan[] | undefined;
  /** The version to restore: `version` or an older one. */
  readonly restores: number;
  /** A newer version. A restore counts as done only if it was made after this version. */
  readonly after: number;
  /** The schema that the table must have in the version to restore. */
  readonly as: Table;
  /** The version that an earlier action of the rollback has restored at that point; undefined if none has. */
  readonly until: number | undefined;
  /** How added rows are reinserted; undefined if they can't be. */
  readonly reinsertion: PutBackRowsAction | undefined;
  /** The columns whose values these rows then lose. */
  readonly leaves: readonly string[];
  /** The columns that are null in these rows then. */
  readonly empty: readonly string[];
  /** Whether these rows lose no values, or there is consent to lose them. */
  readonly isWhole: boolean;
}

export interface Questions {
  readonly rows: readonly Question[];
  readonly since: readonly SinceQuestion[];
}

/** All questions of a rollback plan. */
export function questionsOf({ now, migrations }: Pick<Plan, "now" | "migrations">): Questions {
  const places = placesNow(now, migrations);
  const before: Action[] = [];
  const since: SinceQuestion[] = [];
  const rows = migrations.flatMap(({ actions, blockers, done, midway }, index) => {
    const own = actions.map(({ action }) => action);
    // The blockers of a partly executed action were checked before it began.
    const first = midway === undefined ? done : done + 1;
    const questions = blockers
      .filter(({ at }) => at >= first)
      .flatMap(({ place, blocker, at }): readonly Question[] => {
        const way = [...before, ...own.slice(0, at - done)];
        if (blocker.kind === "since") {
          const asked = sinceQuestion(
            blocker,
            place,
            own.slice(at - done),
            way,
            now,
            since,
            migrations.slice(0, index),
          );
          if (asked !== undefined) since.push(asked);
          return [];
        }
        const asks = places.flatMap((database, skipped) => askAfter(blocker, way.slice(skipped), database) ?? []);
        const limit = limitNow(blocker, asks[0]);
        const spans =
          limit.since == null
            ? undefined
            : spansSince(blocker.table, limit.since, migrations.slice(0, index), asks[0]?.version);
        return [{ place, newer: index, asks, wasAsked: index === 0 && places.length > 1, ...limit, spans }];
      });
    before.push(...own);
    // A question without a query is dropped if nothing can be lost: the rollback itself creates the table, so that it
    // has no rows of others, or the target refuses the action.
    return questions.filter(({ asks, isRefused, allowed }) => asks.length > 0 || !(isRefused || allowed === Infinity));
  });
  return { rows, since };
}

function limitNow(blocker: RowsBlocker, ask: Ask | undefined): RowLimit {
  const table = ask?.table ?? blocker.table;
  const path = ask?.column ?? ("path" in blocker ? blocker.path : "");
  return kindOf(blocker).limit!(blocker, { table, column: `${table}.${path}`, isAsked: ask !== undefined });
}

/** The questions of one action, on the tables right before it. `at`: how many actions of its migration precede it. */
export function questionsAt(planned: PlannedMigration, at: number, before: Tables): Questions {
  const blockers = planned.blockers.filter((one) => one.at === at);
  const actions = planned.actions.slice(at - planned.done);
  return questionsOf({
    now: databaseOf(before),
    migrations: [{ ...planned, done: at, midway: undefined, actions, blockers }],
  });
}

/** Asks what restoring a version would lose. `before`: the actions between the current tables and the restore. */
function sinceQuestion(
  { table: name, version, writes, leaves }: Extract<Blocker, { kind: "since" }>,
  place: StepPlace,
  [restoring, next]: readonly Action[],
  before: readonly Action[],
  now: Database,
  asked: readonly SinceQuestion[],
  newer: readonly PlannedMigration[],
): SinceQuestion | undefined {
  const table = tableBefore(name, before, now);
  if (table === undefined || restoring?.kind !== "restoreTable") return undefined;
  const { version: restores, after, as } = restoring;
  // Rows that the rollback itself changes cannot be distinguished from those of others.
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
    newer: newer.length,
    spans: version === undefined ? undefined : spansSince(name, version, newer, until),
    restores,
    after,
    as,
    until,
    reinsertion: next?.kind === "putBackRows" && next.columns !== undefined && !isChanged ? next : undefined,
    leaves,
    empty: next?.kind === "putBackRows" && next.columns !== undefined ? emptyColumns(as, next.columns) : [],
    isWhole: next?.kind === "putBackRows" && (next.leaves ?? []).length === 0,
  };
}

/**
 * The rollback, where a restore counts as done only after these table versions. An older version may have the same
 * content, because it was restored earlier or by another program.
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

/** The key of a table whose version is restored. */
export function reinsertKey(table: string, version: number): string {
  return `${table} ${version}`;
}

/** The plan without consent to reinsert rows that lose values. */
export function keepingValues(plan: Plan): Plan {
  return { ...plan, migrations: plan.migrations.map(keepingValuesOf) };
}

function keepingValuesOf(planned: PlannedMigration): PlannedMigration {
  const leavesOf = (table: string) =>
    planned.blockers.flatMap(({ blocker }) =>
      blocker.kind === "since" && blocker.table === table ? blocker.leaves : [],
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

/** The possible states of the tables: an action of several commits may have renamed columns already. */
function placesNow(now: Database, [first]: readonly PlannedMigration[]): readonly Database[] {
  const begun = first?.midway === undefined ? undefined : first.actions[0];
  if (begun === undefined) return [now];
  const after = new Map(now);
  change(after, begun.after);
  return [now, after];
}
