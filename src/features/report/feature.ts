import type { Feature } from "../../cli/command/feature.ts";

/** A page about one database, or about many. */
export const report: Feature = {
  commands: { Inspect: { report: async () => (await import("./command.ts")).reportCommand } },
};
