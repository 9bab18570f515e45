/**
 * Lists the tables that must still be the ones that the migrations left: a rollback would destroy data of a recreated
 * table. Pure.
 */
import type { StepPlace } from "../../errors/migrate-error.ts";
import type { OwnVersions } from "../../ledger/state/record.ts";
import type { Action, ActionKind } from "../../actions/model/action.ts";
import { ownValue } from "../../schema/data-type.ts";
import type { SeenVersion } from "../../schema/table-identity.ts";
import { tableBefore } from "../../actions/follow.ts";
import type { Plan } from "../make-plan.ts";

interface IdentityQuestion {
  readonly place: StepPlace;
  readonly kind: ActionKind;
  /** The table's current name. */
  readonly table: string;
  /** The versions that the ledger knows of it, newest first. */
  readonly seen: readonly SeenVersion[];
  /** The version that would be restored. */
  readonly restores?: SeenVersion;
}

/** Other actions lose nothing of a table, or each value that they may lose is asked about. */
const losing: ReadonlySet<ActionKind> = new Set(["dropTable", "dropColumns", "restoreTable"]);

export function identityQuestions({ now, migrations }: Plan): readonly IdentityQuestion[] {
  const before: Action[] = [];
  return migrations.flatMap(({ actions, tables, migration }) =>
    actions.flatMap(({ action, place }): readonly IdentityQuestion[] => {
      const table = tableBefore(action.table, before, now);
      before.push(action);
      const own = ownValue(tables, action.table);
      if (table === undefined || own === undefined || !losing.has(action.kind)) return [];
      // The ledger's entry under this name is the table that the migration renamed before it created this one.
      const isRenamed = migration.steps.some((step) => step.kind === "renameTable" && step.table === action.table);
      if (action.kind === "dropTable" && isRenamed) return [];
      const { kind } = action;
      const restores = kind === "restoreTable" && { restores: { version: action.version, at: action.at } };
      return [{ place, kind, table, seen: seenIn(own), ...restores }];
    }),
  );
}

function seenIn([before, after, , times]: OwnVersions): readonly SeenVersion[] {
  const both = [
    [after, times?.[1]],
    [before, times?.[0]],
  ] as const;
  return both.flatMap(([version, at]) => (version === null ? [] : [{ version, at: at ?? undefined }]));
}
