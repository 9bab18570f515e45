/** What a rule of `lint` is: what it finds dangerous in a step that can work. Pure. */
import type { Migration } from "../../../migrations/load.ts";
import type { Database } from "../../../schema/table.ts";
import type { OtherTarget } from "./other-targets.ts";
import type { PlannedAction } from "../../../plan/make-plan.ts";

export const severities = ["error", "warning", "note"] as const;
export type Severity = (typeof severities)[number];

export interface Rule {
  /** Kebab-case: it stands in comments and configurations. */
  readonly id: string;
  /** Unless the configuration says otherwise. */
  readonly severity: Severity;
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
  /** What files of the application say of its tables. */
  readonly declared: readonly Declared[];
  /** The targets of the configuration that are not looked at now. */
  readonly others: readonly OtherTarget[];
}

/** Tables as a file of the application has them, such as its `schema.ts`. */
export interface Declared {
  readonly file: string;
  readonly tables: Database;
  /** What is to be done where it has an old name. */
  readonly hint: string;
}

/** One sentence that says what happens, and the way out. */
export interface Remark {
  readonly message: string;
  /** The word in the step that it is about: a name, or a path. */
  readonly word?: string | undefined;
}

/** Whether the same migration has made the table, so that nobody else has rows in it yet. */
export function isNew(table: string, { earlier }: Pick<Surroundings, "earlier">): boolean {
  return earlier().some(({ action }) => action.kind === "createTable" && action.table === table);
}
