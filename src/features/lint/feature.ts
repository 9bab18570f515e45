import type { Feature } from "../../cli/command/feature.ts";
import { lintSettings } from "./settings.ts";

/** Migrations are checked without a database. */
export const lint: Feature = {
  commands: { Inspect: { lint: async () => (await import("./command.ts")).lintCommand } },
  settings: lintSettings,
};
