/** What fails where nobody catches it: a timer or a promise, most often of a migration or a configuration. */
import { firstLine, isMigrateError, MigrateError } from "../errors/migrate-error.ts";

export function uncaught(thrown: unknown): MigrateError {
  if (isMigrateError(thrown)) return thrown;
  const problem = membersOf(thrown) || firstLine(thrown);
  return new MigrateError("ERR_UNCAUGHT", { problem }, { cause: thrown });
}

/** What an object that is no error says: its plain members, such as {"status":7}. Empty for anything else. */
function membersOf(thrown: unknown): string {
  if (thrown instanceof Error || Object.prototype.toString.call(thrown) !== "[object Object]") return "";
  try {
    const plain = Object.entries(thrown as object).filter(([, value]) => /string|number|boolean/.test(typeof value));
    return plain.length === 0 ? "" : JSON.stringify(Object.fromEntries(plain));
  } catch {
    return "";
  }
}
