/** What a table should be like after a call that came late, whatever it may have met there. Pure. */
import type { PartialAction } from "../../ledger/state/record.ts";
import type { Action, ActionKind } from "../../actions/model/action.ts";
import { rewrites, tablesOfAction } from "../../actions/apply-action.ts";
import { sameColumn } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { sameIndex } from "../../schema/table-index.ts";
import type { Table } from "../../schema/table.ts";
import { knowing, stillKept, type Known } from "./preserved.ts";

/**
 * The table as migrations know it, and as far as the call may have changed what they do not know: the indexes and the
 * metadata that it makes are not there, and those of others that it had to put back are. `since`: what was done after it.
 */
export function afterLateCall(
  table: Table,
  action: Action,
  midway: PartialAction | undefined,
  since: readonly Action[],
): Table {
  const isAnother = since.some((one) => newTables.has(one.kind) && tablesOfAction(one).includes(action.table));
  const kept = midway && stillKept(table, midway);
  const own = isAnother && kept ? absent(kept.indexes, Object.entries(kept.metadata)) : kept;
  const made = absent(
    action.kind === "createIndex" ? { [action.name]: action.index } : {},
    action.kind === "setMetadata" ? action.updates.map(({ path, metadata }) => [path, metadata] as const) : [],
  );
  return knowing(own ? knowing(table, own) : table, made);
}

/**
 * The table in the middle of an action, where a state tells nothing of the indexes and the metadata that others may have
 * changed, with those that the action lets be. `expected`: what it is like when the action has not begun; `after`: when it
 * is done.
 */
export function inTheMiddle(state: Table, expected: Table, action: Action, after: Table | undefined): Table {
  const rewritten = rewrites(action);
  const isLetBe = (path: string) => !rewritten.has(parsePath(path)[0]!);
  const indexes = Object.entries(expected.indexes ?? {}).filter(
    ([name, index]) => sameIndex(index, after?.indexes?.[name] ?? index) && (index === null || isLetBe(index.path)),
  );
  const columns = state.columns.map((column) => {
    const before = rewritten.has(column.name) ? undefined : expected.columns.find(({ name }) => name === column.name);
    return before !== undefined && sameColumn(column, before) ? before : column;
  });
  return { ...state, columns, indexes: { ...Object.fromEntries(indexes), ...state.indexes } };
}

/** After these the table of that name is another one. */
const newTables: ReadonlySet<ActionKind> = new Set(["createTable", "dropTable", "renameTable"]);

function absent(indexes: object, metadata: readonly (readonly [path: string, values: object])[]): Known {
  return {
    indexes: nulls(indexes),
    metadata: Object.fromEntries(metadata.map(([path, values]) => [path, nulls(values)])),
  };
}

function nulls(values: object): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(values).map((key) => [key, null]));
}
