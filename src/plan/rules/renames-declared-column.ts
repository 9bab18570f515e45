import { formatPath, parsePath } from "../../schema/path.ts";
import { findColumn } from "../../schema/table.ts";
import type { Rule } from "./rule.ts";

/** A column that the application's schema still declares under its old name. */
export const renamesDeclaredColumn = {
  id: "renames-declared-column",
  severity: "warning",
  check: ({ action }, { declared, after }) => {
    const { table } = action.kind === "alterColumns" ? action : { table: "" };
    const wanted = declared?.tables.get(table)?.columns;
    if (action.kind !== "alterColumns" || declared === undefined || wanted === undefined) return [];
    const now = after.get(table)?.columns ?? [];
    return action.alterations.flatMap(({ path, rename }) => {
      if (rename === undefined) return [];
      const was = parsePath(path);
      const is = [...was.slice(0, -1), rename];
      // Another migration may have made a column of that name since, as a swap does at once.
      if (findColumn(wanted, was) === undefined || findColumn(now, was) !== undefined) return [];
      if (findColumn(wanted, is) !== undefined) return [];
      return [
        {
          message: `${declared.file} still declares ${table}.${formatPath(was)}, and not ${formatPath(is)}: rename it there, and in what uses it`,
          word: was.at(-1)!,
        },
      ];
    });
  },
} as const satisfies Rule;
