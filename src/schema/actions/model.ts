/** What an action kind is: what it does to the model, and its words. */
import type { Risk } from "../risk.ts";
import type { Database, Table, Tables } from "../table.ts";

/** What every action has: its kind, and the table that it is about. */
export interface ActionOf<Kind extends string> {
  readonly kind: Kind;
  readonly table: string;
}

export interface ActionModel<Action extends ActionOf<string>> {
  readonly kind: Action["kind"];
  /**
   * The tables that it changes, as they are after it. Throws what the engine would refuse, and what it would accept and
   * break on.
   */
  readonly after: (database: Database, action: Action) => Tables;
  /** The action in words. */
  readonly describe: (action: Action) => string;
  /** What people should know before it runs on that table. */
  readonly risks?: (action: Action, before: Table) => readonly Risk[];
  /** All tables that it touches; its own when absent. */
  readonly tables?: (action: Action) => readonly string[];
  /**
   * It changes rows and no schema, so no look tells whether it has run. Running it once more makes nothing worse.
   */
  readonly changesRows?: true;
}

export function defineAction<Action extends ActionOf<string>>(model: ActionModel<Action>): ActionModel<Action> {
  return model;
}
