/** The expected state of a table after a late call, whatever state the call found. Pure. */
import type { PartialAction } from "../../ledger/state/record.ts";
import type { Action, ActionKind } from "../../actions/model/action.ts";
import { rewrites, tablesOfAction } from "../../actions/apply-action.ts";
import { sameColumn } from "../../schema/data-type.ts";
import { parsePath } from "../../schema/path.ts";
import { sameIndex } from "../../schema/table-index.ts";
import { nulls, type Table } from "../../schema/table.ts";
import { knowing, stillKept, type Known } from "./preserved.ts";

/**
 * The table as migrations know it, plus the indexes and metadata that the call may have changed beyond that: those that
 * it creates must be absent, and those of others that it had to put back must exist, or be absent if the table was
 * replaced since. `since`: the actions after the call.
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
 * The expected table in the middle of an action. `state` does not contain indexes and metadata that others may have
 * changed; this adds those that the action does not affect. `expected`: the table before the action; `after`: when it
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

/** After actions of these kinds, a table of that name is another table. */
const newTables: ReadonlySet<ActionKind> = new Set(["createTable", "dropTable", "renameTable"]);

function absent(indexes: object, metadata: readonly (readonly [path: string, values: object])[]): Known {
  return {
    indexes: nulls(indexes),
    metadata: Object.fromEntries(metadata.map(([path, values]) => [path, nulls(values)])),
  };
}
