/** A target to whose table somebody appends right before each call that this could get in the way of. */
import type { Action } from "../../src/schema/action.ts";
import { keepsOut } from "../../src/schema/actions/guard.ts";
import type { Target } from "../../src/targets/target.ts";
import { lancedb } from "../support/tables.ts";

export function crowded(target: Target, crowd: { readonly folder: string; readonly table: string }): Target {
  return {
    ...target,
    async execute(action, seen) {
      if (seen !== undefined && action.table === crowd.table && writesFiles(action) && !keepsOut(seen.table))
        await append(crowd);
      return await target.execute(action, seen);
    },
  };
}

/** For all rows of the table, so that it conflicts with an append. */
function writesFiles(action: Action): boolean {
  return (
    action.kind === "addColumns" ||
    (action.kind === "alterColumns" && action.alterations.some(({ type }) => type !== undefined))
  );
}

/** The row is deleted again, so that nobody has to know of it. */
async function append({ folder, table: name }: { readonly folder: string; readonly table: string }): Promise<void> {
  const db = await lancedb.connect(folder);
  const table = await db.openTable(name);
  await table.add([{ id: -1 }]);
  await table.delete("id = -1");
  db.close();
}
