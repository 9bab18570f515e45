import { firstLine, isMigrateError } from "../../../errors/migrate-error.ts";
import { checkContracts, compareContracts, type FoundContracts } from "./check-contracts.ts";
import type { CheckedContracts } from "../../../plan/checked-contracts.ts";
import type { Direction } from "../../../plan/compile/compile.ts";
import type { Plan } from "../../../plan/make-plan.ts";
import type { Tables } from "../../../schema/table.ts";
import { describeForPlan } from "../../../run/prepare/describe-tables.ts";
import type { RunContext } from "../../../run/run-context.ts";

/** The plan with what breaks contracts; if nothing is pending, with notes about the present tables. */
export async function checkPlannedContracts(
  found: FoundContracts,
  plan: Plan,
  direction: Direction,
  database: Pick<RunContext, "target" | "signal">,
): Promise<Plan> {
  if (direction === "down" || plan.migrations.length > 0) return checkContracts(plan, found, direction);
  return { ...plan, contracts: await contractsNow(found, database) };
}

/** Compares contracts with the present tables. Only notes: nothing is refused. */
async function contractsNow(
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
export async function noteContracts(
  contracts: () => Promise<FoundContracts>,
  { emit, ...context }: Pick<RunContext, "target" | "signal" | "emit">,
): Promise<void> {
  let checked: CheckedContracts;
  try {
    checked = await contractsNow(await contracts(), context);
  } catch (error) {
    if (!isMigrateError(error) || error.code === "ERR_INTERRUPTED") throw error;
    checked = { releases: [], notes: [error.message] };
  }
  if (checked.notes.length > 0) emit({ event: "contracts", ...checked });
}
