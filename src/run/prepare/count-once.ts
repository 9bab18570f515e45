/**
 * A run plans twice, before it has the lease and under it. What it has counted, it counts again only if rows may differ,
 * and it tries nothing twice.
 */
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";
import { isAnother } from "../check/foreign-changes.ts";

/** The target, which remembers what it has counted and tried. */
export function countingOnce(target: Target): Target {
  return { ...target, ...countedOnce(target), ...triedOnce(target) };
}

/** The answer to a trial depends on nothing else, as no rows are read. */
function triedOnce({ tryCall }: Target): Pick<Target, "tryCall"> {
  if (tryCall === undefined) return {};
  const answers = new Map<string, ReturnType<typeof tryCall>>();
  return {
    async tryCall(columns, call) {
      const question = JSON.stringify([columns, call]);
      const answer = answers.get(question) ?? tryCall(columns, call);
      answers.set(question, answer);
      return await answer;
    },
  };
}

/**
 * Remembers what was counted in the newest version of a table. Without instances, a table that was dropped and recreated
 * can have the same version, so nothing is remembered.
 */
function countedOnce(target: Target): Pick<Target, "countRows"> {
  const { countRows, instance } = target;
  if (countRows === undefined || instance === undefined) return {};
  const known = new Map<string, { readonly seen: TableSnapshot; readonly rows: number }>();
  return {
    async countRows(table, predicate, version, most) {
      // Without a predicate, a target knows the number without reading rows.
      if (predicate === undefined || version !== undefined) return await countRows(table, predicate, version, most);
      const seen = await target.describeTable(table);
      const question = JSON.stringify([table, predicate, most]);
      const before = known.get(question);
      if (before !== undefined && (await isUnchanged(table, before.seen, seen, target))) return before.rows;
      const rows = await countRows(table, predicate, version, most);
      // The table was described before. So if it still has that version later, that is the version that was counted.
      if (seen !== undefined) known.set(question, { seen, rows });
      return rows;
    },
  };
}

async function isUnchanged(
  table: string,
  before: TableSnapshot,
  now: TableSnapshot | undefined,
  target: Target,
): Promise<boolean> {
  const isSame = before.version !== undefined && before.version === now?.version;
  return isSame && !(await isAnother(table, before, now, target));
}
