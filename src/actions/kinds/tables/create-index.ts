import { MigrateError } from "../../../errors/migrate-error.ts";
import { ownValue, type Column } from "../../../schema/data-type.ts";
import { formatPath, parsePath, type Path } from "../../../schema/path.ts";
import { findColumn, requireColumn } from "../../../schema/table.ts";
import { formatIndex, indexProblem, isVectorIndex, vectorsNeeded } from "../../../schema/table-index.ts";
import type { CheckRecallAction, CreateIndexAction, RecallCondition } from "../../model/action.ts";
import type { Risk } from "../../model/risk.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const createIndex: ActionModel<CreateIndexAction> = {
  kind: "createIndex",
  after: (before, { table, name, index }) => {
    const path = parsePath(index.path);
    const column = requireColumn(table, before.columns, path);
    const misplaced = placeProblem(before.columns, path);
    if (misplaced !== undefined)
      throw new MigrateError("ERR_INDEX", { table, name, problem: `can't be on ${index.path}, ${misplaced}` });
    if ((ownValue(before.indexes, name) ?? null) !== null)
      throw new MigrateError("ERR_INDEX", { table, name, problem: "is there already; drop it first" });
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
  commits: (action) => {
    const { condition, ...creating } = action;
    if (condition === undefined) return [{ action }];
    const { table, name, index } = action;
    const undo = [{ kind: "dropIndex", table, name }] as const;
    return [{ action: creating }, { action: { kind: "checkRecall", table, name, index, ...condition }, undo }];
  },
  invert: ({ table, name }) => ({ actions: [{ kind: "dropIndex", table, name }], obstacles: [] }),
  writes: ({ name }) => ({ index: name }),
  describe: ({ table, name, index, condition }) =>
    `create index ${name} on ${table}.${index.path}: ${formatIndex(index)}${condition === undefined ? "" : `, if its recall@${condition.k} is at least ${condition.minRecall}`}`,
  risks: ({ table, name, index, condition }, { columns }) =>
    isVectorIndex(index)
      ? [
          {
            kind: "failure",
            text: `too few rows in ${table} would stop this: a vector index needs some, and one with product quantization 256`,
            obstacle: {
              kind: "vectors",
              table,
              path: index.path,
              least: vectorsNeeded(index, findColumn(columns, parsePath(index.path))?.type),
            },
          },
          ...(condition === undefined ? [] : [lowRecall(name, condition)]),
        ]
      : [],
};

export const checkRecall: ActionModel<CheckRecallAction> = {
  kind: "checkRecall",
  changesRows: true, // No snapshot shows whether it has run.
  onlyReads: true,
  after: (before) => before,
  invert: () => ({ actions: [], obstacles: [] }),
  describe: ({ table, name, index, minRecall, k, sample }) =>
    `check that the recall@${k} of index ${name} is at least ${minRecall}, with ${sample} vectors of ${table}.${index.path}`,
};

function lowRecall(name: string, { minRecall, k }: RecallCondition): Risk {
  return { kind: "failure", text: `a recall@${k} of ${name} below ${minRecall} would stop this` };
}

/** Why the engine creates no index at this path, whatever the column's type (measured); undefined if it does. */
function placeProblem(columns: readonly Column[], path: Path): string | undefined {
  const around = path.slice(0, -1).map((_, index) => findColumn(columns, path.slice(0, index + 1))!);
  if (around.some(({ type }) => type.kind !== "struct")) return "which is inside a list";
  return path.length > 1 && /^\d/.test(path[0]!) ? `as ${path[0]!} begins with a digit` : undefined;
}
