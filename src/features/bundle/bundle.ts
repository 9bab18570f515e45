/**
 * The file of `migrate build`: all migrations as data, with their hashes. Equal migrations give equal text, and each
 * migration is on a line of its own. Pure.
 */
import { withoutMark } from "../../checks/byte-order-mark.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import { canonicalJson, textHash } from "../../migrations/checksum.ts";
import { parseFileName } from "../../migrations/file-name.ts";
import { formatFormer, formerLists } from "../../migrations/former-names.ts";
import type { Migration } from "../../migrations/load.ts";

/** The newest version of the format. A release reads no newer one. */
const format = 2;

export const bundleName = "migrations.bundle.json";

/** A migration in a bundle. The members from `up` on are what its file exports. */
export interface BundledMigration {
  /** The file's name, from which its version and its name follow. */
  readonly file: string;
  readonly textHash: string;
  readonly checksum: string;
  readonly after?: string | undefined;
  readonly up: readonly unknown[];
  readonly down?: readonly unknown[] | undefined;
  readonly ran?: readonly (readonly unknown[])[] | undefined;
  readonly accepts?: readonly string[] | undefined;
  readonly was?: readonly string[] | undefined;
  readonly replaces?: readonly string[] | undefined;
}

/** The text of a bundle. `migrations`: in ascending order of version. */
export function bundleText(migrations: readonly Migration[]): string {
  const lines = migrations.map((migration) => `    ${canonicalJson(bundled(migration), "-0")}`);
  const list = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n  ]`;
  // Format 2 differs in `became` only, so that older releases read a bundle without it.
  const isOld = migrations.every(({ replaces = [] }) => replaces.every(({ became }) => became === undefined));
  const unsealed = `{\n  "migrationBundle": ${isOld ? 1 : format},\n  ${hashMember("")},\n  "migrations": ${list}\n}\n`;
  return unsealed.replace(hashMember(""), hashMember(textHash(unsealed)));
}

function bundled({ file, textHash: hash, checksum, steps, after, down, ran, accepts, was, replaces }: Migration) {
  return {
    file,
    textHash: hash,
    checksum,
    after,
    up: steps,
    down,
    ran,
    accepts,
    was: was?.map(formatFormer),
    replaces: replaces?.map(formatFormer),
  } satisfies BundledMigration;
}

/** The hash covers the whole text, without the hash itself. */
function hashMember(hash: string): string {
  return `"hash": "${hash}"`;
}

export interface Bundle {
  readonly hash: string;
  /** Their steps are not checked yet. */
  readonly migrations: readonly BundledMigration[];
}

/** Parses the text of a bundle, and checks its hash. `file`: its name, for messages. Throws ERR_BUNDLE_INVALID. */
export function parseBundle(text: string, file: string): Bundle {
  const invalid = (problem: string, hint?: string, cause?: unknown) =>
    new MigrateError(
      "ERR_BUNDLE_INVALID",
      { file, problem, hint: hint ?? "make a new one with migrate build" },
      { cause },
    );
  const foreign = "is not a bundle of migrations";
  let value: Readonly<Partial<Record<"migrationBundle" | "hash" | "migrations", unknown>>> | null;
  try {
    value = JSON.parse(withoutMark(text)) as typeof value;
  } catch (cause) {
    if (!isBundle(text)) throw invalid(foreign, undefined, cause);
    throw invalid("is incomplete or damaged", "copy it again, or make a new one with migrate build", cause);
  }
  if (typeof value !== "object" || value === null || !("migrationBundle" in value)) throw invalid(foreign);
  const { migrationBundle: version, hash, migrations } = value;
  // Before the hash, because a newer format may compute it in another way.
  if (typeof version === "number" && version > format)
    throw invalid(
      `was made by a newer release of lance-migrate, in format ${version}`,
      "use that release here, or make the bundle with this one",
    );
  const unsealed = text.replace(hashMember(String(hash)), hashMember(""));
  if (hash !== textHash(unsealed) || (version !== 1 && version !== format) || !isList(migrations))
    throw invalid(
      "was changed after it was made",
      "change the migration files instead, and make a new one with migrate build",
    );
  return { hash, migrations };
}

/** Whether a text is a bundle of any format, or the beginning of one. */
export function isBundle(text: string): boolean {
  return withoutMark(text).replace("\r\n", "\n").startsWith('{\n  "migrationBundle":');
}

/** Checks what listing needs: names in ascending order, and hashes. The rest is checked when a migration is loaded. */
function isList(migrations: unknown): migrations is readonly BundledMigration[] {
  if (!Array.isArray(migrations)) return false;
  let last = -1;
  return migrations.every((one: Partial<Record<keyof BundledMigration, unknown>> | null) => {
    const version = typeof one?.file === "string" ? (parseFileName(one.file)?.version ?? -1) : -1;
    if (version <= last || typeof one?.textHash !== "string") return false;
    last = version;
    return formerLists.every((list) => one[list] === undefined || Array.isArray(one[list]));
  });
}
