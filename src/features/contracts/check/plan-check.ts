/** Plans are checked against the contracts of the releases that run. */
import { resolve } from "node:path";
import type { PlanCheck } from "../../../run/plan-check.ts";
import type { SessionSettings } from "../../../session/session-feature.ts";
import type { FoundContracts } from "./check-contracts.ts";
import type { ContractPlace } from "./read-contracts.ts";

/** Undefined if no contracts are configured or given. */
export function contractCheck(settings: SessionSettings): PlanCheck | undefined {
  const places = contractPlaces(settings);
  if (places.length === 0) return undefined;
  // Most runs have nothing to do, and need neither the contracts nor what compares them.
  const comparing = async () => await import("./compare-contracts.ts");
  const read = async () => (await import("./read-contracts.ts")).readContracts(places);
  // Read for each plan, because releases start meanwhile; once for all of several databases, of which there may be many.
  let forAll: Promise<FoundContracts> | undefined;
  const found = async () => await (settings.isSeveral ? (forAll ??= read()) : read());
  return {
    check: async (...given) => await (await comparing()).checkPlannedContracts(await found(), ...given),
    checkNow: async (database) => await (await comparing()).noteContracts(found, database),
  };
}

/** Where the contracts are that are configured or given. */
function contractPlaces({ config, target, wanted }: SessionSettings): readonly ContractPlace[] {
  const { contracts = [], folder: here = process.cwd() } = wanted;
  const configured = [config.targets[target]!.contracts ?? []].flat();
  return [
    ...configured.map((path) => ({ path: resolve(config.folder, path), target })),
    ...contracts.map((path) => ({ path: resolve(here, path), target: undefined })),
  ];
}
