/**
 * What a target executes, as plain data, and what each action does to the model. Steps compile to actions; every
 * action is one atomic commit on one table.
 */
import { MigrateError } from "../errors.ts";
import { alterColumns, describeAlteration, type Alteration } from "./alter.ts";
import { formatType, type Column } from "./data-type.ts";
import { tableNameProblem } from "./names.ts";
import { checkColumns, getTable, type Database, type Table } from "./table.ts";

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
  /** The action's table after it. Throws what the engine would refuse, and what it would accept and break on. */
  readonly after: (database: Database, action: Extract<Action, { kind: Kind }>) => Table;
  /** The action in words. */
  readonly describe: (action: Extract<Action, { kind: Kind }>) => string;
}

const models: { readonly [Kind in ActionKind]: ActionModel<Kind> } = {
  createTable: {
    after: (database, { table, columns }) => {
      const problem = tableNameProblem(table);
      if (problem !== undefined) throw new MigrateError("ERR_TABLE_NAME", { table, problem });
      if (database.has(table)) throw new MigrateError("ERR_TABLE_EXISTS", { table });
      checkColumns(columns, table);
      return { columns };
    },
    describe: ({ table, columns }) => `create table ${table} (${columns.map(describeColumn).join(", ")})`,
  },
  alterColumns: {
    after: (database, { table, alterations }) => alterColumns(table, getTable(database, table), alterations),
    describe: ({ table, alterations }) => alterations.map((one) => describeAlteration(table, one)).join(", "),
  },
};

function describeColumn(column: Column): string {
  return `${column.name} ${formatType(column.type)}${column.nullable ? "" : " not null"}`;
}

/** An action's table after it. Throws a MigrateError with the reason when the action can't work. */
export function tableAfter(database: Database, action: Action): Table {
  return modelOf(action).after(database, action);
}

/** An action in words, for plans and progress. */
export function describeAction(action: Action): string {
  return modelOf(action).describe(action);
}

function modelOf(action: Action): ActionModel<ActionKind> {
  // Each entry takes just its own kind, which TypeScript can't follow through the lookup.
  return models[action.kind] as ActionModel<ActionKind>;
}
