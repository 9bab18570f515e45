/** Tracks which table each action of a migration is about, across renames. Pure. */
import type { Action } from "../../actions/model/action.ts";

export interface Lineage {
  /** Its name before the migration; undefined if the migration creates it. */
  readonly origin: string | undefined;
  /** Its name after the migration; undefined if the migration drops it. */
  readonly last: string | undefined;
}

/** The table that each action is about. Actions on the same table share one object. */
export function lineagesOf(actions: readonly Action[]): readonly Lineage[] {
  const named = new Map<string, { origin: string | undefined; last: string | undefined }>();
  return actions.map((action) => {
    const { table } = action;
    const origin = action.kind === "createTable" ? undefined : table;
    const lineage = named.get(table) ?? { origin, last: table };
    named.delete(table);
    lineage.last = nameAfter(action);
    if (lineage.last !== undefined) named.set(lineage.last, lineage);
    return lineage;
  });
}

function nameAfter(action: Action): string | undefined {
  if (action.kind === "dropTable") return undefined;
  return action.kind === "renameTable" ? action.name : action.table;
}
