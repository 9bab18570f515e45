import { MigrateError } from "../../../errors/migrate-error.ts";
import { isRecreatable } from "../../../schema/table-index.ts";
import type { DropIndexAction } from "../../model/action.ts";
import type { ActionModel } from "../../model/action-model.ts";

export const dropIndex: ActionModel<DropIndexAction> = {
  kind: "dropIndex",
  after: (before, { table, name }) => {
    // An index that no migration created may exist anyway: an application may have created it.
    if (before.indexes?.[name] === null)
      throw new MigrateError("ERR_INDEX", { table, name, problem: "is not there at this point" });
    return { ...before, indexes: { ...before.indexes, [name]: null } };
  },
  invert: ({ table, name }, { indexes }) => {
    const index = indexes?.[name] ?? undefined;
    if (index === undefined) return { lost: `no migration created index ${name}, so how to recreate it is unknown` };
    if (!isRecreatable(index)) return { lost: `index ${name} can't be recreated: ${index.stuck}` };
    return { actions: [{ kind: "createIndex", table, name, index }], blockers: [] };
  },
  describe: ({ table, name }) => `drop index ${name} of ${table}`,
};
