import { isReserved } from "../../../actions/rewrite/append-guard.ts";
import { writtenBy } from "../../../actions/apply-action.ts";
import { isNew, type Rule } from "./rule.ts";

/** Reports actions that write a column in every row. */
export const fullRewrite = {
  id: "full-rewrite",
  severity: "note",
  finds: "a retype, a new column with values, or an update of all rows",
  check: ({ action, commits }, surroundings) => {
    const { table } = action;
    if (isNew(table, surroundings)) return [];
    const written = commits.flatMap(({ action: one, before }) => {
      const what = writtenBy(one, before.get(one.table));
      return what !== undefined && "columns" in what && what.where === undefined ? what.columns : [];
    });
    if (written.length === 0) return [];
    // The tool's own columns are temporary. A conversion writes to one of them, so the target column is named instead.
    const others = written.map(({ name }) => name).filter((name) => !isReserved(name));
    const names = action.kind === "convertColumn" ? [action.path] : [...new Set(others)];
    const columns = names.length > 3 ? `${names.length} columns` : names.join(", ");
    return [
      {
        message: `rewrites ${columns} in every row of ${table}; see with migrate plan how much that is, and limit it with guards.maxRewriteBytes`,
      },
    ];
  },
} as const satisfies Rule;
