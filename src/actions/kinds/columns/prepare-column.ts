import type { PrepareColumnAction } from "../../model/action.ts";
import { conflict } from "../../model/conflict.ts";
import type { ActionModel } from "../../model/action-model.ts";
import { checkComputation, describeComputation, keyRisk } from "../../rewrite/check-computation.ts";
import { keptMark, preparedAs } from "../../rewrite/prepared-columns.ts";
import { trainingRisk } from "../../rewrite/training-risk.ts";
import { isIntact, isPending } from "../../rewrite/source-marks.ts";
import { parsePath } from "../../../schema/path.ts";
import { namesIn } from "../../../schema/sql.ts";
import { formatType } from "../../../schema/data-type.ts";
import { formatIndex, indexProblem } from "../../../schema/table-index.ts";
import { MigrateError } from "../../../errors/migrate-error.ts";

export const prepareColumn: ActionModel<PrepareColumnAction> = {
  kind: "prepareColumn",
  changesRows: true,
  needs: ({ index, condition }) => [
    "addColumns",
    "fillColumn",
    "dropColumns",
    ...(index === undefined ? [] : (["createIndex", "dropIndex", "setMetadata"] as const)),
    ...(condition === undefined ? [] : (["checkRecall"] as const)),
  ],
  after: (before, action) => {
    const { table, path, type, index, into = path } = action;
    checkComputation(before, { ...action, path: into });
    const name = parsePath(into)[0]!;
    if (namesIn(action.where ?? "").some((one) => one.toLowerCase() === name.toLowerCase()))
      throw conflict(table, `\`where\` can't use ${name}, which has other values after the switch; use another column`);
    const problem = index && indexProblem(index, type);
    if (index !== undefined && problem !== undefined)
      throw new MigrateError("ERR_INDEX", {
        table,
        name: index.name,
        problem: `can't be on ${path} with the type ${formatType(type)}: ${index.kind} ${problem}`,
      });
    return before;
  },
  invert: () => ({ actions: [], blockers: [] }),
  writes: ({ path, type, where }) => ({ columns: [{ name: path, type, nullable: true }], where }),
  gives: (action) => [{ path: [preparedAs(action).next], sql: undefined }],
  computes: (action) => {
    const { next, mark } = preparedAs(action);
    const { into, marked } = action;
    const intact = into === undefined ? undefined : isIntact(action, next, marked, keptMark(next));
    return {
      column: next,
      how: action,
      mark,
      pending: isPending({ ...action, mark, overwrite: true }, next),
      overwrite: true,
      lacking: intact && `not (${intact})`,
    };
  },
  describe: (action) => {
    const { table, path, type, index, condition, into, where, evaluate } = action;
    if (into !== undefined)
      return `compute ${table}.${into} ${describeComputation(action)}, in rows whose old value is not known to be current${where === undefined ? "" : `, with ${where}`}`;
    const recall = condition && `, if the recall@${condition.k} is at least ${condition.minRecall}`;
    const indexed = index === undefined ? "" : `, and index them: ${formatIndex(index)}${recall ?? ""}`;
    const least = evaluate?.least === undefined ? "" : `, if at least ${evaluate.least} of the rows are found`;
    const evaluated = evaluate === undefined ? "" : `, and evaluate them with ${evaluate.file}${least}`;
    return `compute new values of ${table}.${path} as ${formatType(type)} ${describeComputation(action)}${indexed}${evaluated}`;
  },
  risks: ({ table, path, key, index }, before, able) => {
    const risk = keyRisk({ table, key });
    if (index === undefined) return [risk];
    const { name, ...type } = index;
    // Every row has a key, and gets a vector.
    return [risk, ...trainingRisk({ table, name, index: { path, ...type }, counted: key }, before, able)];
  },
};
