import type { Feature } from "../../cli/command/feature.ts";

/** Scripts with which shells complete what is typed. They ask `migrate __complete`, which is in `src/main`. */
export const completion: Feature = {
  commands: { More: { completion: async () => (await import("./command.ts")).completionCommand } },
};
