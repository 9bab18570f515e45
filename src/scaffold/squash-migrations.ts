/** Writes the file of `migrate squash`: one file in place of several. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Acceptance } from "../migrations/acceptance.ts";
import { formatMigration, formatVersion } from "../migrations/file-name.ts";
import type { Migration } from "../migrations/load.ts";
import type { Step } from "../steps/registry.ts";
import { checkedName, writeMigration } from "./create-migration.ts";

export interface Squashing {
  /** The project's folder. */
  readonly folder: string;
  /** The migrations folder. */
  readonly migrations: string;
  readonly name: string;
  readonly version: number;
  readonly steps: readonly Step[];
  readonly replaces: readonly string[];
  readonly accepts: readonly Acceptance[] | undefined;
  /** Whether `up` is written with `after(…)`, so that TypeScript checks it. */
  readonly isTyped: boolean;
  /** The migrations that it replaces. Their files are removed. */
  readonly old: readonly Migration[];
}

/**
 * Gives the path of the new file. Throws ERR_NAME_INVALID, ERR_FILE_EXISTS, ERR_TEMPLATE_MISSING, ERR_TEMPLATE_INVALID.
 */
export async function squashMigrations(wanted: Squashing): Promise<string> {
  const { folder, migrations, version, steps, replaces, accepts, isTyped, old } = wanted;
  const name = checkedName(wanted.name);
  const path = join(migrations, `${formatMigration({ version, name })}.ts`);
  const after = isTyped ? formatVersion(0) : undefined;
  await writeMigration(path, { folder, name, steps, replaces, accepts, after });
  for (const one of old) rmSync(one.path);
  return path;
}
