/**
 * What a target executes, as plain data, and what each action does to the model. Steps compile to actions; every
 * action is one atomic commit on one table.
 */
import { MigrateError } from "../errors.ts";
import { alterColumns, describeAlteration, type Alteration } from "./alter.ts";
import { formatType, type Column } from "./data-type.ts";
import { tableNameProblem } from "./names.ts";
import { checkColumns, getTable, withTable, type Database } from "./table.ts";

export interface CreateTableAction {
  readonly kind: "createTable";
  readonly table: string;
  readonly columns: readonly Column[];
}

export interface AlterColumnsAction {
  readonly kind: "alterColumns";
  readonly table: string;
  readonly alterations: readonly Alteration[];
}

export type Action = CreateTableAction | AlterColumnsAction;
export type ActionKind = Action["kind"];

interface ActionModel<Kind extends ActionKind> {
  /** The database after the action. Throws what the engine would refuse, and what it would accept and break on. */
  readonly apply: (database: Database, action: Extract<Action, { kind: Kind }>) => Database;
  /** The action in words. */
  readonly describe: (action: Extract<Action, { kind: Kind }>) => string;
}

const models: { readonly [Kind in ActionKind]: ActionModel<Kind> } = {
  createTable: {
    apply: (database, { table, columns }) => {
      const problem = tableNameProblem(table);
      if (problem !== undefined) throw new MigrateError("ERR_TABLE_NAME", { table, problem });
      if (database.has(table)) throw new MigrateError("ERR_TABLE_EXISTS", { table });
      checkColumns(columns, table);
      return withTable(database, table, { columns });
    },
    describe: ({ table, columns }) => `create table ${table} (${columns.map(describeColumn).join(", ")})`,
  },
  alterColumns: {
    apply: (database, { table, alterations }) =>
      withTable(database, table, alterColumns(table, getTable(database, table), alterations)),
    describe: ({ table, alterations }) => alterations.map((one) => describeAlteration(table, one)).join(", "),
  },
};

function describeColumn(column: Column): string {
  return `${column.name} ${formatType(column.type)}${column.nullable ? "" : " not null"}`;
}

/** The database after an action. Throws a MigrateError with the reason when the action can't work. */
export function applyAction(database: Database, action: Action): Database {
  return modelOf(action).apply(database, action);
}

/** An action in words, for plans and progress. */
export function describeAction(action: Action): string {
  return modelOf(action).describe(action);
}

function modelOf(action: Action): ActionModel<ActionKind> {
  // Each entry takes just its own kind, which TypeScript can't follow through the lookup.
  return models[action.kind] as ActionModel<ActionKind>;
}
