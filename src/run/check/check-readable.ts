/**
 * Checks whether a table can be read after a drop of columns whose end no run has seen. The engine also drops the last
 * column that some rows have in their files, and no scan works afterwards. The run that drops columns checks that
 * itself and restores the version before, but it may be killed first.
 */
import { MigrateError } from "../../errors/migrate-error.ts";
import type { PlannedAction } from "../../plan/make-plan.ts";
import type { Table } from "../../schema/table.ts";
import type { Lease } from "../../ledger/lease/lease.ts";
import type { Target } from "../../targets/contract/target.ts";
import { commitThatLeft } from "./foreign-changes.ts";

/** A target, and the lease under which what was lost is put back. */
export interface LeasedTarget {
  readonly target: Target;
  readonly lease: Pick<Lease, "check" | "isSure">;
}

/** Throws ERR_UNREADABLE. The version before the drop is restored if nothing came after the drop. */
export async function requireReadable(planned: PlannedAction, { target, lease }: LeasedTarget): Promise<void> {
  const { action, after, place } = planned;
  const { table } = action;
  const left = after.get(table);
  if (action.kind !== "dropColumns" || left === undefined) return;
  const problem = await readProblem(table, undefined, target);
  if (problem === undefined) return;
  const { versions } = target;
  if (versions === undefined) throw problem.error;
  const { made: dropped, before, newest } = await commitThatLeft(table, left, undefined, versions);
  // The drop is not the cause if the version before it can't be read either, or if the newest version can be read now.
  if (before !== undefined && (await readProblem(table, before, target)) !== undefined) throw problem.error;
  if ((await readProblem(table, undefined, target)) === undefined) return;
  const details = { ...place, table, dropped: action.paths.map((path) => `${table}.${path}`).join(", "), newest };
  const isNewest = before !== undefined && dropped === newest && before === newest - 1;
  if (!isNewest) throw new MigrateError("ERR_UNREADABLE", { ...details, before });
  await lease.check();
  const seen = await target.describeTable(table);
  if (!lease.isSure() || seen?.version !== newest) throw new MigrateError("ERR_UNREADABLE", { ...details, before });
  const as: Table = { columns: (await versions.at(table, before)).columns };
  const { version: made } = await target.execute(
    { kind: "restoreTable", table, version: before, after: newest, as, isSilent: false },
    seen,
  );
  const since = made === undefined || made === newest + 1 ? undefined : made - 1;
  throw new MigrateError("ERR_UNREADABLE", { ...details, before, restored: before, since });
}

/** Undefined if its rows can be counted. Throws if the target gives no answer. */
async function readProblem(
  table: string,
  version: number | undefined,
  { countRows, verdict }: Target,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    await countRows?.(table, undefined, version);
    return undefined;
  } catch (error) {
    if (verdict(error).kind !== "refused") throw error;
    return { error };
  }
}
