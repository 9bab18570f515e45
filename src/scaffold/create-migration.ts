/** Writes the file of `migrate new`: takes the next number and fills in a template. */
import { randomUUID } from "node:crypto";
import { constants, copyFileSync, existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { MigrateError } from "../errors/migrate-error.ts";
import type { Acceptance } from "../migrations/acceptance.ts";
import { formatVersion } from "../migrations/file-name.ts";
import { listMigrations } from "../migrations/list-files.ts";
import type { Step } from "../steps/registry.ts";

export interface NewMigration {
  /** The project's folder. Its own templates/ takes precedence over the package's. */
  readonly folder: string;
  /** The migrations folder. */
  readonly migrations: string;
  readonly name: string;
  /** The steps of `up`; those of the template if absent. */
  readonly steps?: readonly Step[] | undefined;
  /** The steps of `down`; if absent, the file has no `down`. */
  readonly down?: readonly Step[] | undefined;
  readonly accepts?: readonly Acceptance[] | undefined;
  /** The `history.d.ts` with which TypeScript checks the steps. If given, the steps are written in `after(…)`. */
  readonly history?: string | undefined;
}

/** The name as a file name contains it. Throws ERR_NAME_INVALID. */
export function checkedName(name: string): string {
  const word = name.trim().replace(/\s+/g, "_");
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$/.test(word)) throw new MigrateError("ERR_NAME_INVALID", { name });
  return word;
}

/** The path and the number of the next migration. Throws ERR_NAME_INVALID. */
export function nextMigration({ migrations, name }: Pick<NewMigration, "migrations" | "name">) {
  const word = checkedName(name);
  const last = (existsSync(migrations) ? listMigrations(migrations).at(-1)?.version : undefined) ?? 0;
  const version = last + 1;
  const file = `${formatVersion(version)}_${word}.ts`;
  return { version, last, name: word, file, path: join(migrations, file) };
}

/**
 * Writes the file and gives its path. With steps, it is written only if TypeScript accepts it and loading it gives
 * exactly these steps. Throws ERR_FILE_EXISTS, ERR_TEMPLATE_MISSING, ERR_TEMPLATE_INVALID.
 */
export async function createMigration(wanted: NewMigration): Promise<string> {
  const { folder, migrations, steps } = wanted;
  const next = nextMigration(wanted);
  if (existsSync(next.path)) throw new MigrateError("ERR_FILE_EXISTS", { file: next.path });
  const template = findTemplate(folder);
  const after = wanted.history === undefined ? undefined : formatVersion(next.last);
  // Loaded late: both use ts-morph, which is slow to load, and steps that can't work are refused before.
  const [{ fillTemplate }, { checkWritten }] = [
    await import("./fill-template.ts"),
    await import("./check-generated.ts"),
  ];
  const text = fillTemplate(template, { ...wanted, name: next.name, after });
  mkdirSync(migrations, { recursive: true });
  const draft = writeDraft(next.path, text);
  try {
    if (steps !== undefined) await checkWritten(draft, text, { ...wanted, steps, template, file: next.file });
    putInPlace(draft, next.path);
  } finally {
    rmSync(draft, { force: true });
  }
  return next.path;
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

const template = join("templates", "migration.ts");

export function findTemplate(folder: string): string {
  const own = join(folder, template);
  return existsSync(own) ? own : join(packageFolder(), template);
}

function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
