import type { Feature } from "../../cli/command/feature.ts";
import { typesSettings } from "./settings.ts";

/** Types of the tables, for migrations and for applications in TypeScript and Python. */
export const types: Feature = {
  commands: { "Write migrations": { types: async () => (await import("./command.ts")).typesCommand } },
  settings: typesSettings,
  derived: async () => await import("./update-types.ts"),
};
