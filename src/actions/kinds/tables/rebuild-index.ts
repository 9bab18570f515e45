import { MigrateError } from "../../../errors/migrate-error.ts";
import { ownValue } from "../../../schema/data-type.ts";
import { isRecreatable } from "../../../schema/table-index.ts";
import type { Action, RebuildIndexAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";
import { createIndex } from "./create-index.ts";

export const rebuildIndex: ActionModel<RebuildIndexAction> = {
  kind: "rebuildIndex",
  changesRows: true,
  needs: ["createIndex"],
  after: (before, { table, name }) => {
    // An index that no migration created may exist anyway: an application may have created it.
    if (before.indexes?.[name] === null)
      throw new MigrateError("ERR_INDEX", { table, name, problem: "is not there at this point" });
    return before;
  },
  // Its parameters are known from the migration that created it, or from the table.
  commits: (action, before) => [{ action: building(action, before.indexes) ?? action }],
  invert: () => ({ actions: [], blockers: [] }),
  writes: ({ name }) => ({ index: name }),
  describe: ({ table, name }) => `rebuild index ${name} of ${table}`,
  risks: (action, before, able) => {
    const made = building(action, before.indexes);
    return made === undefined ? [] : createIndex.risks!(made, before, able);
  },
};

/** Undefined if the index is unknown. */
function building(
  { table, name }: RebuildIndexAction,
  indexes: Parameters<typeof rebuildIndex.after>[0]["indexes"],
): Extract<Action, { kind: "createIndex" }> | undefined {
  const index = ownValue(indexes, name) ?? undefined;
  if (index === undefined) return undefined;
  if (isRecreatable(index)) return { kind: "createIndex", table, name, index, replace: true };
  throw new MigrateError("ERR_INDEX", { table, name, problem: `can't be rebuilt: ${index.stuck}` });
}
