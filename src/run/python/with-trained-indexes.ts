/**
 * Gives a target vector indexes that others can't starve. The engine refuses an index if `optimize` has joined files while
 * it was built, and an application may do so again before the next try ends. If a Python with pylance is there, it
 * trains such an index only once.
 */
import type { Action, CreateIndexAction } from "../../actions/model/action.ts";
import { findColumn } from "../../schema/table.ts";
import { parsePath } from "../../schema/path.ts";
import { isVectorIndex } from "../../schema/table-index.ts";
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";
import type { RunContext } from "../run-context.ts";

type Project = Pick<RunContext, "emit" | "python" | "signal"> & {
  /** Throws if this run may not write any more. */
  readonly mayWrite: () => Promise<void>;
};

export function withTrainedIndexes(target: Target, project: Project): Target {
  const { python, signal, emit, mayWrite } = project;
  const { rows } = target;
  if (python === undefined || rows?.files === undefined) return target;
  /** Those for which it has not helped. */
  const given = new Set<string>();
  const build = async (action: CreateIndexAction): Promise<number | undefined> => {
    const { table, name, index } = action;
    const { path } = index;
    const found = findColumn((await rows.columns(table)) ?? [], parsePath(path));
    if (found === undefined) return undefined;
    const { buildIndex } = await import("./build-index.ts");
    const task = { python, action, type: found.type, table: rows.files!(table) };
    const built = await buildIndex(task, mayWrite, signal);
    if ("version" in built) return built.version;
    given.add(JSON.stringify([table, name]));
    const line = `index ${name} can't be built with Python (${built.problem}), so LanceDB's client builds it`;
    emit({ event: "printed", table, path, line });
    if (built.inDoubt) throw new NoAnswer(`${python} gave no answer: ${built.problem}`);
    return undefined;
  };
  return {
    ...target,
    async execute(action: Action, seen: TableSnapshot | undefined) {
      try {
        return await target.execute(action, seen);
      } catch (error) {
        const mayHelp =
          action.kind === "createIndex" && isVectorIndex(action.index) && target.verdict(error).kind === "conflict";
        if (!mayHelp || given.has(JSON.stringify([action.table, action.name]))) throw error;
        const version = await build(action).catch((cause: unknown) => {
          throw signal?.aborted === true ? error : cause;
        });
        if (version === undefined) throw error;
        return version;
      }
    },
    verdict: (error) => (error instanceof NoAnswer ? { kind: "unanswered" } : target.verdict(error)),
    explain: (error) => (error instanceof NoAnswer ? error.message : target.explain(error)),
  };
}

/** The index may have been built. */
class NoAnswer extends Error {}
