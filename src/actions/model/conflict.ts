import { MigrateError } from "../../errors/migrate-error.ts";

/** The error for an action that the engine would refuse, or would accept and thereby break the table. */
export function conflict(table: string, problem: string): MigrateError {
  return new MigrateError("ERR_ALTERATION_CONFLICT", { table, problem });
}
