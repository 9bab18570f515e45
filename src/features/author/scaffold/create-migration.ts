/** Writes the file of `migrate new`: takes the next number and fills in a template. */
import { randomUUID } from "node:crypto";
import { constants, copyFileSync, existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { MigrateError } from "../../../errors/migrate-error.ts";
import { formatVersion } from "../../../migrations/file-name.ts";
import { listMigrations } from "../../../migrations/list-files.ts";
import type { FileKind } from "../../shared/file-kind.ts";
import { checkWritten } from "./check-generated.ts";
import { fillBuiltIn } from "./fill-built-in.ts";
import type { Filling } from "./fill-lists.ts";
import { formatDraft, type Formatting } from "./format-draft.ts";
import { packageFolder } from "../../../engine/package/package-folder.ts";

interface NewMigration extends Filling {
  /** Of the project: its own templates/ takes precedence over the package's. */
  readonly project: Formatting;
  /** The `history.d.ts` with which TypeScript checks the steps. */
  readonly history?: string | undefined;
}

/** The name as a file name contains it. Throws ERR_NAME_INVALID. */
export function checkedName(name: string): string {
  const word = name.trim().replace(/\s+/g, "_");
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$/.test(word)) throw new MigrateError("ERR_NAME_INVALID", { name });
  return word;
}

/** The name and the path of the next migration, and the number of the one before it. Throws ERR_NAME_INVALID. */
export function nextMigration(folder: string, name: string, kind: FileKind) {
  const word = checkedName(name);
  const last = (existsSync(folder) ? listMigrations(folder).at(-1)?.version : undefined) ?? 0;
  const version = last + 1;
  const file = `${formatVersion(version)}_${word}.${kind}`;
  return { version, last, name: word, file, path: join(folder, file) };
}

/**
 * Fills in the template and gives the path. The file is written only if it can be loaded; with steps, only if loading
 * it gives exactly these steps, and TypeScript accepts it. Throws ERR_FILE_EXISTS, ERR_TEMPLATE_MISSING,
 * ERR_TEMPLATE_INVALID, ERR_FORMAT.
 */
export async function writeMigration(path: string, wanted: NewMigration): Promise<string> {
  const { project } = wanted;
  if (existsSync(path)) throw new MigrateError("ERR_FILE_EXISTS", { file: path });
  const { template, isOwn } = findTemplate(project.folder, extname(path));
  // Loaded late, because ts-morph is slow to load and need not be installed.
  const text = isOwn
    ? (await import("./fill-template.ts")).fillTemplate(template, wanted)
    : fillBuiltIn(template, wanted);
  const file = { ...wanted, folder: project.folder, template, file: basename(path) };
  await writeChecked(path, text, project, async (draft, written) => await checkWritten(draft, written, file));
  return path;
}

/**
 * Formats and writes a file if `check`, which gets the path of a draft and its text, does not throw. Throws
 * ERR_FILE_EXISTS, ERR_FORMAT.
 */
export async function writeChecked(
  path: string,
  text: string,
  project: Formatting,
  check: (draft: string, text: string) => Promise<void>,
  put: (draft: string, path: string) => void = putInPlace,
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const draft = writeDraft(path, text);
  try {
    await check(draft, await formatDraft(draft, project));
    put(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Writes a draft beside the other migrations, so that it is loaded as they are. Until it is put in place, it is no
 * migration. Gives its path.
 */
export function writeDraft(path: string, text: string): string {
  const draft = join(dirname(path), `.${basename(path, extname(path))}.${randomUUID().slice(0, 8)}${extname(path)}`);
  writeFileSync(draft, text, { flag: "wx" });
  return draft;
}

/** Puts the complete draft in place, and never overwrites a file. Throws ERR_FILE_EXISTS. */
export function putInPlace(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST")
      throw new MigrateError("ERR_FILE_EXISTS", { file: path }, { cause });
    // Some file systems have no hard links.
    copyFileSync(draft, path, constants.COPYFILE_EXCL);
  }
}

function findTemplate(folder: string, extension: string) {
  const name = join("templates", `migration.${extension.slice(-2)}`);
  const own = join(folder, name);
  const isOwn = existsSync(own);
  return { template: isOwn ? own : join(packageFolder(), name), isOwn };
}
