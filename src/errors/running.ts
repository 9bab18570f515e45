/** Errors of a run: its steps, its lease and its target. */
import {
  at,
  count,
  failed,
  formatNumber,
  interrupted,
  locked,
  refused,
  someOf,
  unreachable,
  type StepPlace,
} from "./entry.ts";

export interface ActionWords {
  readonly version: string;
  readonly name: string;
  readonly action: number;
}

export interface Unreadable {
  readonly table: string;
  /** The dropped columns, if known. */
  readonly dropped?: string | undefined;
  readonly newest: number;
  /** The newest version that can be read; undefined if there is none. */
  readonly before: number | undefined;
  /** The version that was restored, if one was. */
  readonly restored?: number | undefined;
  /** The version that other writers committed right before the restore, if there is one. */
  readonly since?: number | undefined;
}

export interface HookWords {
  readonly hook: string;
  /** The migration that the hook is about, if any. */
  readonly migration?: string | undefined;
  readonly problem: string;
  readonly direction: "up" | "down";
  /** The migrations that this run has applied or rolled back. */
  readonly ended: readonly string[];
}

function hookWords({ hook, migration, problem, direction, ended }: HookWords): string {
  const about = migration === undefined ? "" : ` for ${migration}`;
  const verb = direction === "up" ? "applied" : "rolled back";
  const done = ended.length === 0 ? `nothing was ${verb}` : `this run has ${verb} ${someOf(ended)}`;
  return `the hook ${hook} failed${about}: ${problem}; ${done}`;
}

function hookAgain({ direction }: HookWords): string {
  return `run migrate ${direction} again`;
}

export const runningErrors = {
  ERR_TABLE_CHANGED: failed(
    (d: StepPlace & { table: string; differences: readonly string[] }) =>
      `${at(d)}: table ${d.table} was changed by something else during this run: ${d.differences.join("; ")}; undo that change, then run the command again`,
  ),
  ERR_LEDGER_UNWRITABLE: failed(
    (d: { ledger: string; problem: string }) =>
      `the ledger ${d.ledger} can't be written: ${d.problem}; fix the cause and run the command again: it finds out how far this run got`,
  ),
  ERR_STEP_FAILED: failed(
    (
      d: StepPlace & {
        problem: string;
        direction: "up" | "down";
        done: number;
        total: number;
        applied: number;
        /** What a part of the action has changed, and nothing has undone. */
        left?: readonly string[] | undefined;
        back?: string | undefined;
      },
    ) => {
      const [of, applied, cause] =
        d.direction === "up"
          ? ["of this migration", "applied", "the cause, or the steps that have not run,"]
          : ["that roll this migration back", "rolled back", "the cause"];
      const isLeft = d.left !== undefined && d.left.length > 0;
      return (
        `${at(d)} failed: ${d.problem}; ${d.done} of ${count(d.total, "action")} ${of} done, ` +
        `${count(d.applied, "migration")} ${applied} before it in this run; ${leftWords(d.left)}fix ${isLeft ? "the cause" : cause} and run migrate ${d.direction} again${wrongWayBack(d)}`
      );
    },
  ),
  ERR_UNFINISHED: failed(
    (d: { check: string }) =>
      `code of the project waits for something that never happens, so the command can't go on; what was done until then stays done: see ${d.check}, fix the promise that is never settled, and run the command again`,
  ),
  ERR_HOOK_REFUSED: refused((d: HookWords) => `${hookWords(d)}; fix the cause and ${hookAgain(d)}`),
  ERR_HOOK_FAILED: failed((d: HookWords & { left: number }) => {
    const next =
      d.left === 0
        ? `and the run is complete; fix the cause, and do by hand what the hook would have done: migrate ${d.direction} does not call it again for what is ${d.direction === "up" ? "applied" : "rolled back"}`
        : `and ${count(d.left, "migration")} ${d.left === 1 ? "is" : "are"} left; fix the cause, and ${hookAgain(d)} for what is left`;
    return `${hookWords(d)}, ${next}`;
  }),
  ERR_PREPARE_FAILED: failed(
    (d: StepPlace & { problem: string }) =>
      `${at(d)} could not be prepared: ${d.problem}; fix the cause and run migrate prepare again`,
  ),
  ERR_RAY_FAILED: failed(
    (d: { problem: string }) =>
      `Ray did not prepare everything: ${d.problem}; fix the cause and run the command again, which computes only what is missing`,
  ),
  ERR_GROUP_FAILED: failed(
    (d: {
      text: string;
      problem: string;
      table: string;
      /** Those whose steps on the table make up the call. */
      migrations: string;
      from: string;
      until: string;
      done: number;
      calls: number;
      applied: number;
      /** Whether it must be finished as a group. */
      isBegun?: boolean;
      back?: string | undefined;
    }) =>
      `${d.text} failed: ${d.problem}; ${d.from} to ${d.until} run as one group, so none of them is applied; ${d.done} of ${count(d.calls, "call")} ${d.done === 1 ? "is" : "are"} made, ` +
      `${count(d.applied, "migration")} applied before it in this run; fix the cause, or the steps on ${d.table} in ${d.migrations}, and run migrate up again` +
      (d.isBegun === true ? "" : "; with --step-by-step it applies the migrations before the one that fails") +
      wrongWayBack(d),
  ),
  ERR_UNEXPECTED_RESULT: failed(
    (d: StepPlace & { table: string; differences: readonly string[] }) =>
      `${at(d)} left table ${d.table} in an unexpected state: ${d.differences.join("; ")}; if something else has made that change, undo it and run the command again; otherwise report it`,
  ),
  ERR_TABLE_RECREATED: failed(
    (d: ActionWords & { problem: string }) =>
      `${actionWords(d)}: ${d.problem}; check the table, then run the command again`,
  ),
  ERR_METADATA_LOST: failed(
    (d: ActionWords & { problem: string }) => `${actionWords(d)}: ${d.problem}; check that, then run the command again`,
  ),
  ERR_UNREADABLE: failed(({ file, step, ...d }: Partial<StepPlace> & Unreadable) => {
    const place = file === undefined || step === undefined ? "" : `${at({ ...d, file, step })}: `;
    const since = d.dropped === undefined ? "" : ` since ${d.dropped} was dropped`;
    return `${place}table ${d.table} can't be read${since}, because some of its rows have no value in any remaining column; ${wayOutOf(d)}`;
  }),
  ERR_SYMBOLIC_LINK: failed(
    (d: { path: string }) =>
      `${d.path} in the folder of the tables is a symbolic link, which is not followed; put what it leads to in its place, or mount that there`,
  ),
  ERR_ACTED_LATE: failed(
    (d: { version: string; name: string; action: number; problem?: string | undefined }) =>
      `${d.version}_${d.name}: this run was suspended during action ${d.action}, and another run may have taken over before it resumed; ` +
      `${d.problem === undefined ? "" : `${d.problem}; `}run the command again: it checks that table first`,
  ),
  ERR_LEASE_HELD: locked(
    (d: { by: string }) => `${d.by} holds the lease and is running; try again later, or wait longer with --wait`,
  ),
  ERR_LEASE_LOST: locked(
    (d: { by: string }) =>
      `${d.by} took over the lease, because this run was suspended or the ledger took too long to answer; run the command again, ` +
      "with a longer lease if the target is slow (--lease, leaseSeconds)",
  ),
  ERR_LEASE_SHORT: locked(
    (d: { seconds: number }) =>
      `the target takes longer to write to the ledger than a lease of ${count(d.seconds, "second")} lasts; use a longer one (--lease, leaseSeconds)`,
  ),
  ERR_TARGET_UNREACHABLE: unreachable(
    (d: { target: string; problem: string }) => `target ${d.target} can't be reached: ${d.problem}`,
  ),
  ERR_DAMAGED: unreachable(
    (d: { target: string; table: string; path: string; problem: string; remedy: string }) =>
      `table ${d.table} of target ${d.target} can't be read: its file ${d.path} ${d.problem}; put the file back from a backup and run the command again; ` +
      `without a backup, ${d.remedy}`,
  ),
  ERR_CREDENTIALS: unreachable(
    (d: { target: string; request: string; status: number; problem: string }) =>
      `target ${d.target} refuses the credentials for ${d.request} (${d.status}): ${d.problem}; ` +
      (d.status === 403 ? "its key must be allowed to do this" : "check apiKey or MIGRATE_API_KEY"),
  ),
  ERR_ANSWER: unreachable(
    (d: {
      target: string;
      request: string;
      status: number;
      problem: string;
      conflict?: boolean | undefined;
      pause?: number | undefined;
    }) =>
      `target ${d.target} answered ${d.request} with ${d.status}: ${d.problem}${d.status >= 500 || d.status === 429 ? "; run the command again later" : ""}`,
  ),
  ERR_INTERRUPTED: interrupted((d: { done: string }) => `interrupted; ${d.done}`),
  ERR_TIMEOUT: interrupted(
    (d: { seconds: number; done: string }) => `not done within ${d.seconds} s (--timeout); ${d.done}`,
  ),
  ERR_LIMIT_REACHED: interrupted((d: { limit: string; column: string; done: number; total?: number | undefined }) => {
    const rows = d.total === undefined ? count(d.done, "row") : `${formatNumber(d.done)} of ${count(d.total, "row")}`;
    if (d.done === 0)
      return `a call of code would exceed ${d.limit}; this run has computed nothing of ${d.column}: run the same command again, as the next run has the whole limit; if it stops here again, raise the limit`;
    return `the next call of code would exceed ${d.limit}; this run has computed ${rows} of ${d.column} and keeps them: run the same command again to resume`;
  }),
} as const;

function leftWords(left: readonly string[] = []): string {
  return left.length === 0 ? "" : `a part of this action is done (${left.join("; ")}); `;
}

/** `back`: the migration that `down` would roll back, if that is an earlier one, because nothing of this one is done. */
function wrongWayBack({ back }: { readonly back?: string | undefined }): string {
  return back === undefined ? "" : `; nothing needs to be rolled back: migrate down would roll back ${back}`;
}

function wayOutOf({ newest, before, restored, since }: Unreadable): string {
  if (before === undefined) return "no version of it that can be read is left: restore the table from a backup";
  const restore = `restore version ${before} of it (checkout(${before}), then restore()), write again what others wrote later, and run the command again`;
  if (restored === undefined)
    return `its newest version is ${newest}, and nothing was restored, as others may have written since: ${restore}`;
  const lost = since === undefined ? "" : `; version ${since} has what others wrote meanwhile: write that again`;
  return `version ${restored} was restored, so nothing is dropped${lost}; run the command again`;
}

function actionWords({ version, name, action }: ActionWords): string {
  return `${version}_${name}, action ${action}`;
}
