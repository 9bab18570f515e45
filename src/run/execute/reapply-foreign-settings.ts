/**
 * After an old version of a table was restored: gives the table the metadata and indexes again that others had given it
 * since. The version that was replaced shows what these are, also to a run that resumes after a kill.
 */
import { isMigrateError } from "../../errors/migrate-error.ts";
import { foreignSettings, stillUnset, type ForeignSettings } from "../../plan/reconcile/foreign-settings.ts";
import type { PlannedAction } from "../../plan/make-plan.ts";
import type { Action, ActionFor } from "../../actions/model/action.ts";
import { ownValue } from "../../schema/data-type.ts";
import type { Table } from "../../schema/table.ts";
import { formatIndex } from "../../schema/table-index.ts";
import { mostRepeats } from "../../targets/contract/retry.ts";
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";
import type { Versions } from "../../targets/contract/versions.ts";
import { sendAction, type ActionContext, type CallContext } from "./send-action.ts";

interface PutBack {
  /** How many versions that made. */
  readonly commits: number;
  /** What could not be put back, as text. */
  readonly harm?: string | undefined;
}

/** The snapshot before the call that restored the table, and the version that the call made, if they are known. */
export interface RestoredTable {
  readonly seen?: TableSnapshot | undefined;
  readonly made?: number | undefined;
}

/** Does nothing for other actions, or if the target keeps no versions. */
export async function reapplyForeignSettings(
  planned: PlannedAction,
  call: RestoredTable,
  context: CallContext & Pick<ActionContext, "emit">,
): Promise<PutBack> {
  const { commits, harm } = await putBack(planned, call, context);
  if (harm === undefined || context.mayLose !== true) return { commits, harm };
  // It may be lost, but not silently.
  context.emit({ event: "accepted", words: harm });
  return { commits };
}

async function putBack(planned: PlannedAction, call: RestoredTable, context: CallContext): Promise<PutBack> {
  const { action } = planned;
  const { versions, explain } = context.target;
  if (action.kind !== "restoreTable" || versions === undefined) return { commits: 0 };
  try {
    return await carryOut(planned, await versionsAround(action, call, versions, explain), context);
  } catch (cause) {
    if (endsRun(cause)) throw cause;
    // A run that has taken over releases the version when it is done.
    await context.lease.check();
    return { commits: 0, harm: unknownLoss(action, undefined, explain(cause)) };
  }
}

/** The version that was replaced (`source`), and the table in it and right after it. */
interface ReplacedVersion {
  readonly source: number;
  readonly replaced: Table;
  readonly restored: Table;
  /** What may be lost besides, in words: the version that was replaced is gone, and `replaced` is what was seen before. */
  readonly unknown?: string;
}

/** Throws if a version is gone that shows what others had given the table. */
async function versionsAround(
  action: ActionFor<"restoreTable">,
  { seen, made }: RestoredTable,
  versions: Versions,
  explain: Target["explain"],
): Promise<ReplacedVersion> {
  const { table, version, after } = action;
  // The version that the restored one is a copy of is kept; others may clean up that copy at any time.
  const restored = await versions.at(table, version);
  try {
    const isNext = made !== undefined && made - 1 === seen?.version;
    const copy = isNext ? made : (await versions.look(table, version, after)).restored;
    if (copy === undefined) throw new Error(`no version after ${after} is like it`);
    const source = copy - 1;
    const isSeen = seen?.version === source && seen.table.indexes !== undefined;
    return { source, restored, replaced: isSeen ? seen.table : await versions.at(table, source, true) };
  } catch (cause) {
    if (endsRun(cause) || seen?.version === undefined) throw cause;
    const { version: source, table: replaced } = seen;
    return { source, restored, replaced, unknown: unknownLoss(action, source, explain(cause)) };
  }
}

/** A service that answers that a version can't be read leaves the loss unknown; other errors of ours end the run. */
function endsRun(cause: unknown): boolean {
  return isMigrateError(cause) && !isMigrateError(cause, "ERR_ANSWER");
}

function unknownLoss(
  { table, version }: ActionFor<"restoreTable">,
  after: number | undefined,
  problem: string,
): string {
  const when = `${after === undefined ? "" : `after version ${after} and `}before version ${version} was restored`;
  return `whether metadata and indexes that others had given ${table} ${when} are lost is unknown (${problem})`;
}

async function carryOut(planned: PlannedAction, around: ReplacedVersion, context: CallContext): Promise<PutBack> {
  const { target, lease } = context;
  const { table } = planned.action;
  const refused = new Map<string, string>();
  let [commits, failures] = [0, 0];
  for (;;) {
    const now = await target.describeTable(table, true);
    if (now === undefined) return { commits };
    const restored = { ...around.restored, indexes: now.table.indexes };
    const others = foreignSettings(planned, around.replaced, restored);
    const calls = callsFor(table, others, around.restored, now.table);
    const next = calls.find(({ words }) => !refused.has(words));
    if (next === undefined) return { commits, harm: harmOf(planned.action, around, others.lost, refused) };
    // Another run may have changed the table since it was described.
    await lease.check();
    if (!lease.isSure()) continue;
    const { failure } = await sendAction(next.action, now, context);
    if (failure === undefined) commits++;
    else if (failure.kind === "refused" || ++failures >= mostRepeats)
      refused.set(next.words, target.explain(failure.error));
  }
}

interface ReapplyCall {
  readonly action: Action;
  readonly words: string;
}

function callsFor(
  table: string,
  { metadata, indexes }: ForeignSettings,
  restored: Table,
  now: Table,
): readonly ReapplyCall[] {
  const updates = stillUnset(metadata, restored, now);
  const words = updates.map((update) => `metadata ${JSON.stringify(update.metadata)} of ${update.path}`).join(", ");
  const setting: ReapplyCall = { action: { kind: "setMetadata", table, updates }, words };
  const creating = indexes.map(([name, index]): ReapplyCall => {
    // A different index of that name is dropped first.
    const isThere = (ownValue(now.indexes, name) ?? null) !== null;
    const action: Action = isThere ? { kind: "dropIndex", table, name } : { kind: "createIndex", table, name, index };
    return { action, words: `index ${name} on ${index.path} (${formatIndex(index)})` };
  });
  return updates.length === 0 ? creating : [setting, ...creating];
}

function harmOf(
  { table }: Action,
  { source, unknown }: ReplacedVersion,
  lost: readonly string[],
  refused: ReadonlyMap<string, string>,
): string | undefined {
  const all = [...lost, ...[...refused].map(([words, why]) => `${words}, which could not be put back (${why})`)];
  if (all.length === 0) return unknown;
  const known = `${table} was restored without what others had given it since: ${all.join("; ")}; version ${source} still holds that`;
  return unknown === undefined ? known : `${known}; ${unknown}`;
}
