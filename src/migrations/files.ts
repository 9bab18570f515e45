/** The migrations folder as a list, hashed and not evaluated. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { firstLine, isMigrateError, MigrateError } from "../errors.ts";
import { textHash } from "./checksum.ts";
import { formatVersion, parseFileName, type MigrationName } from "./file-name.ts";
import { formerIn, type Former } from "./former.ts";

export interface MigrationFile extends MigrationName {
  /** The file's name, for messages. */
  readonly file: string;
  readonly path: string;
  readonly textHash: string;
  /** The names that it had before, any of which a database may know it by. */
  readonly was?: readonly Former[] | undefined;
  /** The migrations that were put together in it. */
  readonly replaces?: readonly Former[] | undefined;
}

/** All migration files of a folder by ascending version. Synchronous: measured quicker than the asynchronous calls. */
export function listMigrations(
  folder: string,
  /** Told of each bad name; throws unless somebody wants to hear of all. */
  refuse: (problem: MigrateError) => void = (problem) => {
    throw problem;
  },
): readonly MigrationFile[] {
  const names = readFolder(folder)
    .map((file) => ({ file, ...nameOf(file, refuse) }))
    .filter((entry): entry is MigrationName & { file: string } => entry.version !== undefined)
    .toSorted((one, other) => one.version - other.version);
  for (const [index, { version, file }] of names.entries()) {
    const next = names[index + 1];
    if (next?.version === version)
      refuse(new MigrateError("ERR_VERSION_DUPLICATE", { version: formatVersion(version), files: [file, next.file] }));
  }
  return names.map((name) => {
    const path = join(folder, name.file);
    const text = readText(path, name.file);
    return { ...name, path, textHash: textHash(text), ...formerIn(text) };
  });
}

function nameOf(file: string, refuse: (problem: MigrateError) => void): MigrationName | undefined {
  try {
    return parseFileName(file);
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    refuse(error);
    return undefined;
  }
}

function readFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => entry.name);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const problem =
      code === "ENOENT" ? "does not exist" : code === "ENOTDIR" ? "is a file" : `can't be read (${firstLine(cause)})`;
    throw new MigrateError("ERR_MIGRATIONS_FOLDER", { folder, problem }, { cause });
  }
}

function readText(path: string, file: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new MigrateError("ERR_FILE_UNREADABLE", { file, problem: firstLine(cause) }, { cause });
  }
}
