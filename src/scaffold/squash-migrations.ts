/** Writes the file of `migrate squash`: one file in place of several. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MigrateError } from "../errors/migrate-error.ts";
import type { Acceptance } from "../migrations/acceptance.ts";
import { formatMigration, formatVersion } from "../migrations/file-name.ts";
import type { Migration } from "../migrations/load.ts";
import type { Step } from "../steps/registry.ts";
import { checkWritten } from "./check-generated.ts";
import { checkedName, findTemplate, putInPlace, writeDraft } from "./create-migration.ts";
import { fillTemplate } from "./fill-template.ts";

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
export async function squashMigrations({
  folder,
  migrations,
  version,
  old,
  isTyped,
  ...wanted
}: Squashing): Promise<string> {
  const name = checkedName(wanted.name);
  const file = `${formatMigration({ version, name })}.ts`;
  const path = join(migrations, file);
  if (existsSync(path)) throw new MigrateError("ERR_FILE_EXISTS", { file: path });
  const template = findTemplate(folder);
  const text = fillTemplate(template, { ...wanted, name, after: isTyped ? formatVersion(0) : undefined });
  const draft = writeDraft(path, text);
  try {
    await checkWritten(draft, text, { steps: wanted.steps, template, folder, file });
    putInPlace(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  for (const one of old) rmSync(one.path);
  return path;
}
