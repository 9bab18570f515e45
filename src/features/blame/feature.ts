import type { Feature } from "../../cli/command/feature.ts";

/** Which migrations changed a column, and when and by whom they were run. */
export const blame: Feature = {
  commands: { Inspect: { blame: async () => (await import("./command.ts")).blameCommand } },
};
