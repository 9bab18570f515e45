/**
 * Which extension the files get that are written for a project: TypeScript or JavaScript, as the project's own files are,
 * and one that Node loads as an ES module.
 */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { foldersAbove, packageAt } from "../../engine/package/package-manager.ts";
import { parseFileName } from "../../migrations/file-name.ts";
import { catchMigrateError } from "../../errors/migrate-error.ts";
import type { LoadedConfig } from "../../session/load-config.ts";

export type Language = "ts" | "js";
export type FileKind = Language | `m${Language}`;

type ProjectFolders = Pick<LoadedConfig, "folder" | "file" | "migrations">;

/** The kind of a new file in the migrations folder, or in `folder`. */
export function fileKind(project: ProjectFolders, folder = resolve(project.folder, project.migrations)): FileKind {
  const last = lastMigration(resolve(project.folder, project.migrations));
  const language = languageOf(last) ?? languageOf(project.file) ?? languageOfProject(project.folder);
  if (/\.m.s$/.test(last)) return `m${language}`;
  const type = moduleType(folder);
  // Without a type, Node finds out what a file is, so files that are there already need no other kind beside them.
  const isPlain = type === "module" || type === "any" || (type === undefined && last !== "");
  return isPlain ? language : `m${language}`;
}

/** The file that declares the tables, relative to the configuration: the one that it names, else one that exists. */
export function schemaFile(config: ProjectFolders & Pick<LoadedConfig, "schema">): string {
  const names = ["ts", "mts", "js", "mjs"].map((kind) => `schema.${kind}`);
  const known = config.schema ?? names.find((name) => existsSync(join(config.folder, name)));
  return known ?? `schema.${fileKind(config, config.folder)}`;
}

function languageOf(file: string): Language | undefined {
  const extension = /\.m?([tj]s)$/.exec(file)?.[1];
  return extension as Language | undefined;
}

/** The name of a migration file; empty if there is none. */
export function lastMigration(folder: string): string {
  const isMigration = (file: string) =>
    catchMigrateError(
      () => parseFileName(file),
      () => undefined,
    ) !== undefined;
  return filesIn(folder).findLast(isMigration) ?? "";
}

/** TypeScript, unless there is JavaScript and no sign of TypeScript. */
function languageOfProject(folder: string): Language {
  // A tool's own files, such as .pnp.cjs of Yarn, say nothing about the project.
  const own = ["templates", "", "src"]
    .flatMap((name) => filesIn(join(folder, name)))
    .filter((file) => !file.startsWith("."));
  const isTyped = foldersAbove(folder).some(usesTypeScript) || own.some((file) => /\.[cm]?tsx?$/.test(file));
  return !isTyped && own.some((file) => /\.[cm]?jsx?$/.test(file)) ? "js" : "ts";
}

function usesTypeScript(folder: string): boolean {
  const { dependencies, devDependencies } = packageAt(folder) ?? {};
  const configs = ["tsconfig.json", "deno.json", "deno.jsonc"];
  return (
    configs.some((name) => existsSync(join(folder, name))) || "typescript" in { ...dependencies, ...devDependencies }
  );
}

/** What Node takes the folder's files for; "any" if there is no package.json. */
function moduleType(folder: string): "module" | "commonjs" | "any" | undefined {
  const nearest = foldersAbove(folder).find((one) => existsSync(join(one, "package.json")));
  if (nearest === undefined) return "any";
  const type = packageAt(nearest)?.type;
  return type === "module" || type === "commonjs" ? type : undefined;
}

/** The names of what is in a folder; none if it can't be read. */
export function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
