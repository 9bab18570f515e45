import { MigrateError } from "../../../errors/migrate-error.ts";
import { ownValue, type Column } from "../../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../../schema/path.ts";
import { findColumn, requireColumn, type Table } from "../../../schema/table.ts";
import { formatIndex, indexProblem, isRecreatable } from "../../../schema/table-index.ts";
import { trainingRisk } from "../../rewrite/training-risk.ts";
import type { Action, CheckRecallAction, CreateIndexAction, RecallCondition } from "../../model/action.ts";
import type { Risk } from "../../model/risk.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const createIndex: ActionModel<CreateIndexAction> = {
  kind: "createIndex",
  // The parameters of the new index may be all that is new, and not every target reports these.
  changesRows: ({ replace }) => replace === true,
  after: (before, { table, name, index, replace }) => {
    const path = parsePath(index.path);
    const column = requireColumn(table, before.columns, path);
    const misplaced = placeProblem(before.columns, path);
    if (misplaced !== undefined)
      throw new MigrateError("ERR_INDEX", { table, name, problem: `can't be on ${index.path}, ${misplaced}` });
    const there = ownValue(before.indexes, name) ?? undefined;
    if (there !== undefined && replace !== true)
      throw new MigrateError("ERR_INDEX", {
        table,
        name,
        problem: "is there already; pass { replace: true }, or drop it first",
      });
    if (there !== undefined && there.path !== formatPath(path))
      throw new MigrateError("ERR_INDEX", {
        table,
        name,
        problem: `is on ${there.path}, and only an index on the same column can take its place; drop it first`,
      });
    const problem = indexProblem(index, column.type);
    if (problem !== undefined)
      throw new MigrateError("ERR_INDEX", {
        table,
        name,
        problem: `can't be on ${index.path}: ${index.kind} ${problem}`,
      });
    return { ...before, indexes: { ...before.indexes, [name]: { ...index, path: formatPath(path) } } };
  },
  needs: ({ condition }) => (condition === undefined ? ["createIndex"] : ["createIndex", "checkRecall", "dropIndex"]),
  commits: (action, before) => {
    const { condition, ...creating } = action;
    if (condition === undefined) return [{ action }];
    const { table, name, index } = action;
    const undo = undoing(action, before);
    if (undo === undefined)
      throw new MigrateError("ERR_INDEX", {
        table,
        name,
        problem: "may be there, and no migration created it; with minRecall, replace is for indexes of migrations",
      });
    return [{ action: creating }, { action: { kind: "checkRecall", table, name, index, ...condition }, undo }];
  },
  invert: (action, before) => {
    const actions = undoing(action, before);
    if (actions !== undefined) return { actions, blockers: [] };
    return { lost: `no migration created index ${action.name}, so how to recreate it is unknown` };
  },
  writes: ({ name }) => ({ index: name }),
  describe: ({ table, name, index, replace, condition }) =>
    `${replace === true ? "create or replace" : "create"} index ${name} on ${table}.${index.path}: ${formatIndex(index)}${condition === undefined ? "" : `, if its recall@${condition.k} is at least ${condition.minRecall}`}`,
  risks: (action, before, able) => [
    ...trainingRisk(action, before, able),
    ...(action.condition === undefined ? [] : [lowRecall(action.name, action.condition)]),
  ],
};

export const checkRecall: ActionModel<CheckRecallAction> = {
  kind: "checkRecall",
  changesRows: true, // No snapshot shows whether it has run.
  onlyReads: true,
  after: (before) => before,
  invert: () => ({ actions: [], blockers: [] }),
  describe: ({ table, name, index, minRecall, k, sample }) =>
    `check that the recall@${k} of index ${name} is at least ${minRecall}, with ${sample} vectors of ${table}.${index.path}`,
};

/** Undefined if it is unknown which index is replaced. */
function undoing({ table, name, replace }: CreateIndexAction, { indexes }: Table): readonly Action[] | undefined {
  const was = ownValue(indexes, name);
  if (replace !== true || was === null) return [{ kind: "dropIndex", table, name }];
  if (was === undefined || !isRecreatable(was)) return undefined;
  return [{ kind: "createIndex", table, name, index: was, replace }];
}

function lowRecall(name: string, { minRecall, k }: RecallCondition): Risk {
  return { kind: "failure", text: `a recall@${k} of ${name} below ${minRecall} would stop this` };
}

/** Why the engine creates no index at this path, whatever the column's type (measured); undefined if it does. */
function placeProblem(columns: readonly Column[], path: Path): string | undefined {
  const around = path.slice(0, -1).map((_, index) => findColumn(columns, path.slice(0, index + 1))!);
  if (around.some(({ type }) => type.kind !== "struct")) return "which is inside a list";
  return path.length > 1 && /^\d/.test(path[0]!) ? `as ${path[0]!} begins with a digit` : undefined;
}
