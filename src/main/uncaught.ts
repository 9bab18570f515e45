/** Errors that nothing catches: of the output, or of a timer or a promise, usually in a migration or a configuration. */
import { isError } from "../checks/realm.ts";
import { firstLine, isMigrateError, MigrateError } from "../errors/migrate-error.ts";

export function uncaught(thrown: unknown, done?: string): MigrateError {
  if (isMigrateError(thrown)) return thrown;
  const problem = membersOf(thrown) || firstLine(thrown);
  return new MigrateError("ERR_UNCAUGHT", { problem, done }, { cause: thrown });
}

export function unwritable(stream: string, cause: unknown, done?: string): MigrateError {
  return new MigrateError("ERR_OUTPUT", { stream, problem: firstLine(cause), done }, { cause });
}

/** The plain members of a thrown object that is not an error, as JSON: {"status":7}. Empty for anything else. */
function membersOf(thrown: unknown): string {
  if (isError(thrown) || Object.prototype.toString.call(thrown) !== "[object Object]") return "";
  try {
    const plain = Object.entries(thrown as object).filter(([, value]) => /string|number|boolean/.test(typeof value));
    return plain.length === 0 ? "" : JSON.stringify(Object.fromEntries(plain));
  } catch {
    return "";
  }
}
