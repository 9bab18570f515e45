import type { Feature } from "../../cli/command/feature.ts";

/** Columns and rows that code of the project computes, and vector indexes on them. */
export const embed: Feature = {
  commands: { "Apply and roll back": { prepare: async () => (await import("./prepare-command.ts")).prepareCommand } },
  computing: async () => (await import("./computing.ts")).computing,
};
