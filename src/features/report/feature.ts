import type { Feature } from "../../cli/command/feature.ts";

/** What became of the tables and their columns: a page about one database or many, and the changes to one column. */
export const report: Feature = {
  commands: {
    Inspect: {
      blame: async () => (await import("./blame-command.ts")).blameCommand,
      report: async () => (await import("./command.ts")).reportCommand,
    },
  },
};
