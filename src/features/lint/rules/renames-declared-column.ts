import { formatPath, parsePath } from "../../../schema/path.ts";
import { findColumn } from "../../../schema/table.ts";
import { follow } from "../../../actions/follow.ts";
import type { Declared, Rule } from "./rule.ts";

/** Reports a renamed column that the application's schema or types still declare under the old name. */
export const renamesDeclaredColumn = {
  id: "renames-declared-column",
  severity: "warning",
  finds: "a column is renamed, but `schema.ts` or the application's types still declare the old name",
  check: ({ action }, { declared, after, later }) => {
    if (action.kind !== "alterColumns") return [];
    return action.alterations.flatMap(({ path, rename }) => {
      if (rename === undefined) return [];
      const was = parsePath(path);
      // To follow a column through all later actions takes longer.
      if (!declared.some(({ tables }) => [...tables.values()].some((table) => findColumn(table.columns, was))))
        return [];
      const now = follow(
        { table: action.table, path: [...was.slice(0, -1), rename] },
        later().map((one) => one.action),
      );
      if (now === undefined) return [];
      // A column of the old name may exist again: a later migration can add one, and a swap of names makes one.
      if (findColumn(after.get(now.table)?.columns ?? [], was) !== undefined) return [];
      const isOld = ({ tables }: Declared) => {
        const columns = tables.get(now.table)?.columns ?? [];
        return findColumn(columns, was) !== undefined && findColumn(columns, now.path) === undefined;
      };
      return declared.filter(isOld).map(({ file, hint }) => ({
        message: `${file} still declares ${now.table}.${formatPath(was)}, and not ${formatPath(now.path)}: ${hint}`,
        word: formatPath(was),
      }));
    });
  },
} as const satisfies Rule;
