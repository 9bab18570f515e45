import type { Config } from "./config.ts";
import type { Migrator } from "./migrator.ts";
import type { SessionOptions } from "../session/session-options.ts";

/**
 * Opens the target that `migrate.config.ts` configures.
 *
 * @example
 * const migrator = await openMigrator({ target: "local" });
 * await migrator.up();
 * await migrator.close();
 */
export async function openMigrator(wanted: SessionOptions = {}): Promise<Migrator> {
  // Only when it is called: a configuration imports the package too, and needs none of this.
  return await (await import("./migrator.ts")).openMigrator(wanted);
}

/**
 * The same with the configuration itself in place of a file, for a program that takes its settings from elsewhere. Paths
 * in it are relative to `folder`, which is the current folder by default.
 *
 * @example
 * const migrator = await createMigrator({ targets: { local: { kind: "lance", uri: "/data/tables" } } });
 */
export async function createMigrator(config: Config, wanted: Omit<SessionOptions, "config"> = {}): Promise<Migrator> {
  return await (await import("./migrator.ts")).openMigrator(wanted, config);
}
