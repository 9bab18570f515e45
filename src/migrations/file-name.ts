/** The names of migration files. */
import { MigrateError } from "../errors/migrate-error.ts";

export interface MigrationName {
  readonly version: number;
  readonly name: string;
}

const pattern = /^(\d+)_([A-Za-z0-9][A-Za-z0-9_-]*)\.(?:ts|js|mts|mjs)$/;
const looksLikeCode = /^[^.].*\.[cm]?[jt]sx?$/is;

/**
 * Version and name of a migration file; undefined for another file (README.md, types.d.ts, dot files). Throws
 * ERR_FILE_NAME.
 */
export function parseFileName(file: string): MigrationName | undefined {
  // A pattern of an array takes as long as the match itself, and there may be thousands of files.
  const { 1: digits, 2: name } = pattern.exec(file) ?? [];
  const version = Number(digits);
  if (name !== undefined && Number.isSafeInteger(version)) return { version, name };
  if (!looksLikeCode.test(file) || /\.d\.[cm]?ts$/i.test(file)) return undefined;
  throw new MigrateError("ERR_FILE_NAME", { file });
}

/** A version as in file names: `0003`. */
export function formatVersion(version: number): string {
  return String(version).padStart(4, "0");
}

/** The full name of a migration: `0003_widen_ids`. */
export function formatMigration({ version, name }: MigrationName): string {
  return `${formatVersion(version)}_${name}`;
}

/** The group of these versions, one at least, in messages: `the group 0002 to 0005`. */
export function formatGroup(versions: Iterable<number>): string {
  const sorted = [...versions].toSorted((one, other) => one - other);
  const [from, until] = [sorted[0]!, sorted.at(-1)!].map(formatVersion);
  return from === until ? from! : `the group ${from} to ${until}`;
}
