/** Which table each action of a migration is about, whatever it is called by then. Pure. */
import type { Action } from "../../actions/model/action.ts";

export interface Lineage {
  /** Its name before the migration; undefined where the migration makes it. */
  readonly origin: string | undefined;
  /** Its name after the migration; undefined where it is dropped. */
  readonly last: string | undefined;
}

/** For each action the table that it is about: the same object for the same table. */
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
