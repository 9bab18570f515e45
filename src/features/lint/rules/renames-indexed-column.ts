import { formatPath, isWithin, parsePath } from "../../../schema/path.ts";
import { ownValue } from "../../../schema/data-type.ts";
import type { Rule } from "./rule.ts";

/** Reports the rename of an indexed column: an application is likely to search by its name. */
export const renamesIndexedColumn = {
  id: "renames-indexed-column",
  severity: "note",
  finds: "a column with an index is renamed",
  check: ({ action, before, after }) => {
    if (action.kind !== "alterColumns") return [];
    const { table } = action;
    const indexes = Object.entries(before.get(table)?.indexes ?? {});
    return action.alterations.flatMap(({ path, rename }) => {
      const at = parsePath(path);
      if (rename === undefined) return [];
      return indexes
        .filter(([, index]) => index !== null && isWithin(parsePath(index.path), at))
        .map(([name, index]) => {
          const now = ownValue(after.get(table)?.indexes, name)?.path ?? formatPath([...at.slice(0, -1), rename]);
          return {
            message: `index ${name} of ${table} keeps its name and is on ${now} from here on, and the engine refuses queries that name ${index!.path}: change those together with this`,
            word: formatPath(at),
          };
        });
    });
  },
} as const satisfies Rule;
