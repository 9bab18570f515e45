/**
 * Finds side effects of a call on a table that others changed between its description and the call. The engine accepts
 * some calls on a table that was dropped and recreated in between. A rename or a drop of columns replaces column
 * metadata that was set in between (docs/internals/engine.md). Side effects are repaired if that can be done exactly.
 */
import { isMigrateError } from "../../errors/migrate-error.ts";
import { metadataToReset } from "../../plan/reconcile/foreign-settings.ts";
import { replacesTable } from "../../actions/apply-action.ts";
import type { Action, ActionKind, MetadataUpdate } from "../../actions/model/action.ts";
import type { Table } from "../../schema/table.ts";
import { mostRepeats } from "../../targets/contract/retry.ts";
import type { TableSnapshot, Target, UndoResult } from "../../targets/contract/target.ts";
import type { Versions } from "../../targets/contract/versions.ts";
import type { LeasedTarget } from "../check/check-readable.ts";
import { commitThatLeft, identityNow } from "../check/foreign-changes.ts";

/**
 * A side effect to report, as text: metadata that could not be set again, or a commit on another table, even if it was
 * undone. Whether the action was done is known for lost metadata only.
 */
export interface SideEffect {
  readonly code: "ERR_TABLE_RECREATED" | "ERR_METADATA_LOST";
  readonly problem: string;
}

/**
 * The harm that a call did, as far as it was not repaired. `made`: the version that the call made, if the target
 * reports it.
 */
export async function sideEffects(
  action: Action,
  seen: TableSnapshot | undefined,
  made: number | undefined,
  { target, lease }: LeasedTarget,
): Promise<SideEffect | undefined> {
  const { versions } = target;
  if (versions === undefined || seen?.version === undefined || replacesTable.has(action.kind)) return undefined;
  if (await mayBeAnother(action.table, seen, made, target)) return await recreated(action, seen, made, target);
  const isBeside = made !== undefined && made > seen.version + 1;
  return isBeside && replacesMetadata.has(action.kind)
    ? await putMetadataBack(action, made, { target, lease }, versions)
    : undefined;
}

/**
 * The same for metadata only, of an action that was done although its call has no answer or was made by a run that was
 * stopped. `first`: the table before the call, if this run has described it; `after`: the table as the action leaves
 * it.
 */
export async function lostUnanswered(
  action: Action,
  first: TableSnapshot | undefined,
  now: TableSnapshot | undefined,
  after: Table | undefined,
  { target, lease }: LeasedTarget,
): Promise<SideEffect | undefined> {
  const { versions } = target;
  if (versions === undefined || now?.version === undefined || after === undefined) return undefined;
  if (!replacesMetadata.has(action.kind) || now.version <= (first?.version ?? 0) + 1) return undefined;
  try {
    const { made, before } = await commitThatLeft(action.table, after, first?.version, versions);
    // If no version before it is listed, an older one may have made the commit.
    if (made === undefined || (first?.version === undefined && before === undefined))
      return unknownLoss(action.table, "the version that the call made is not listed");
    if (made === (first?.version ?? 0) + 1) return undefined;
    return await putMetadataBack(action, made, { target, lease }, versions);
  } catch (cause) {
    if (isMigrateError(cause)) throw cause;
    return unknownLoss(action.table, target.explain(cause));
  }
}

/**
 * Whether the call may have reached another table than the one that was described. If the described version was cleaned
 * up, only the table's instance can tell. In an object store, where neither the version's time nor an instance is
 * known, all versions are listed only if that version can't be opened.
 */
async function mayBeAnother(
  table: string,
  seen: TableSnapshot,
  made: number | undefined,
  target: Target,
): Promise<boolean> {
  const { versions, undo, instance } = target;
  const version = seen.version!;
  // A target without handles finds tables by their names.
  if (seen.at === undefined && undo === undefined) return false;
  const identity = await identityNow(table, seen, made ?? version, async () => await instance?.(table), target);
  if (identity !== "unknown") return identity === "another";
  if (seen.at !== undefined) return true;
  const isThere = await versions!.at(table, version).then(
    () => true,
    () => false,
  );
  return !isThere && (await versions!.time(table, version)) === undefined;
}

const replacesMetadata: ReadonlySet<ActionKind> = new Set(["alterColumns", "dropColumns", "switchColumn"]);

async function recreated(
  action: Action,
  seen: TableSnapshot,
  made: number | undefined,
  target: Target,
): Promise<SideEffect | undefined> {
  const { table } = action;
  // That the table is gone shows when it is described next.
  if ((await target.describeTable(table)) === undefined) return undefined;
  const what = `table ${table} was dropped and recreated while the call ran, or version ${seen.version} of it was cleaned up`;
  try {
    const undone = made === undefined ? undefined : await target.undo?.(action, seen, made);
    return { code: "ERR_TABLE_RECREATED", problem: `${what}: ${becameOf(undone, table, made)}` };
  } catch (error) {
    const problem = `${what}: the call changed the new table in version ${made}, which could not be undone (${target.explain(error)})`;
    return { code: "ERR_TABLE_RECREATED", problem };
  }
}

function becameOf(undone: UndoResult | undefined, table: string, made: number | undefined): string {
  if (undone === undefined) return "whether the call changed the new table is unknown";
  const changed = `the call changed the new table in version ${made}`;
  if ("restored" in undone) return `${changed}, and version ${undone.restored}, the one before it, was restored`;
  const { before, newer } = undone;
  const damage = `${table} may be unreadable since, or lack rows`;
  if (before === undefined)
    return `${changed}, before which it has none to restore: ${damage}; check it, and let the program that recreated it create it again if it is damaged`;
  return `${changed}, and others have written since (up to version ${newer.at(-1)}), so it was not undone: ${damage}; restore version ${before} and write again what came later`;
}

async function putMetadataBack(
  action: Action,
  made: number,
  { target, lease }: LeasedTarget,
  versions: Versions,
): Promise<SideEffect | undefined> {
  const { table } = action;
  let left: readonly MetadataUpdate[] = [];
  let failure: unknown;
  for (let tries = 0; tries < mostRepeats; tries++) {
    try {
      const [before, after] = [await versions.at(table, made - 1), await versions.at(table, made)];
      const now = await target.describeTable(table);
      if (now === undefined) return undefined;
      left = metadataToReset(action, before, after, now.table);
      if (left.length === 0) return undefined;
      // Another run may have renamed the columns since the table was described.
      await lease.check();
      if (!lease.isSure()) throw new Error("the lease ran out");
      const setting: Action = { kind: "setMetadata", table, updates: left };
      const { version: set } = await target.execute(setting, now);
      return (await mayBeAnother(table, now, set, target)) ? await recreated(setting, now, set, target) : undefined;
    } catch (error) {
      failure = error;
      if (isMigrateError(error, "ERR_LEASE_LOST")) break;
    }
  }
  // The action stays in doubt, and the next run looks again.
  if (left.length === 0 && isMigrateError(failure) && failure.outcome === "unreachable") throw failure;
  const why = target.explain(failure);
  const which = left.map(({ path, metadata }) => `${path} ${JSON.stringify(metadata)}`).join(", ");
  if (left.length === 0) return unknownLoss(table, why);
  const problem = `metadata of columns of ${table} that was set while the call ran was lost, and could not be set again (${why}): ${which}`;
  return { code: "ERR_METADATA_LOST", problem };
}

function unknownLoss(table: string, why: string): SideEffect {
  const problem = `others changed ${table} while the call ran, and whether metadata of its columns was lost is unknown (${why})`;
  return { code: "ERR_METADATA_LOST", problem };
}
