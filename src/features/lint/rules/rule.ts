/** The interface of a rule of `lint`, which reports what is dangerous in a step that can work. Pure. */
import type { Migration } from "../../../migrations/load.ts";
import type { Database } from "../../../schema/table.ts";
import type { PlannedAction } from "../../../plan/make-plan.ts";
import type { OtherTarget } from "../../../plan/problems-elsewhere.ts";

export type Severity = "error" | "warning" | "note";

export interface Rule {
  /** In kebab-case; used in comments and in the configuration. */
  readonly id: string;
  /** The default severity. */
  readonly severity: Severity;
  /** As in the table of docs/lint.md. */
  readonly finds: string;
  readonly check: (action: PlannedAction, surroundings: Surroundings) => readonly Remark[];
}

export interface Surroundings {
  readonly migration: Migration;
  /** The actions of the same migration before this one. */
  readonly earlier: () => readonly PlannedAction[];
  /** All actions after this one, in this migration and the next ones. */
  readonly later: () => readonly PlannedAction[];
  /** The tables after all migrations. */
  readonly after: Database;
  readonly declared: readonly Declared[];
  /** The configured targets other than the chosen one. */
  readonly others: readonly OtherTarget[];
}

/** The tables that a file of the application declares, such as its `schema.ts`. */
export interface Declared {
  readonly file: string;
  readonly tables: Database;
  /** What to do if the file has an old name. */
  readonly hint: string;
}

/** A finding: one sentence on what happens and what to do about it. */
export interface Remark {
  readonly message: string;
  /** The name or path in the step that the finding is about. */
  readonly word?: string | undefined;
}

/** Whether the same migration creates the table, so that no other writer has rows in it yet. */
export function isNew(table: string, { earlier }: Pick<Surroundings, "earlier">): boolean {
  return earlier().some(({ action }) => action.kind === "createTable" && action.table === table);
}
