import { firstLine, isMigrateError } from "../../errors/migrate-error.ts";
import { compareContracts, type FoundContracts } from "../../plan/assess/contract/check-contracts.ts";
import type { CheckedContracts } from "../../plan/checked-contracts.ts";
import type { Tables } from "../../schema/table.ts";
import { describeForPlan } from "./describe-tables.ts";
import type { RunContext } from "../run-context.ts";

/** Compares contracts with the present tables, if nothing is pending. Only notes: nothing is refused. */
export async function contractsNow(
  found: FoundContracts,
  { target, signal }: Pick<RunContext, "target" | "signal">,
): Promise<CheckedContracts> {
  const names = [...new Set(found.contracts.flatMap(({ tables }) => [...tables.keys()]))];
  try {
    const tables = await describeForPlan(target, names, new Set(), true, signal);
    return compareContracts(found, target.capabilities.describes ? tables : missingIn(tables));
  } catch (error) {
    if (isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    const { releases, notes } = compareContracts(found, new Map());
    return { releases, notes: [...notes, `the contracts were not compared with the tables: ${firstLine(error)}`] };
  }
}

/** What is known of a target that can't describe its tables. */
function missingIn(tables: Tables): Tables {
  return new Map([...tables].filter(([, table]) => table === undefined));
}

/** Emits what is wrong with the contracts, if there is something. A run that has nothing to do does not fail for it. */
export async function noteContracts({ contracts, emit, ...context }: RunContext): Promise<void> {
  if (contracts === undefined) return;
  let checked: CheckedContracts;
  try {
    checked = await contractsNow(await contracts(), context);
  } catch (error) {
    if (!isMigrateError(error) || error.code === "ERR_INTERRUPTED") throw error;
    checked = { releases: [], notes: [error.message] };
  }
  if (checked.notes.length > 0) emit({ event: "contracts", ...checked });
}
