/** Converts actions to steps that do the same, to write them into a migration. */
import type { Action, AddedColumn } from "../../../actions/model/action.ts";
import type { Alteration } from "../../../actions/model/alteration.ts";
import { indexName } from "../../../steps/kinds/tables/create-index.ts";
import type { Step } from "../../../steps/registry.ts";

/** Undefined if no step does the same. */
export function stepsOfAction(action: Action): readonly Step[] | undefined {
  const { table } = action;
  switch (action.kind) {
    // These have the same fields as their steps.
    case "refreshColumn":
    case "dropTable":
    case "optimizeTable":
    case "rebuildIndex":
    case "renameTable":
    case "dropIndex":
    case "insertRows":
      return [action];
    case "alterColumns":
      return [alteringStep(table, action.alterations)];
    case "convertColumn":
      return [{ kind: "retypeColumn", table, path: action.path, type: action.type, using: action.using }];
    case "addColumns":
      return action.columns.map((column) => addingStep(table, column));
    case "addField":
      return [{ kind: "addColumn", table, name: action.path, type: action.type, nullable: action.nullable }];
    case "dropColumns":
      return action.paths.map((path) => ({ kind: "dropColumn", table, path }));
    case "createTable":
      return [{ ...action, columns: [...action.columns] }];
    case "createIndex": {
      const { path, ...type } = action.index;
      return [
        {
          kind: "createIndex",
          table,
          path,
          type,
          ...(action.name !== indexName(path) && { name: action.name }),
          ...(action.replace === true && { replace: true }),
          ...action.condition,
        },
      ];
    }
    case "setMetadata":
      return action.updates.map(({ path, metadata }) => ({
        kind: "setMetadata",
        table,
        path,
        metadata: { ...metadata },
        ...(action.replace === true && { replace: true }),
      }));
    case "updateRows":
      return [
        {
          kind: "execute",
          table,
          change: { update: { ...action.set }, ...(action.where !== undefined && { where: action.where }) },
        },
      ];
    case "deleteRows":
      return [{ kind: "execute", table, change: { delete: action.where } }];
    case "restoreTable":
    case "putBackRows":
      return undefined;
  }
}

/** The step that adds a column, which may be computed. */
export function addingStep(table: string, { name, type, nullable, as, computed }: AddedColumn): Step {
  if (computed !== undefined) return { kind: "addComputedColumn", table, name, type, computed };
  return { kind: "addColumn", table, name, type, nullable, ...(as !== undefined && { as }) };
}

/** A more specific step for a single change; `alterColumns` for several. */
function alteringStep(table: string, alterations: readonly Alteration[]): Step {
  const [only, ...others] = alterations;
  if (only !== undefined && others.length === 0) {
    const { path, rename, type, nullable } = only;
    const changes = [rename, type, nullable].filter((change) => change !== undefined).length;
    if (changes === 1 && rename !== undefined) return { kind: "renameColumn", table, path, name: rename };
    if (changes === 1 && type !== undefined) return { kind: "retypeColumn", table, path, type };
    if (changes === 1 && nullable !== undefined) return { kind: "setNullable", table, path, nullable };
  }
  return { kind: "alterColumns", table, alterations: alterations.map((one) => ({ ...one })) };
}
