/**
 * Creates vector indexes in a way that others can't starve. The engine refuses an index if `optimize` has joined files while
 * it was built, and an application may do so again before the next try ends. If a Python with pylance is there, it
 * trains such an index only once. That of a large prepared column is trained there at once: its table is in use, so rows
 * are deleted, which makes training by the client long (docs/internals/engine.md).
 */
import type { CreateIndexAction } from "../../../actions/model/action.ts";
import { MigrateError } from "../../../errors/migrate-error.ts";
import { isPrepared } from "../../../actions/rewrite/prepared-columns.ts";
import { findColumn } from "../../../schema/table.ts";
import { parsePath } from "../../../schema/path.ts";
import { isVectorIndex } from "../../../schema/table-index.ts";
import type { TableSnapshot } from "../../../targets/contract/target.ts";
import { isAnother } from "../../../run/check/foreign-changes.ts";
import { ActionFailed } from "../../../run/calls/action-failed.ts";
import type { Executor, ExecutorContext } from "../../../run/run-context.ts";
import { buildIndex } from "./build-index.ts";

type TrainingContext = Pick<ExecutorContext, "emit" | "mayWrite" | "python" | "signal">;

/** From how many rows on an index of a prepared column is trained with Python at once. Fewer are trained in less than a second. */
const manyRows = 10_000;

export const createIndex: Executor<"createIndex", TrainingContext> = (target, { python, signal, emit, mayWrite }) => {
  const { rows } = target;
  /** Those for which it has not helped. */
  const given = new Set<string>();
  const build = async (action: CreateIndexAction, seen: TableSnapshot | undefined): Promise<number | undefined> => {
    const { table, name, index } = action;
    if (python === undefined || rows?.files === undefined) return undefined;
    if (signal?.aborted === true || given.has(JSON.stringify([table, name]))) return undefined;
    const { path } = index;
    const found = findColumn((await rows.columns(table)) ?? [], parsePath(path));
    if (found === undefined) return undefined;
    const task = { python, action, type: found.type, table: rows.files(table) };
    const mayTry = async () => {
      await mayWrite();
      // The script takes the table that has this address.
      if (await isAnother(table, seen, await target.describeTable(table), target)) throw new Recreated();
    };
    const built = await buildIndex(task, mayTry, signal);
    if ("version" in built) return built.version;
    given.add(JSON.stringify([table, name]));
    const line = `index ${name} can't be built with Python (${built.problem}), so LanceDB's client builds it`;
    emit({ event: "printed", table, path, line });
    if (built.inDoubt) throw new UnansweredBuild(`${python} gave no answer: ${built.problem}`);
    return undefined;
  };
  const unlessStopped = (error: unknown) => {
    if (error instanceof Recreated || (signal?.aborted === true && error === signal.reason)) return undefined;
    throw error;
  };
  const isLargeAndInUse = async ({ table, index }: CreateIndexAction) =>
    python !== undefined &&
    isPrepared(parsePath(index.path)[0]!) &&
    ((await target.countRows?.(table)) ?? 0) >= manyRows;
  return async (action, seen) => {
    if (!isVectorIndex(action.index)) return await target.execute(action, seen);
    const withPython = async (refusal?: unknown) => {
      const version = await build(action, seen).catch(unlessStopped);
      if (version === undefined && signal?.aborted === true) throw interrupted(action, refusal);
      return version;
    };
    const version = (await isLargeAndInUse(action)) ? await withPython() : undefined;
    if (version !== undefined) return { version };
    try {
      return await target.execute(action, seen);
    } catch (error) {
      if (target.verdict(error).kind !== "conflict") throw error;
      const built = await withPython(error);
      if (built === undefined) throw error;
      return { version: built };
    }
  };
};

/** The table is another one than was seen. */
class Recreated extends Error {}

/** The index may have been built. */
class UnansweredBuild extends ActionFailed {
  override get outcome() {
    return { kind: "unanswered" } as const;
  }
}

/** Else the client would try again, as long as others come first. */
function interrupted({ table, name }: CreateIndexAction, cause: unknown): MigrateError {
  const done = `index ${name} of ${table} is not built yet; run the command again to continue`;
  return new MigrateError("ERR_INTERRUPTED", { done }, { cause });
}
