/** Judges whether the plan's promises about rollbacks were kept when the rollbacks were tried. Pure. */
import type { Action } from "../../actions/model/action.ts";
import { describeAction, givenBy, tablesOfAction } from "../../actions/apply-action.ts";
import { isChanging } from "../../schema/sql.ts";
import { andNoMore, differences } from "../../schema/table.ts";
import type { PlannedAction, PlannedMigration } from "../../plan/make-plan.ts";
import type { RollbackClass } from "../../plan/rollback/rollback-classes.ts";
import { sameRows, type CopySnapshot, type CopySnapshots } from "../shared/scratch-snapshots.ts";

/** How the trial of a migration's rollback ended. */
export type Trial =
  | { readonly kind: "untried"; readonly reason: string | undefined }
  /** `after`: the tables before the refused rollback; `left`: the tables after it. */
  | { readonly kind: "refused"; readonly problem: string; readonly after: CopySnapshots; readonly left: CopySnapshots }
  | { readonly kind: "failed"; readonly problem: string }
  /** `again`: the tables after the migration was applied once more, or why that failed. */
  | {
      readonly kind: "back";
      readonly before: CopySnapshots;
      readonly after: CopySnapshots;
      readonly back: CopySnapshots;
      readonly again: CopySnapshots | string;
    };

/**
 * - `kept`: the promise was kept.
 * - `refused`: rows blocked the rollback, as its class allows, and nothing was changed.
 * - `broken`: the promise was not kept.
 * - `untried`: nothing was promised, or another step of the migration could not be rolled back.
 */
export type RollbackVerdict = "kept" | "refused" | "broken" | "untried";

export interface Judged {
  /** Undefined if the file exports its own `down`, which promises the columns and nothing about rows. */
  readonly class: RollbackClass | undefined;
  readonly verdict: RollbackVerdict;
  readonly reason: string | undefined;
}

/** Whether all of a migration can be rolled back, so that the rollback is tried. */
export function isToTry({ actions, writtenDown }: PlannedMigration): boolean {
  return writtenDown !== undefined || actions.every(({ rollback }) => rollback?.class !== "none");
}

/** The verdicts on a migration's actions, in their order. */
export function judge({ actions, writtenDown }: PlannedMigration, trial: Trial): readonly Judged[] {
  const about = {
    isVolatile: actions.some(({ action }) => expressionsOf(action).some(isChanging)),
    isRefreshed: actions.some(({ action }) => action.kind === "refreshColumn"),
    mayBeRefused: actions.some(({ rollback }) => rollback?.class === "checked"),
  };
  return actions.map((action) => {
    const is = writtenDown === undefined ? action.rollback?.class : undefined;
    return { class: is, ...verdictOn(action, is, trial, about) };
  });
}

function expressionsOf(action: Action): readonly string[] {
  const where = action.kind === "updateRows" || action.kind === "deleteRows" ? action.where : undefined;
  return [...givenBy(action).map(({ sql }) => sql), where].filter((sql) => sql !== undefined);
}

function verdictOn(
  { action, rollback }: PlannedAction,
  is: RollbackClass | undefined,
  trial: Trial,
  { isVolatile, isRefreshed, mayBeRefused }: Readonly<Record<"isVolatile" | "isRefreshed" | "mayBeRefused", boolean>>,
): Omit<Judged, "class"> {
  const own = tablesOfAction(action);
  switch (trial.kind) {
    case "untried": {
      const none = is === "none" ? rollback?.reason : "another step of its migration can't be rolled back";
      return { verdict: "untried", reason: trial.reason ?? none };
    }
    case "failed":
      return { verdict: "broken", reason: trial.problem };
    case "refused": {
      const changed = changesOf(trial.after, trial.left);
      if (changed.length > 0) return { verdict: "broken", reason: `it was refused, but it changed: ${words(changed)}` };
      if (is === "checked" || is === undefined) return { verdict: "refused", reason: trial.problem };
      if (mayBeRefused) return { verdict: "untried", reason: "a step of its migration was refused" };
      return { verdict: "broken", reason: `it was refused: ${trial.problem}` };
    }
    case "back": {
      const { before, after, back, again } = trial;
      const isOwn = ({ table }: TableChange) => own.includes(table);
      const wrong = changesOf(before, back).filter(isOwn);
      // A refresh computes its values from other columns, so no values are promised.
      const lost = wrong.filter(({ rows }) => !rows || (is !== undefined && !isRefreshed));
      if (lost.length > 0) return { verdict: "broken", reason: `after down ${words(lost)}` };
      if (typeof again === "string") return { verdict: "broken", reason: `up did not go a second time: ${again}` };
      const other = changesOf(after, again).filter(isOwn);
      const mayDiffer = isVolatile || wrong.length > 0;
      const odd = other.filter(({ rows }) => !rows || !mayDiffer);
      if (odd.length > 0) return { verdict: "broken", reason: `after a second up ${words(odd)}` };
      const notes = [
        ...(wrong.length > 0 ? [`after down ${words(wrong)}, of which its file promises nothing`] : []),
        ...(other.length > 0 && wrong.length === 0 ? ["an expression gives other values each time"] : []),
        ...own.filter((table) => isUnread(before.get(table))).map((table) => `values of ${table} were not compared`),
      ];
      return { verdict: "kept", reason: notes.length === 0 ? undefined : notes.join(", ") };
    }
  }
}

/** Whether only the number of rows is known. */
function isUnread(seen: CopySnapshot | undefined): boolean {
  return seen !== undefined && seen.rows.sum === undefined && seen.rows.count > 0;
}

interface TableChange {
  readonly table: string;
  /** Whether only rows changed; false if columns did. */
  readonly rows: boolean;
  readonly words: string;
}

function changesOf(expected: CopySnapshots, found: CopySnapshots): readonly TableChange[] {
  return [...expected].flatMap(([table, { table: should, rows }]): readonly TableChange[] => {
    const other = found.get(table);
    const columns = differences(andNoMore(should, other?.table), other?.table);
    if (columns.length > 0) return [{ table, rows: false, words: `${table}: ${columns.join(", ")}` }];
    if (other === undefined || sameRows({ rows }, other)) return [];
    const what =
      rows.count === other.rows.count
        ? `rows of ${table} hold other values`
        : `${table} has ${other.rows.count} rows instead of ${rows.count}`;
    return [{ table, rows: true, words: what }];
  });
}

function words(changes: readonly TableChange[]): string {
  return changes.map((change) => change.words).join("; ");
}

/** An action that ran, as text, and its duration in milliseconds. */
export interface Timed {
  readonly text: string;
  readonly duration: number;
}

/**
 * The time of each of these groups of actions, given as text. Undefined for planned actions that the copy executes as
 * one, such as a swap of names.
 */
export function timesOf(
  groups: readonly (readonly string[])[],
  ran: readonly Timed[],
): readonly (number | undefined)[] {
  const left = [...ran];
  return groups.map((texts) => {
    const times = texts.flatMap((text) => {
      const at = left.findIndex((one) => one.text === text);
      return at === -1 ? [] : left.splice(at, 1).map(({ duration }) => duration);
    });
    return times.length === 0 ? undefined : times.reduce((sum, time) => sum + time, 0);
  });
}

/**
 * The actions that roll an action back on the copy, as text. Restoring a version of a table rolls back all of its
 * actions. `before`: the copy before the migration.
 */
export function rollbackTexts({ rollback }: PlannedAction, before: CopySnapshots): readonly string[] {
  const table = rollback?.restores;
  if (table === undefined) return (rollback?.actions ?? []).map(describeAction);
  const { version = 0, table: as = { columns: [] } } = before.get(table) ?? {};
  return [describeAction({ kind: "restoreTable", table, version, as, after: version, isSilent: false })];
}
