/** Metadata of columns that others set right before a call, and that the call lost. Pure. */
import type { Action, MetadataUpdate } from "../../actions/model/action.ts";
import { resultOf } from "../../actions/apply-action.ts";
import { ownValue, sameColumns, type Column } from "../../schema/data-type.ts";
import { withoutMetadata } from "../../schema/metadata.ts";
import { formatPath } from "../../schema/path.ts";
import { columnPaths, findColumn, type Table } from "../../schema/table.ts";

/**
 * The updates that set it again, except what others have set after the call, as `now` shows. `before`, `after`: the
 * table around the commit. Empty if the commit is not the call's, because the table was recreated since.
 */
export function metadataToReset(action: Action, before: Table, after: Table, now: Table): readonly MetadataUpdate[] {
  // Undefined if it was another table at that point.
  const expected = resultOf(action, before);
  if (expected === undefined || !sameColumns(bare(expected), bare(after))) return [];
  return columnPaths(after.columns).flatMap((path): readonly MetadataUpdate[] => {
    const [wanted, got, current] = [expected, after, now].map(
      ({ columns }) => findColumn(columns, path)?.metadata ?? {},
    );
    if (findColumn(expected.columns, path) === undefined || findColumn(now.columns, path) === undefined) return [];
    const keys = new Set([...Object.keys(wanted!), ...Object.keys(got!)]);
    const lost = [...keys].flatMap((key) => {
      const [should, left, is] = [wanted, got, current].map((all) => ownValue(all!, key) ?? null);
      return should !== left && left === is ? [[key, should!] as const] : [];
    });
    return lost.length === 0 ? [] : [{ path: formatPath(path), metadata: Object.fromEntries(lost) }];
  });
}

function bare({ columns }: Table): readonly Column[] {
  return columns.map(withoutMetadata);
}
