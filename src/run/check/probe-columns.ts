/** Questions that a target can answer although it can't describe its tables. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { Clock } from "../../time/clock.ts";
import type { ActionFor } from "../../actions/model/action.ts";
import { formatPath, type Path } from "../../schema/path.ts";
import type { Table } from "../../schema/table.ts";
import { retry } from "../../targets/contract/retry.ts";
import type { Target } from "../../targets/contract/target.ts";

/**
 * Whether a table has all these columns. Each is renamed to its own name, which changes nothing and is refused if it is
 * missing.
 */
export async function hasColumns(
  name: string,
  table: Table,
  paths: readonly Path[],
  { target, clock }: { readonly target: Target; readonly clock: Clock },
): Promise<boolean> {
  const ask = async (path: Path): Promise<void> => {
    const alterations = [{ path: formatPath(path), rename: path.at(-1)! }];
    const question: ActionFor<"alterColumns"> = { kind: "alterColumns", table: name, alterations };
    // The call changes nothing, so it may be repeated.
    await retry(() => target.execute(question, { table, version: undefined }), target.verdict, clock);
  };
  try {
    for (const path of paths) await ask(path);
    return true;
  } catch (error) {
    if (isMigrateError(error, "ERR_CREDENTIALS") || target.verdict(error).kind !== "refused") throw error;
    return false;
  }
}
