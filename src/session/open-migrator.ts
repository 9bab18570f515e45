import type { Migrator } from "./migrator.ts";
import type { SessionOptions } from "./session.ts";

/**
 * Opens the configured target.
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
