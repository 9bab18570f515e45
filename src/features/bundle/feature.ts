import type { Feature } from "../../cli/command/feature.ts";

/** All migrations in one file, which commands read with --bundle in place of the folder. */
export const bundle: Feature = {
  commands: { "Write migrations": { build: async () => (await import("./command.ts")).buildCommand } },
  migrationsInBundle: async (path) => (await import("./bundle-source.ts")).migrationsInBundle(path),
};
