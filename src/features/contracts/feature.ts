import type { Feature } from "../../cli/command/feature.ts";

/** What releases of applications read and write. `plan` and `up` protect it without this feature too. */
export const contracts: Feature = {
  commands: { "Write migrations": { contract: async () => (await import("./command.ts")).contractCommand } },
};
