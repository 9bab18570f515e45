/** Migrations from the file of `migrate build`. */
import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";
import { fileReason, MigrateError } from "../../errors/migrate-error.ts";
import { parseFileName } from "../../migrations/file-name.ts";
import { formerLists, parseFormer } from "../../migrations/former-names.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import type { MigrationSource } from "../../migrations/source.ts";
import { parseBundle, type BundledMigration } from "./bundle.ts";

/**
 * The migrations of a bundle. Each list reads the file, and what is loaded belongs to the list that it is from. Throws
 * ERR_BUNDLE_INVALID, and what `MigrationSource` throws.
 */
export function migrationsInBundle(path: string): MigrationSource {
  const listed = new WeakMap<MigrationFile, BundledMigration>();
  return {
    list() {
      const name = shownName(path);
      const { migrations } = parseBundle(readText(path, name), name);
      return migrations.map((one) => {
        const file = fileOf(one, path);
        listed.set(file, one);
        return file;
      });
    },
    // Loaded when the first migration is: a run with nothing pending loads none.
    async load(file, reading) {
      const { checkExports } = await import("../../migrations/load.ts");
      const one = listed.get(file);
      if (one === undefined) throw new TypeError(`${file.file} is from no list of the bundle`);
      const migration = checkExports(file, one, reading);
      if (migration.checksum !== one.checksum)
        throw new MigrateError("ERR_BUNDLE_INVALID", {
          file: shownName(path),
          problem: `has another checksum for ${one.file} than its steps have in this release`,
          hint: "make a new one with migrate build of this release",
        });
      return { ...migration, after: one.after };
    },
  };
}

function fileOf({ file, textHash, ...lists }: BundledMigration, path: string): MigrationFile {
  const former = Object.fromEntries(
    formerLists.flatMap((list) => (lists[list] === undefined ? [] : [[list, lists[list].flatMap(parseFormer)]])),
  );
  const bundle = basename(path);
  return {
    ...parseFileName(file)!,
    file: `${file} in ${bundle}`,
    bundle,
    bundledFile: file,
    path,
    textHash,
    ...former,
  };
}

function readText(path: string, name: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const problem = isMissing ? "does not exist" : `can't be read: ${fileReason(cause)}`;
    const hint = "check --bundle, or make one with migrate build";
    throw new MigrateError("ERR_BUNDLE_INVALID", { file: name, problem, hint }, { cause });
  }
}

/** The path as a user in the current folder would type it. */
function shownName(path: string): string {
  return relative(process.cwd(), path);
}
