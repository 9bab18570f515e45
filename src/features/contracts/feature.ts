import type { Feature } from "../../cli/command/feature.ts";
import { contractCheck } from "./check/plan-check.ts";

/** What releases of applications read and write, which `plan`, `up` and `down` protect. */
export const contracts: Feature = {
  commands: { "Write migrations": { contract: async () => (await import("./command.ts")).contractCommand } },
  planCheck: contractCheck,
};
