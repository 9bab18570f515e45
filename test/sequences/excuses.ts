/** What the fold takes and the engine may refuse all the same, for the rows that are there. */
import type { Action } from "../../src/actions/model/action.ts";
import { castVerdict } from "../../src/schema/cast-rules.ts";
import type { DataType } from "../../src/schema/data-type.ts";
import { parsePath } from "../../src/schema/path.ts";
import { findColumn, type Database, type Table } from "../../src/schema/table.ts";
import { isVectorIndex } from "../../src/schema/table-index.ts";
import { compileStep, type Step } from "../../src/steps/registry.ts";
import { connect } from "../../src/engine/engine.ts";
import { literalOf, quoted } from "./sql.ts";

export async function excuse(step: Step, database: Database, folder: string): Promise<boolean> {
  for (const action of compileStep(step)) if (await mayFail(action, database.get(action.table), folder)) return true;
  return false;
}

async function mayFail(action: Action, table: Table | undefined, folder: string): Promise<boolean> {
  if (table === undefined) return false;
  const typeOf = (path: string) => findColumn(table.columns, parsePath(path))!.type;
  switch (action.kind) {
    case "addColumns":
      return action.columns.some(
        ({ type, nullable, as, computed = as }) => computed !== undefined && !isSafe(computed, type, nullable),
      );
    case "alterColumns":
      for (const { path, type, nullable } of action.alterations) {
        if (nullable === false && (await holdsNulls(folder, action.table, path))) return true;
        const verdict = type && castVerdict(typeOf(path), type);
        if (verdict?.allowed === true && verdict.mayFail) return true;
      }
      return false;
    case "convertColumn":
      return !isSafe(action.using, action.type, findColumn(table.columns, parsePath(action.path))!.nullable);
    case "createIndex":
      // Rows without a vector teach an index nothing.
      return isVectorIndex(action.index) && (await countOf(folder, action.table, notNull(action.index.path))) < 256;
    case "refreshColumn": {
      const { type, computed } = findColumn(table.columns, parsePath(action.path))!;
      return !isSafe(computed!, type, true);
    }
    case "updateRows":
      return Object.entries(action.set).some(
        ([path, sql]) => !isSafe(sql, typeOf(path), findColumn(table.columns, parsePath(path))!.nullable),
      );
    default:
      return false;
  }
}

/** Other expressions may not be understood, or may not fit the type: the model knows no SQL. */
function isSafe(sql: string, type: DataType, nullable: boolean): boolean {
  return sql === literalOf(type) || (sql === "null" && nullable);
}

async function holdsNulls(folder: string, name: string, path: string): Promise<boolean> {
  return (await countOf(folder, name, `${reading(path)} is null`)) > 0;
}

function notNull(path: string): string {
  return `${reading(path)} is not null`;
}

function reading(path: string): string {
  return parsePath(path).map(quoted).join(".");
}

async function countOf(folder: string, name: string, where: string): Promise<number> {
  const db = await connect({ uri: folder });
  try {
    return await (await db.openTable(name)).countRows(where);
  } finally {
    db.close();
  }
}
