/** The files of `migrate types`: their content, whether they are up to date, and writing them. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { MigrateError } from "../../errors/migrate-error.ts";
import { readGenerated, writeGenerated } from "../../migrations/generated-file.ts";
import type { SchemaRevision } from "../../run/schema-history.ts";
import type { Database } from "../../schema/table.ts";
import { packageFolder } from "../../engine/package/package-folder.ts";
import { applicationTypes, writtenMark } from "./application-types.ts";
import { historyTypes } from "./history-types.ts";
import { pythonMark, pythonModels, tablesWithoutModel } from "./python-models.ts";

export interface TypesFile {
  readonly path: string;
  readonly text: string;
  /** What it lacks, one sentence for each. */
  readonly gaps?: readonly string[];
}

export const historyName = "history.d.ts";

/** The file is in the migrations folder, because TypeScript looks there for what the migrations need. */
export function historyFile(migrations: string, revisions: readonly SchemaRevision[]): TypesFile {
  return { path: join(migrations, historyName), text: historyTypes(revisions) };
}

/** With `standardSchema`, a TypeScript file has schemas that check new rows too. */
export function applicationFile(path: string, database: Database, standardSchema = false): TypesFile {
  if (isPython(path)) return { path, text: pythonModels(database), gaps: tablesWithoutModel(database) };
  return { path, text: applicationTypes(database, standardSchema ? rowSchemasTemplate() : undefined) };
}

function rowSchemasTemplate(): string {
  return readFileSync(join(packageFolder(), "templates/row-schemas.ts"), "utf8");
}

function isPython(path: string): boolean {
  return path.endsWith(".py");
}

/** Whether the file exists and is up to date. Throws ERR_TYPES_FILE. */
export function isWritten({ path, text }: TypesFile): boolean {
  return textAt(path) === text;
}

/** Whether the file exists and `migrate types` wrote it. Throws ERR_TYPES_FILE. */
export function isOurs(path: string): boolean {
  return textAt(path)?.startsWith(isPython(path) ? pythonMark : writtenMark) === true;
}

/** Refuses to overwrite a file that `migrate types` did not write. Throws ERR_TYPES_FOREIGN, ERR_TYPES_FILE. */
export function checkOurs(path: string): void {
  if (existsSync(path) && !isOurs(path))
    throw new MigrateError("ERR_TYPES_FOREIGN", { file: relative(process.cwd(), path) });
}

/** Gives what the file lacks and did not lack before. Throws ERR_TYPES_FILE. */
export function writeTypes({ path, text, gaps = [] }: TypesFile): readonly string[] {
  const before = textAt(path) ?? "";
  writeGenerated(path, text, "ERR_TYPES_FILE");
  return gaps.filter((gap) => !before.includes(`# ${gap}.\n`));
}

/**
 * The file's text with LF line ends, because the checkout determines them; undefined if there is no such file. Throws
 * ERR_TYPES_FILE.
 */
export function textAt(path: string): string | undefined {
  if (!existsSync(path) || !statSync(path).isFile()) return undefined;
  return readGenerated(path, "ERR_TYPES_FILE")?.replaceAll("\r\n", "\n");
}
