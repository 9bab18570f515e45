/**
 * Detects writes of others that arrive while `down` runs. The plan asks for such writes before anything is changed.
 * This file asks again right before each action that destroys something, and right after it about the version that the
 * action replaced.
 */
import { MigrateError } from "../../errors/migrate-error.ts";
import { questionsAt, type Question, type SinceQuestion } from "../../plan/assess/blocking-rows.ts";
import type { PlannedAction, PlannedMigration } from "../../plan/make-plan.ts";
import type { VersionSpan } from "../../plan/assess/version-spans.ts";
import type { Tables } from "../../schema/table.ts";
import type { Target } from "../../targets/contract/target.ts";
import { mostRepeats } from "../../targets/contract/retry.ts";
import type { ActionContext, Done, ActionResult } from "./send-action.ts";
import { isTooMany, countBlockingRows, misfitOf } from "../check/find-blocking-rows.ts";
import { commitThatLeft, rowsWrittenIn } from "../check/foreign-changes.ts";

/** A table's version before an action, after the check that the action may destroy it. */
export interface Watch {
  readonly version: number | undefined;
  readonly rows: readonly Question[];
}

/** `lost`: what others had written that the action has destroyed. */
export type Guarded = ActionResult & { readonly lost?: unknown };

/** A span in which others wrote. `from`: undefined if the plan has not seen the table. */
type OpenSpan = Pick<VersionSpan, "until"> & { readonly from: number | undefined };

export interface WriteGuard {
  /** Undefined if the action destroys nothing. Throws ERR_ROLLBACK_STOPPED. */
  before(planned: PlannedMigration, action: PlannedAction, at: number): Promise<Watch | undefined>;
  /** Throws ERR_WRITES_LOST, ERR_WRITES_UNKNOWN. */
  after(watch: Watch | undefined, action: PlannedAction, ending: Done): Promise<void>;
}

/** Runs the action. `inDoubt`: whether an earlier call of it may still take effect. */
export type GuardedRun = (mayAct: ActionContext["mayAct"], inDoubt: boolean) => Promise<ActionResult>;

/**
 * Runs the action, unless what it destroys has changed since the check: then checks again. After the last check the
 * call is sent anyway, except a drop of a table.
 */
export async function executeGuarded(
  run: GuardedRun,
  planned: PlannedMigration,
  action: PlannedAction,
  at: number,
  writeGuard: WriteGuard,
): Promise<Guarded> {
  // A call without an answer may still take effect.
  let inDoubt = false;
  for (let looks = 1; ; looks++) {
    const isLast = looks === mostRepeats && action.action.kind !== "dropTable";
    let watch: Watch | undefined;
    try {
      watch = await writeGuard.before(planned, action, at);
    } catch (error) {
      return { error, inDoubt: inDoubt || (planned.inDoubt && at === planned.done) };
    }
    const mayAct =
      watch === undefined || isLast ? undefined : (_: unknown, version?: number) => version === watch.version;
    const ending = await run(mayAct, inDoubt);
    if ("error" in ending && ending.isUnsent === true) {
      inDoubt = ending.inDoubt;
      if (looks < mostRepeats) continue;
      const problems = [`others wrote to ${action.action.table} after each of ${looks} checks`];
      return { error: new MigrateError("ERR_ROLLBACK_STOPPED", { ...action.place, problems }), inDoubt };
    }
    if ("error" in ending) return ending;
    try {
      await writeGuard.after(watch, action, ending);
    } catch (lost) {
      return { ...ending, lost };
    }
    return ending;
  }
}

/** `seen`: each table's version before the plan asked its questions. */
export function writeGuard(target: Target, seen: Readonly<Record<string, number | null>>): WriteGuard {
  // Every write up to this version of a table was asked for, is in `others`, or was made by this run.
  const known = new Map(Object.entries(seen));
  // When others wrote to a table since the plan asked: each later action must ask about all of it.
  const others = new Map<string, readonly OpenSpan[]>();
  // The plan asked whether rows can be reinserted for this migration only: the columns were others for the next ones.
  let first: number | undefined;
  return {
    async before(planned, { action, before, place }, at) {
      const { table } = action;
      const { rows, since } = questionsAt(planned, at, before);
      if (rows.length + since.length === 0) return undefined;
      const version = (await target.describeTable(table))?.version;
      const last = known.get(table) ?? undefined;
      if (version === undefined || version !== last) {
        // Without versions, each look asks about everything again.
        const earlier = version === undefined ? [] : (others.get(table) ?? []);
        others.set(table, [...earlier, { from: last, until: version }]);
      }
      const spans = others.get(table);
      first ??= planned.migration.version;
      const problems = planned.migration.version === first ? [] : await misfits(since, target);
      if (spans !== undefined) {
        const written = [...(await tooMany(rows, target)), ...(await lostSince(since, spans, target))];
        if (written.length > 0) problems.push("others wrote while migrate down ran", ...written);
      }
      if (problems.length > 0) throw new MigrateError("ERR_ROLLBACK_STOPPED", { ...place, problems });
      if (version !== undefined) known.set(table, version);
      return { version, rows };
    },
    async after(watch, planned, ending) {
      const { table } = planned.action;
      const before = watch?.version ?? ending.versionBefore?.version;
      const after = ending.versionAfter?.version;
      const isAlone =
        before !== undefined && after !== undefined && (after === before || after === before + (ending.commits ?? 1));
      if (isAlone && known.get(table) === before) known.set(table, after);
      // A table that was dropped has no versions left to ask about.
      if (isAlone || watch?.version === undefined || watch.rows.length === 0 || planned.action.kind === "dropTable")
        return;
      const { version } = watch;
      const more = ending.harm === undefined ? [] : [ending.harm];
      const replaced = await versionReplaced(table, ending.lossy ?? planned.after, version, target);
      if (typeof replaced === "string")
        throw new MigrateError("ERR_WRITES_UNKNOWN", {
          ...planned.place,
          table,
          version,
          problems: [replaced, ...more],
        });
      const lost = await tooMany(watch.rows, target, replaced);
      if (lost.length > 0)
        throw new MigrateError("ERR_WRITES_LOST", {
          ...planned.place,
          table,
          version: replaced,
          problems: [...lost, ...more],
        });
    },
  };
}

/** The blockers as text. `version`: the version that is queried; the newest when absent. */
async function tooMany(questions: readonly Question[], target: Target, version?: number): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const question of questions) {
    const asks = question.asks.map((ask) => ({ ...ask, version }));
    const there = await countBlockingRows({ ...question, asks, spans: undefined }, target).catch(() => undefined);
    if (there === undefined ? !question.isRefused : isTooMany(there))
      problems.push(question.words(there?.rows, there?.written));
  }
  return problems;
}

/** Why rows can't be reinserted. */
async function misfits(questions: readonly SinceQuestion[], target: Target): Promise<string[]> {
  const problems: string[] = [];
  for (const question of questions)
    if (question.reinsertion !== undefined)
      problems.push(...[await misfitOf(question, target)].flatMap((one) => one ?? []));
  return problems;
}

/** Rows that were only added are reinserted after the restore. Everything else that was written would be lost. */
async function lostSince(
  questions: readonly SinceQuestion[],
  spans: readonly OpenSpan[],
  target: Target,
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const { table, version, restores, reinsertion, isWhole } of questions) {
    const known = spans.flatMap(({ from = version, until }) => (from === undefined ? [] : [{ from, until }]));
    const written = known.length < spans.length ? undefined : await rowsWrittenIn(target, table, known);
    const isKept =
      written !== undefined &&
      written.changed + written.removed === 0 &&
      ((reinsertion !== undefined && isWhole) || written.added === 0);
    if (!isKept)
      problems.push(
        written === undefined
          ? `it is unknown what was written to ${table}, which restoring version ${restores} would lose`
          : `rows of ${table} were ${written.changed + written.removed > 0 ? "changed or removed" : "written"}, which restoring version ${restores} would lose`,
      );
  }
  return problems;
}

/** The version right before the first one with the columns that the commit leaves; or why it is unknown, as text. */
async function versionReplaced(
  table: string,
  after: Tables,
  version: number,
  { versions, explain }: Target,
): Promise<number | string> {
  // A rename leaves no table of that name.
  const left = after.get(table);
  if (versions === undefined || left === undefined) return "old versions of it can't be compared";
  try {
    const { made, before } = await commitThatLeft(table, left, version, versions);
    if (made === undefined) return `no version after it has the columns that step leaves`;
    return before === made - 1 ? before : `version ${made - 1} was cleaned up`;
  } catch (cause) {
    return explain(cause);
  }
}
