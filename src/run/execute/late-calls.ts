/**
 * Checks late calls. A run that was stopped has recorded them and ended; the next holder of the lease checks their
 * tables before anything else.
 */
import { MigrateError } from "../../errors/migrate-error.ts";
import type { Clock } from "../../time/clock.ts";
import { isDone, type LateCall, type LedgerState } from "../../ledger/state/ledger-state.ts";
import type { Lease } from "../../ledger/lease/lease.ts";
import type { LedgerEntry } from "../../ledger/state/record.ts";
import type { Migration } from "../../migrations/load.ts";
import { statesBetween } from "../../plan/commits/commits.ts";
import { compileMigration } from "../../plan/compile/compile.ts";
import { afterLateCall, inTheMiddle } from "../../plan/commits/after-late-call.ts";
import { alterationsSince, pathAfter, possiblePaths } from "../../plan/commits/late-alterations.ts";
import { historyOrder } from "../../plan/history/replay.ts";
import type { Plan, PlannedAction } from "../../plan/make-plan.ts";
import type { Action } from "../../actions/model/action.ts";
import { changesRows } from "../../actions/apply-action.ts";
import type { Alteration } from "../../actions/model/alteration.ts";
import { sameType } from "../../schema/data-type.ts";
import { formatPath, parsePath } from "../../schema/path.ts";
import { columnPaths, differences, findColumn, sameTable, type Table } from "../../schema/table.ts";
import type { Target } from "../../targets/contract/target.ts";
import { sendAction } from "./send-action.ts";
import type { ActionRef, Emit } from "../events.ts";
import { guardHint } from "../../actions/rewrite/append-guard.ts";
import { hasColumns } from "../check/probe-columns.ts";

/** An action of a migration, and its place there. */
interface CallInDoubt {
  readonly action: Action;
  readonly place: ActionRef;
}

interface LateCallCheck {
  readonly emit: Emit;
  readonly target: Target;
  readonly clock: Clock;
  readonly lease: Lease;
  readonly plan: Plan;
  readonly state: LedgerState;
  /** All migrations that the ledger or the plan knows. */
  readonly migrations: readonly Migration[];
  /** Removes what a late call may have left beside its table. */
  readonly tidy: (action: Action) => Promise<void>;
}

/** Returns the records that state that the calls were checked. Throws ERR_DRIFT if a table is not as it should be. */
export async function checkLateCalls(
  calls: readonly LateCall[],
  check: LateCallCheck,
): Promise<readonly LedgerEntry[]> {
  const { plan, state, target, lease, emit, migrations } = check;
  const done = doneActions(check);
  const requireRight = async (table: string, words: readonly string[]): Promise<void> => {
    if (words.length === 0) return;
    // If this process was suspended, the next holder may have done it.
    await lease.check();
    throw new MigrateError("ERR_DRIFT", {
      table,
      differences: words,
      hint:
        guardHint(words) ??
        "a call of a run that was stopped may have come after another had taken over; put it back, then run migrate up again",
    });
  };
  const checked: LateCall[] = [];
  for (const late of calls) {
    const { version, action: number, isBack } = late;
    const at = isBack ? -1 : done.findIndex(({ place }) => place.version === version && place.action === number);
    const call = done[at];
    // An action that is not recorded as done is in doubt. The run checks it when it executes the migration, not here.
    const isPlanned = plan.migrations.some((one) => one.inDoubt && one.migration.version === version);
    if (call === undefined && !isPlanned && !isDone(state.migrations.get(version), late)) continue;
    checked.push(late);
    if (isBack && isDone(state.migrations.get(version), late)) {
      // Its actions, in place of the calls that may have rolled it back: these concern the same tables.
      const own = migrations.filter((migration) => migration.version === version);
      for (const one of own.flatMap((migration) => callsOf(migration, check)))
        await requireRight(one.action.table, await checkRollback(one, late, check));
      continue;
    }
    if (call === undefined) continue;
    await lease.check();
    const { table } = call.action;
    if (changesRows(call.action)) {
      await check.tidy(call.action);
      emit({ event: "unseen", ...call.place, table, check: whatToCheck(call.action) });
      continue;
    }
    const since = done.slice(at).map(({ action }) => action);
    const words = target.capabilities.describes
      ? await checkDescribed(call.action, late, since.slice(1), check)
      : await checkUndescribed(
          call,
          since.filter((action) => action.table === table),
          check,
        );
    await requireRight(table, words);
  }
  const next = plan.migrations[0]?.migration.version;
  const left = new Set(calls.filter((late) => !checked.includes(late)).map(({ epoch }) => epoch));
  const epochs = new Set(checked.map(({ epoch }) => epoch));
  return [...epochs].filter((epoch) => !left.has(epoch)).map((epoch) => ({ event: "looked", next, late: epoch }));
}

/** What the user should look for in the rows of a late call, as text. */
function whatToCheck(action: Action): string {
  switch (action.kind) {
    case "insertRows":
      return `check whether rows of ${action.table} have the same ${action.key}, and delete one of each`;
    case "updateRows":
    case "deleteRows": {
      const rows = action.where === undefined ? "rows" : `rows with ${action.where}`;
      const what = action.kind === "updateRows" ? "updated" : "deleted";
      return `check whether ${rows} that applications wrote before that run ended were ${what} again`;
    }
    case "backfillColumn":
    case "catchUpColumn":
    case "fillColumn":
    case "prepareColumn":
      return "a late write gives a row only what the same code computes, so nothing needs to be checked";
    case "populateTable":
      return `a late write may have appended rows of ${action.table} twice; another populateTable deletes one of each`;
    default:
      return "check the rows";
  }
}

function callsOf(migration: Migration, { target }: LateCallCheck): readonly CallInDoubt[] {
  const { version, name } = migration;
  const compiled = compileMigration(migration, target.capabilities);
  return compiled.map(({ action }, index) => ({
    action,
    place: { version, name, action: index + 1, total: compiled.length },
  }));
}

/**
 * What is wrong with the table of a call that rolled a migration back. Its columns have their names from before or
 * after the call, and it is unknown which. So if the target can't describe the table, types and nullability of all
 * columns that the migration had altered are set again.
 */
async function checkRollback(call: CallInDoubt, late: LateCall, check: LateCallCheck): Promise<readonly string[]> {
  const { target, plan, lease } = check;
  const { action } = call;
  await lease.check();
  if (target.capabilities.describes) return await checkDescribed(action, late, [], check);
  const begun = begunIn(plan);
  const possible = [plan.now.get(action.table), begun?.after.get(action.table)].filter((table) => table !== undefined);
  if (possible.length === 0) return [];
  let now: Table | undefined;
  for (const table of possible)
    if (now === undefined && (await hasColumns(action.table, table, columnPaths(table.columns), check))) now = table;
  if (now === undefined) return ["its columns are not those that it should have"];
  const altered = action.kind === "alterColumns" ? action.alterations : [];
  const paths = altered.flatMap(({ path }) => [parsePath(path), pathAfter(parsePath(path), action)]);
  const wanted = paths.flatMap((path): readonly Alteration[] => {
    const column = findColumn(now!.columns, path);
    if (column === undefined) return [];
    const { type, nullable } = column;
    return [
      { path: formatPath(path), type },
      { path: formatPath(path), nullable },
    ];
  });
  return await sendAlterations(wanted, call, now, check, null);
}

/** How a table differs from what it should be. The action that is in doubt may be between two of its commits. */
async function checkDescribed(
  action: Action,
  { midway }: LateCall,
  since: readonly Action[],
  { target, plan }: LateCallCheck,
): Promise<readonly string[]> {
  const { table } = action;
  const found = (await target.describeTable(table, true))?.table;
  const begun = begunIn(plan);
  const now = plan.now.get(table);
  const expected = now && afterLateCall(now, action, midway, since);
  const between = statesBetween(begun?.commits ?? []).map((tables) => tables.get(table));
  const state = between.find((one) => sameTable(one, found));
  if (begun === undefined || expected === undefined || state === undefined)
    return between.includes(undefined) && found === undefined ? [] : differences(expected, found);
  return differences(inTheMiddle(state, expected, begun.action, begun.after.get(table)), found);
}

/** The actions that the ledger records as done, in the order in which they ran. */
function doneActions(check: LateCallCheck): readonly CallInDoubt[] {
  const { migrations, state } = check;
  return historyOrder(migrations, state)
    .flatMap((migration) => callsOf(migration, check))
    .filter(({ place: { version, action } }) => isDone(state.migrations.get(version), { action, isBack: false }));
}

/**
 * What is wrong with the table of a late call, if the target can't describe it. Types and nullability that the call may
 * have changed are set to what they should be.
 */
async function checkUndescribed(
  call: CallInDoubt,
  since: readonly Action[],
  check: LateCallCheck,
): Promise<readonly string[]> {
  const { target, plan } = check;
  const { table: name } = call.action;
  const begun = begunIn(plan);
  const now = plan.now.get(name);
  // The action that is in doubt itself may have run, or not.
  const possible = [
    { table: now, since },
    ...(begun?.action.table === name ? [{ table: begun.after.get(name), since: [...since, begun.action] }] : []),
  ].filter((place): place is typeof place & { readonly table: Table } => place.table !== undefined);
  if (!(await target.listTables()).includes(name)) return now === undefined ? [] : ["it does not exist"];
  for (const place of possible)
    if (await hasColumns(name, place.table, columnPaths(place.table.columns), check))
      return await restoreTypes(call, place.since, place.table, check);
  return possible.length === 0 ? ["it exists, but should not"] : ["its columns are not those that it should have"];
}

/** Undoes what a late retype or change of nullability may have done to the result of later actions. */
async function restoreTypes(
  { action, place }: CallInDoubt,
  since: readonly Action[],
  table: Table,
  { target, lease, plan }: LateCallCheck,
): Promise<readonly string[]> {
  if (action.kind !== "alterColumns") return [];
  const wanted = action.alterations.flatMap(({ path, type, nullable }) =>
    possiblePaths(path, since).flatMap((now): readonly Alteration[] => {
      const column = findColumn(table.columns, parsePath(now));
      if (column === undefined) return [];
      const altered = alterationsSince(now, since);
      const isType = altered.every((one) => one.type === undefined || sameType(one.type, column.type));
      const isNullable = altered.every((one) => one.nullable === undefined || one.nullable === column.nullable);
      return [
        ...(type === undefined || isType ? [] : [{ path: now, type: column.type }]),
        ...(nullable === undefined || isNullable ? [] : [{ path: now, nullable: column.nullable }]),
      ];
    }),
  );
  return await sendAlterations(wanted, { action, place }, table, { target, lease, plan });
}

/** Sends the alterations one by one: a retype and "not null" can't be in one call. */
async function sendAlterations(
  wanted: readonly Alteration[],
  { action, place }: CallInDoubt,
  table: Table,
  { target, lease, plan }: Pick<LateCallCheck, "target" | "lease" | "plan">,
  /** Null if no migration is in doubt when nothing is planned. */
  otherwise?: null,
): Promise<readonly string[]> {
  const context = { target, lease, place, next: plan.migrations[0]?.migration.version ?? otherwise };
  for (const alteration of wanted) {
    // Nothing is awaited between `isSure` and the call.
    do await lease.check();
    while (!lease.isSure());
    const again: Action = { kind: "alterColumns", table: action.table, alterations: [alteration] };
    const { failure } = await sendAction(again, { table, version: undefined }, context);
    if (failure?.kind === "refused") return [target.explain(failure.error)];
    if (failure !== undefined) throw failure.error;
  }
  return [];
}

/** The action that may have run without being recorded. */
function begunIn({ migrations }: Plan): PlannedAction | undefined {
  return migrations.find(({ inDoubt }) => inDoubt)?.actions[0];
}
