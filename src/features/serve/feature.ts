import type { Feature } from "../../cli/command/feature.ts";

/** The tables of a folder over HTTP. */
export const serve: Feature = {
  commands: { More: { serve: async () => (await import("./command.ts")).serveCommand } },
};
