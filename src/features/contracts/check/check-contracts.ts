/** Checks a plan against the contracts that were found, and states which ones these are. Pure. */
import type { CheckedContracts } from "../../../plan/checked-contracts.ts";
import type { Direction } from "../../../plan/compile/compile.ts";
import type { Plan } from "../../../plan/make-plan.ts";
import type { Tables } from "../../../schema/table.ts";
import { problemsIn, withContracts } from "./broken-contracts.ts";
import type { Contract } from "./contract.ts";

export interface FoundContracts {
  readonly contracts: readonly Contract[];
  /** The folders that were searched and have none. */
  readonly empty: readonly string[];
}

/** The plan with what breaks contracts. Throws ERR_CONTRACT_INVALID. */
export function checkContracts(plan: Plan, found: FoundContracts, direction: Direction): Plan {
  return { ...withContracts(plan, found.contracts, direction), contracts: checkedContracts(found) };
}

/** Only a note: no release may run yet, and an application may have left a table. */
function checkedContracts({ contracts, empty }: FoundContracts): CheckedContracts {
  return {
    releases: contracts.map(({ application, release, file }) => ({ application, release, file })),
    notes: [
      ...empty.map((folder) => `the folder ${folder} has no contracts, so no release is protected`),
      ...contracts.filter(({ tables }) => tables.size === 0).map(({ file }) => protectsNothing(file)),
    ],
  };
}

/** The same if nothing is pending: what these tables do not allow is noted. `tables`: undefined where there is none. */
export function compareContracts(found: FoundContracts, tables: Tables): CheckedContracts {
  const { releases, notes } = checkedContracts(found);
  const problems = found.contracts.flatMap((contract) => {
    const problem = [...contract.tables]
      .filter(([name]) => tables.has(name))
      .flatMap(([name, needed]) => problemsIn(tables.get(name), name, needed))
      .find((one) => one !== undefined);
    const { application, release, file } = contract;
    const wayOut = `correct ${file}, or remove it if that release no longer runs; migrate verify shows whether something else has changed the table`;
    return problem === undefined ? [] : `${application} ${release} ${problem}; ${wayOut}`;
  });
  return { releases, notes: [...notes, ...problems] };
}

/** That a contract states no table. */
export function protectsNothing(file: string): string {
  return `${file} states no tables, so it protects nothing`;
}
