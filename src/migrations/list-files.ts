/** Lists the files of the migrations folder and hashes them, without evaluating them. */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { withoutMark } from "../checks/byte-order-mark.ts";
import { catchMigrateError, firstLine, MigrateError } from "../errors/migrate-error.ts";
import { textHash } from "./checksum.ts";
import { formatVersion, parseFileName, type MigrationName } from "./file-name.ts";
import { formerIn, type Former } from "./former-names.ts";

export interface MigrationFile extends MigrationName {
  /** The file's name, for messages; with the bundle's name if it was read from a bundle. */
  readonly file: string;
  /** The file's name alone, if it was read from a bundle. */
  readonly bundledFile?: string | undefined;
  /** The bundle's name, likewise. */
  readonly bundle?: string | undefined;
  readonly path: string;
  readonly textHash: string;
  /** The names that it had before. A database may know it by any of them. */
  readonly was?: readonly Former[] | undefined;
  /** The migrations that were squashed into it. */
  readonly replaces?: readonly Former[] | undefined;
}

/**
 * Receives each bad name, duplicate version and unreadable file. `path`: that of the file, if one file is the problem.
 */
export type RefuseFile = (problem: MigrateError, path?: string) => void;

/** All migration files of a folder, in ascending order of version. Without `refuse`, the first problem is thrown. */
export function listMigrations(folder: string, refuse?: RefuseFile): readonly MigrationFile[] {
  return [...migrationsOf(folder, refuse)];
}

/**
 * The same one by one: each file is read when the next one is asked for, the names of all when the first one is. The
 * calls are synchronous because that was measured to be faster than asynchronous calls.
 */
export function* migrationsOf(
  folder: string,
  refuse: RefuseFile = (problem) => {
    throw problem;
  },
): Generator<MigrationFile, void> {
  // Joining the two for each of thousands of files would take several milliseconds.
  const before = join(folder, sep);
  const names = readFolder(folder)
    .flatMap((file) => {
      const parsed = catchMigrateError(
        () => parseFileName(file),
        (problem) => void refuse(problem, before + file),
      );
      return typeof parsed !== "object" ? [] : { version: parsed.version, name: parsed.name, file };
    })
    .toSorted((one, other) => one.version - other.version);
  for (const [index, { version, file }] of names.entries()) {
    const next = names[index + 1];
    if (next?.version === version)
      refuse(new MigrateError("ERR_VERSION_DUPLICATE", { version: formatVersion(version), files: [file, next.file] }));
  }
  for (const { version, name, file } of names) {
    const path = before + file;
    let text: string;
    try {
      text = textAt(path);
    } catch (cause) {
      refuse(new MigrateError("ERR_FILE_UNREADABLE", { file, problem: firstLine(cause) }, { cause }), path);
      continue;
    }
    yield { version, name, file, path, textHash: textHash(text), ...formerIn(text) };
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

/** The text of a file, without a byte order mark; undefined if it can't be read. */
export function readTextIfPresent(path: string): string | undefined {
  try {
    return textAt(path);
  } catch {
    return undefined;
  }
}

function textAt(path: string): string {
  return withoutMark(readFileSync(path, "utf8"));
}
