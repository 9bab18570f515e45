/** Checks a plan against the contracts that were found, and states which ones these are. Pure. */
import type { CheckedContracts } from "../../checked-contracts.ts";
import type { Direction } from "../../compile/compile.ts";
import type { Plan } from "../../make-plan.ts";
import { withContracts } from "./broken-contracts.ts";
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
export function checkedContracts({ contracts, empty }: FoundContracts): CheckedContracts {
  return {
    releases: contracts.map(({ application, release, file }) => ({ application, release, file })),
    notes: [
      ...empty.map((folder) => `${folder} has no contracts, so it protects no release`),
      ...contracts.filter(({ tables }) => tables.size === 0).map(({ file }) => protectsNothing(file)),
    ],
  };
}

/** That a contract states no table. */
export function protectsNothing(file: string): string {
  return `${file} states no tables, so it protects nothing`;
}
