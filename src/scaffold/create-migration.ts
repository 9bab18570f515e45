/** `migrate new`: the next number, and a template filled in. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Project, SyntaxKind, type SourceFile } from "ts-morph";
import { MigrateError } from "../errors.ts";
import { formatVersion } from "../migrations/file-name.ts";
import { listMigrations } from "../migrations/files.ts";

export interface NewMigration {
  /** The project's folder; its own templates/ win over ours. */
  readonly folder: string;
  /** The migrations folder. */
  readonly migrations: string;
  readonly name: string;
}

const template = join("templates", "migration.ts");

/** Writes the file and gives its path. */
export async function createMigration({ folder, migrations, name }: NewMigration): Promise<string> {
  const word = name.trim().replace(/\s+/g, "_");
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,199}$/.test(word)) throw new MigrateError("ERR_NAME_INVALID", { name });
  const last = existsSync(migrations) ? listMigrations(migrations).at(-1)?.version : undefined;
  const path = join(migrations, `${formatVersion((last ?? 0) + 1)}_${word}.ts`);
  if (existsSync(path)) throw new MigrateError("ERR_FILE_EXISTS", { file: path });
  const text = fillTemplate(findTemplate(folder), word);
  mkdirSync(migrations, { recursive: true });
  writeFileSync(path, text, { flag: "wx" });
  return path;
}

function findTemplate(folder: string): string {
  const own = join(folder, template);
  return existsSync(own) ? own : join(packageFolder(), template);
}

function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}

function fillTemplate(file: string, word: string): string {
  if (!existsSync(file)) throw new MigrateError("ERR_TEMPLATE_MISSING", { file });
  const source = new Project({ useInMemoryFileSystem: false }).addSourceFileAtPath(file);
  const comment = stepsOf(source, file).getVariableStatementOrThrow().getJsDocs()[0];
  const sentence = word.replaceAll(/[_-]+/g, " ");
  comment?.setDescription(`${sentence[0]!.toUpperCase()}${sentence.slice(1)}.`);
  return source.getFullText();
}

function stepsOf(source: SourceFile, file: string) {
  const up = source.getVariableDeclaration("up");
  if (up === undefined || !up.isExported() || up.getInitializerIfKind(SyntaxKind.ArrayLiteralExpression) === undefined)
    throw new MigrateError("ERR_TEMPLATE_INVALID", {
      file,
      problem: "has to export its steps as: export const up = [ … ]",
    });
  return up;
}
