/** What a target that can't describe its tables can be asked all the same. */
import type { Clock } from "../ledger/clock.ts";
import type { AlterColumnsAction } from "../schema/action.ts";
import { formatPath, type Path } from "../schema/path.ts";
import type { Table } from "../schema/table.ts";
import type { Target } from "../targets/target.ts";

const mostTries = 5;

/** Whether a table has all these columns: renamed to their own names, which changes nothing and is refused where one is not there. */
export async function hasColumns(
  name: string,
  table: Table,
  paths: readonly Path[],
  { target, clock }: { readonly target: Target; readonly clock: Clock },
): Promise<boolean> {
  const alterations = paths.map((path) => ({ path: formatPath(path), rename: path.at(-1)! }));
  const question: AlterColumnsAction = { kind: "alterColumns", table: name, alterations };
  for (let tries = 1; ; tries++) {
    try {
      await target.execute(question, { table, version: undefined });
      return true;
    } catch (error) {
      if (target.verdict(error).kind === "refused") return false;
      // A question may be asked again.
      if (tries === mostTries) throw error;
      await clock.sleep(100 * 2 ** tries);
    }
  }
}
