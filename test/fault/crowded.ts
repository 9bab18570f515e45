/** A target to whose table somebody appends right before each call that this could get in the way of. */
import type { Action } from "../../src/actions/model/action.ts";
import { keepsOut } from "../../src/actions/rewrite/append-guard.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { lancedb } from "../support/tables.ts";

export function crowded(target: Target, crowd: Crowd): Target {
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
    action.kind === "addField" ||
    (action.kind === "alterColumns" && action.alterations.some(({ type }) => type !== undefined))
  );
}

interface Crowd {
  readonly folder: string;
  readonly table: string;
}

/** The row is deleted again, so that nobody has to know of it. */
async function append(crowd: Crowd): Promise<void> {
  const db = await lancedb.connect(crowd.folder);
  await (await db.openTable(crowd.table)).add([{ id: -1 }]);
  db.close();
  await deleteAppended(crowd);
}

/**
 * Also for a process that was killed between the two, at a call that it made at the same time. Where the column has another
 * name for a moment, the row is not there: it is deleted before the next call.
 */
export async function deleteAppended({ folder, table: name }: Crowd): Promise<void> {
  const db = await lancedb.connect(folder);
  const table = await db.openTable(name);
  const { fields } = await table.schema();
  if (fields.some((field) => field.name === "id")) await table.delete("id = -1");
  db.close();
}
