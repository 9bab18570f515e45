/** Finds rows that block a rollback, before anything is changed. */
import { count, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { acceptsLoss, type Acceptance } from "../../migrations/acceptance.ts";
import { reinsertKey, questionsOf, type Question, type SinceQuestion } from "../../plan/assess/blocking-rows.ts";
import type { PutBackRowsAction } from "../../actions/model/action.ts";
import { isPartlyDone } from "../../plan/history/progress.ts";
import type { Plan } from "../../plan/make-plan.ts";
import type { VersionSpan } from "../../plan/assess/version-spans.ts";
import { formatPath } from "../../schema/path.ts";
import { blob as blobStorage, specialStorage } from "../../schema/reserved-metadata.ts";
import { columnsWithin, differences } from "../../schema/table.ts";
import { isNoAnswer } from "../../targets/contract/no-answer.ts";
import type { Target } from "../../targets/contract/target.ts";
import { rowsWrittenIn, rowsWrittenSince } from "./foreign-changes.ts";
import type { OldVersion, Since, SinceScope } from "../../targets/contract/versions.ts";

export interface Consent {
  /** Lose what was written since and is removed by the rollback. */
  readonly accept?: readonly Acceptance[] | undefined;
  /** Reinsert the rows of a table that is restored to an old version, if since then rows were only added. */
  readonly reinsert?: boolean | undefined;
}

interface BlockerText {
  readonly words: string;
  /** The text if the rows are reinserted. */
  readonly reinserted?: string;
  /** Whether the rollback may proceed with consent: it loses only what was written since. */
  readonly mayLose: boolean;
  readonly mayReinsert?: boolean;
  /** Why the rows can't be reinserted, unless `mayReinsert`. */
  readonly unkept?: string | undefined;
  /** How many newer migrations to roll back by themselves, if what blocks may become known after that. */
  readonly first?: number | undefined;
}

/**
 * The plan with its blockers, and with what the user has accepted to lose or to reinsert. `others`: blockers other than
 * rows, as text. Throws ERR_ROLLBACK_BLOCKED if the blockers can't be determined.
 */
export async function withBlockers(
  plan: Plan,
  target: Target,
  { accept, reinsert }: Consent,
  others: readonly string[] = [],
): Promise<Plan> {
  const acceptLoss = acceptsLoss({ accept });
  const { rows, since } = questionsOf(plan);
  const found: BlockerText[] = acceptLoss ? [] : others.map((words) => ({ words, mayLose: true }));
  const accepted = acceptLoss ? [...others] : [];
  const [reinserted, byVersion] = [new Map<string, number>(), new Map<string, number>()];
  for (const question of since) {
    const lost = await lostSince(question, reinserted, target, acceptLoss);
    const { table, restores } = question;
    if (reinserted.has(table)) byVersion.set(reinsertKey(table, restores), reinserted.get(table)!);
    if (lost === undefined) continue;
    if (acceptLoss) accepted.push(lost.words);
    else if (reinsert === true && lost.mayReinsert === true) accepted.push(lost.reinserted ?? lost.words);
    else found.push(lost);
  }
  for (const question of rows) {
    const { asks, least = 0, words, mayLose, isRefused, wasAsked } = question;
    if (mayLose && acceptLoss) {
      const lost = await countBlockingRows(question, target).catch(() => undefined);
      if (lost === undefined ? asks.length > 0 && !wasAsked : isTooMany(lost))
        accepted.push(words(lost?.rows, lost?.written));
      continue;
    }
    const mixed = asks.find(({ table, reinserts }) => reinserts === true && (reinserted.get(table) ?? 0) > 0);
    if (mixed !== undefined && reinsert === true) {
      // What else blocks must be changed first anyway.
      if (found.length > 0) continue;
      throw newerFirst(mixed.table, question.newer);
    }
    const there = await countBlockingRows(question, target);
    if (there === undefined) {
      // The number is unknown, so only consent lets the rollback proceed.
      if (!(isRefused || wasAsked || acceptLoss)) found.push({ words: words(undefined), mayLose: true });
    } else if (isTooMany(there) || there.rows < least) found.push({ words: words(there.rows, there.written), mayLose });
  }
  if (found.length === 0) return { ...plan, accepted, reinserted: byVersion };
  const isBegun = plan.migrations.some(isPartlyDone);
  const mayLose = found.every((one) => one.mayLose);
  const mayReinsert = found.every((one) => one.mayReinsert === true);
  const changeFirst = `${isBegun ? "" : "nothing was rolled back; "}change these rows first`;
  const lose = mayReinsert
    ? "pass --reinsert to reinsert these rows, or --accept lossy to lose them"
    : `${rollBackFirst(found)}pass --accept lossy to lose that`;
  const problems = found.map(({ words, unkept }) =>
    reinsert === true && unkept !== undefined ? `${words}, and ${unkept}` : words,
  );
  // Whether rows are reinserted is for the user to decide.
  const shown = reinsert === true ? plan : withoutPutBack(plan);
  return { ...shown, accepted, reinserted: byVersion, blocked: { problems, hint: mayLose ? lose : changeFirst } };
}

function withoutPutBack(plan: Plan): Plan {
  const migrations = plan.migrations.map((one) => ({
    ...one,
    actions: one.actions.filter(({ action }) => action.kind !== "putBackRows"),
  }));
  return { ...plan, migrations };
}

/** The versions that newer migrations made may hide what others wrote. A rollback of those alone is checked by itself. */
function rollBackFirst(found: readonly BlockerText[]): string {
  const steps = Math.min(...found.map(({ first = 0 }) => first));
  return steps === 0
    ? ""
    : `run migrate down --steps ${steps} first, then this command again; if this is still unknown then, `;
}

function newerFirst(table: string, newer: number): MigrateError {
  return new MigrateError("ERR_ROLLBACK_BLOCKED", {
    problems: [`rows that are reinserted into ${table} can be checked only when they are there`],
    hint: `nothing was rolled back; run migrate down --steps ${newer} --reinsert first, then this command again`,
  });
}

/**
 * Undefined if restoring the version loses nothing. `reinserted`: how many rows of each table are reinserted; updated here.
 * Throws ERR_IRREVERSIBLE if the version can't be restored.
 */
async function lostSince(
  question: SinceQuestion,
  reinserted: Map<string, number>,
  target: Target,
  acceptLoss: boolean,
): Promise<BlockerText | undefined> {
  const { table, restores, reinsertion, leaves, empty } = question;
  if (await isRestored(question, target)) return undefined;
  const written = await writtenSince(question, target);
  if (written === undefined)
    return {
      words: `it is unknown what was written to ${table} since, which restoring version ${restores} would lose`,
      mayLose: true,
      first: question.version === undefined || question.spans !== undefined ? undefined : question.newer,
    };
  const gone = written.changed + written.removed;
  const added = written.added + (reinserted.get(table) ?? 0);
  reinserted.set(table, added);
  if (added === 0 && gone === 0) return undefined;
  const are = (rows: number, what: string) =>
    rows === 0 ? [] : [`${count(rows, "row")} of ${table} ${rows === 1 ? "was" : "were"} ${what} since`];
  // Without stable row ids, a changed row looks like one that was removed and another one that was added.
  const twice = added > 0 && gone > 0 && written.changed === 0 ? " (a changed row may count as both)" : "";
  const words = `${[...are(added, "written"), ...are(gone, "changed or removed")].join(", ")}${twice}`;
  // Rows that may be lost are not read.
  const keeps = gone === 0 && reinsertion !== undefined && !acceptLoss;
  const misfit = keeps ? await misfitOf(question, target) : undefined;
  const mayReinsert = keeps && misfit === undefined;
  const changes = [
    ...(leaves.length === 0 ? [] : [` without what they have in ${leaves.join(", ")}`]),
    ...(empty.length === 0 ? [] : [` with null in ${empty.join(", ")}`]),
  ];
  const without = changes.join(" and");
  const orWithout = mayReinsert && without !== "" ? `; they can be reinserted${without}` : "";
  return {
    words: `${words}, which restoring version ${restores} would lose${orWithout}`,
    reinserted: `${words}, which are reinserted${without}`,
    mayLose: true,
    mayReinsert,
    unkept:
      gone > 0
        ? "rows that were changed or removed can't be reinserted"
        : (misfit ?? `rows of ${table} can't be converted back to the old schema`),
  };
}

/** Why rows can't be reinserted, as far as the current ones show it; undefined if they can. */
export async function misfitOf(
  { table, newer, reinsertion }: SinceQuestion,
  target: Target,
): Promise<string | undefined> {
  const columns = (await target.describeTable(table))?.table.columns ?? [];
  const blob = columnsWithin(columns).find(({ column }) => specialStorage(column.metadata) === blobStorage);
  if (blob !== undefined)
    return `rows of ${table} can't be reinserted, because ${formatPath(blob.path)} is a blob, whose bytes a query does not return`;
  // The columns are others until newer migrations are rolled back; then write-guard.ts asks.
  const problem = newer === 0 && reinsertion !== undefined ? await misfitsNow(table, reinsertion, target) : undefined;
  return problem && `rows of ${table} can't be reinserted: ${problem}`;
}

async function misfitsNow(
  table: string,
  reinsertion: PutBackRowsAction,
  { versions, verdict, explain }: Target,
): Promise<string | undefined> {
  try {
    return await versions!.misfitsSince(table, reinsertion);
  } catch (error) {
    if (verdict(error).kind !== "refused") throw error;
    return explain(error);
  }
}

/** Whether a run that was killed has already restored the version. Throws ERR_IRREVERSIBLE if it can't be restored. */
async function isRestored(
  { place, table, restores, after, as }: SinceQuestion,
  { versions, explain }: Target,
): Promise<boolean> {
  const irreversible = (problem: string, cause?: unknown) =>
    new MigrateError("ERR_IRREVERSIBLE", { ...place, problem: `${table}: ${problem}` }, { cause });
  let old: OldVersion;
  try {
    old = await versions!.look(table, restores, after);
  } catch (cause) {
    throw isMigrateError(cause) ? cause : irreversible(explain(cause), cause);
  }
  const [wrong] = differences({ columns: as.columns }, { columns: old.columns });
  if (wrong !== undefined) throw irreversible(`version ${restores} is not that of before the migration: ${wrong}`);
  return old.restored !== undefined;
}

/** Undefined if unknown. */
async function writtenSince(question: SinceQuestion, target: Target): Promise<Since | undefined> {
  const { table, version, restores, after, until, writes, spans, newer } = question;
  if (version === undefined) return undefined;
  // Columns of newer migrations are asked about when these are rolled back. Others may hold what would be lost unseen.
  const scope = { until, mayHaveMore: newer > 0 };
  const sinceEnd = version === restores ? undefined : await writtenIn(spans, table, version, scope, target);
  // Only the version that is restored is protected from being cleaned up.
  return sinceEnd ?? (writes ? undefined : await rowsWrittenSince(target, table, restores, { until, from: after }));
}

async function writtenIn(
  spans: readonly VersionSpan[] | undefined,
  table: string,
  version: number,
  scope: SinceScope,
  target: Target,
): Promise<Since | undefined> {
  const all = spans && (await rowsWrittenIn(target, table, spans));
  return all ?? (await rowsWrittenSince(target, table, version, scope));
}

interface RowsThere {
  readonly rows: number;
  /** How many of them exceed what may be there; undefined if unknown. */
  readonly written: number | undefined;
}

export function isTooMany({ rows, written = rows }: RowsThere): boolean {
  return written > 0;
}

/** Undefined if they can't be counted. Throws ERR_STEP_IMPOSSIBLE if the query fails. */
export async function countBlockingRows(
  { place, asks, allowed, since, spans, wasAsked }: Question,
  target: Target,
): Promise<RowsThere | undefined> {
  const { countRows: rowsOf, explain } = target;
  if (rowsOf === undefined) return undefined;
  let failure: unknown;
  for (const ask of asks)
    try {
      const rows = await rowsOf(ask.table, ask.predicate, ask.version);
      const more = Math.max(0, rows - allowed);
      if (since === undefined || rows === 0) return { rows, written: more };
      const written =
        since === null
          ? undefined
          : await writtenIn(spans, ask.table, since, { until: ask.version, mayHaveMore: true }, target);
      const added = written && written.added + written.changed;
      // A table that was dropped and recreated may have reached that version number again.
      return { rows, written: added === undefined ? undefined : Math.min(rows, Math.max(more, added)) };
    } catch (error) {
      if (isNoAnswer(error)) throw error;
      failure = error;
    }
  if (failure === undefined || wasAsked) return undefined;
  const problem = `its rows can't be looked at: ${explain(failure)}`;
  throw new MigrateError("ERR_STEP_IMPOSSIBLE", { ...place, problem }, { cause: failure });
}
