/**
 * Materialized views of the engine: tables whose rows it computes from those of another table when it is asked to
 * (`refresh`). The metadata of their schema states how. Pure.
 */
import { ownValue } from "../../schema/data-type.ts";
import type { Table } from "../../schema/table.ts";

const definitionKey = "mv.definition";
/** Names the row of the source. */
const rowColumn = "__source_row_id";

export interface View {
  /** The name of the table whose rows it has. */
  readonly from: string;
  /** The columns and fields of it that the view reads, as paths. */
  readonly inputs: readonly string[];
}

/** Undefined if the table is none, or the engine has written something else than a definition. */
export function viewOf({ metadata = {} }: Pick<Table, "metadata">): View | undefined {
  const text = ownValue(metadata, definitionKey);
  if (typeof text !== "string") return undefined;
  try {
    const { source_table: from, inputs } = JSON.parse(text) as { source_table?: unknown; inputs?: unknown };
    if (typeof from !== "string" || !Array.isArray(inputs)) return undefined;
    return { from, inputs: inputs.map(String) };
  } catch {
    return undefined;
  }
}

/** The table without what the engine notes in a view, which changes with each refresh. */
export function withoutViewState(table: Table): Table {
  if (viewOf(table) === undefined) return table;
  const { columns, metadata = {} } = table;
  const isKept = (key: string) => key === definitionKey || !key.startsWith("mv.");
  return {
    ...table,
    columns: columns.filter(({ name }) => name !== rowColumn),
    metadata: Object.fromEntries(Object.entries(metadata).filter(([key]) => isKept(key))),
  };
}
