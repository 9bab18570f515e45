/** Makes a bundle of all migrations. Needs no target. */
import { bundleText } from "../../migrations/bundle/bundle.ts";
import { afterProblems } from "../../migrations/check-after.ts";
import { loadMigrations, type MigrationSource } from "../../migrations/source.ts";

export interface Build {
  /** The text of the bundle's file. */
  readonly text: string;
  /** The number of migrations in it. */
  readonly migrations: number;
}

/** Throws what is wrong with a migration that does not depend on the target. */
export async function build(source: MigrationSource): Promise<Build> {
  const migrations = await loadMigrations(source, source.list());
  for (const problem of afterProblems(migrations)) throw problem;
  return { text: bundleText(migrations), migrations: migrations.length };
}
