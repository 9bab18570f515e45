import type { Feature } from "../../cli/command/feature.ts";

/** Scripts with which shells complete what is typed, and `migrate __complete`, which they ask. */
export const completion: Feature = {
  commands: { More: { completion: async () => (await import("./command.ts")).completionCommand } },
  complete: async (words, known) => await (await import("./complete.ts")).complete(words, known),
};
