/** How a run executes actions that are more than one call of the target. All others are calls of the target. */
import type { Action, ActionKind } from "../actions/model/action.ts";
import { isInterruption } from "../errors/migrate-error.ts";
import type { RowAccess } from "../targets/contract/row-access.ts";
import type { TableSnapshot, Target } from "../targets/contract/target.ts";
import { ActionFailed } from "./calls/action-failed.ts";
import type { ExecuteAction, Executor, Executors } from "./run-context.ts";

/** The target, with executors for some kinds of actions. */
export function withExecutors<Context>(target: Target, executors: Executors<Context>, context: Context): Target {
  const begun = new Map<ActionKind, ExecuteAction<never>>();
  const executeOf = (kind: ActionKind): ExecuteAction<never> => {
    const executor = executors[kind] as Executor<never, Context> | undefined;
    if (executor === undefined) return target.execute;
    const execute: Target["execute"] = (action, seen) =>
      action.kind === kind ? target.execute(action, seen) : able.execute(action, seen);
    return executor({ ...able, execute }, context);
  };
  const able: Target = {
    ...target,
    // Nothing is awaited before a call: a run has just checked that it may still send it.
    async execute(action: Action, seen: TableSnapshot | undefined) {
      const execute = begun.get(action.kind) ?? executeOf(action.kind);
      begun.set(action.kind, execute);
      return await execute(action as never, seen);
    },
    verdict: (error) => {
      if (error instanceof ActionFailed) return error.outcome;
      if (!isInterruption(error)) return target.verdict(error);
      return error.cause instanceof ActionFailed ? error.cause.outcome : { kind: "refused" };
    },
    explain(error) {
      if (error instanceof ActionFailed) return error.explanation;
      return isInterruption(error) ? error.message : target.explain(error);
    },
  };
  return able;
}

/** A plan with a step that needs rows is refused on targets that have none. */
export function withRows(target: Target): Target & { readonly rows: RowAccess } {
  const { rows } = target;
  if (rows === undefined) throw new TypeError(`${target.name} can't read rows`);
  return { ...target, rows };
}
