/** `migrate new`: the next number, and a template filled in. */
import { randomUUID } from "node:crypto";
import { constants, copyFileSync, existsSync, linkSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { MigrateError } from "../errors/migrate-error.ts";
import type { Acceptance } from "../migrations/acceptance.ts";
import { formatVersion } from "../migrations/file-name.ts";
import { listMigrations } from "../migrations/list-files.ts";
import type { Step } from "../steps/registry.ts";

export interface NewMigration {
  /** The project's folder; its own templates/ win over ours. */
  readonly folder: string;
  /** The migrations folder. */
  readonly migrations: string;
  readonly name: string;
  /** What it does; as the template has it when absent. */
  readonly steps?: readonly Step[] | undefined;
  /** What takes it back; not said when absent. */
  readonly down?: readonly Step[] | undefined;
  readonly accepts?: readonly Acceptance[] | undefined;
  /** The `history.d.ts` with which TypeScript checks the steps; they are written for it where there is one. */
  readonly history?: string | undefined;
}

/** A name for a file. Throws ERR_NAME_INVALID. */
export function checkedName(name: string): string {
  const word = name.trim().replace(/\s+/g, "_");
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$/.test(word)) throw new MigrateError("ERR_NAME_INVALID", { name });
  return word;
}

/** Where it goes, and its number. Throws ERR_NAME_INVALID. */
export function nextMigration({ migrations, name }: Pick<NewMigration, "migrations" | "name">) {
  const word = checkedName(name);
  const last = (existsSync(migrations) ? listMigrations(migrations).at(-1)?.version : undefined) ?? 0;
  const version = last + 1;
  const file = `${formatVersion(version)}_${word}.ts`;
  return { version, last, name: word, file, path: join(migrations, file) };
}

/**
 * Writes the file and gives its path. Of steps that are given it is written only if TypeScript takes it, and if it says just
 * these steps when it is loaded. Throws ERR_FILE_EXISTS, ERR_TEMPLATE_INVALID.
 */
export async function createMigration(wanted: NewMigration): Promise<string> {
  const { folder, migrations, steps } = wanted;
  const next = nextMigration(wanted);
  if (existsSync(next.path)) throw new MigrateError("ERR_FILE_EXISTS", { file: next.path });
  const template = findTemplate(folder);
  const after = wanted.history === undefined ? undefined : formatVersion(next.last);
  // With ts-morph, which is slow to load: nobody waits for it to hear that a step can't work.
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

/** Beside the others, so that it is loaded as they are; and no migration until it is known to be right. Gives its path. */
export function writeDraft(path: string, text: string): string {
  const draft = join(dirname(path), `.${basename(path, extname(path))}.${randomUUID().slice(0, 8)}${extname(path)}`);
  writeFileSync(draft, text, { flag: "wx" });
  return draft;
}

/** As a whole, and never over another file. Throws ERR_FILE_EXISTS. */
export function putInPlace(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST")
      throw new MigrateError("ERR_FILE_EXISTS", { file: path }, { cause });
    // Some file systems know no links.
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
