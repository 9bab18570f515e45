/** The recipes of docs/internals/extending.md, and copies of the sources to which they are added. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../support/project.ts";
import { oneThread } from "../support/type-check.ts";
import { blocksOf } from "./blocks.ts";

/** A new file, or a line of an existing one. */
interface Part {
  readonly file: string;
  readonly code: string;
  readonly isNew: boolean;
  /** The line that it follows; undefined at the end of the file. */
  readonly below: string | undefined;
}

const page = "docs/internals/extending.md";

/** By what they add, such as `step-kind`. */
export const recipes: ReadonlyMap<string, readonly Part[]> = new Map(
  blocksOf(page, readFileSync(join(root, page), "utf8")).map(({ section, text }) => [
    section.replace(/^.*#adding-an?-/, ""),
    text.split(/^(?=\/\/ (?:add to )?src\/)/m).map(partOf),
  ]),
);

function partOf(text: string): Part {
  const [first, added, file, below] = /^\/\/ (add to )?(src\/\S+\.ts)(?:, below: (.+))?\n/.exec(text) ?? [];
  if (first === undefined || file === undefined) throw new Error(`${page}: a block begins without a path: ${text}`);
  return { file, code: `${text.slice(first.length).trimEnd()}\n`, isNew: added === undefined, below };
}

/** Copies the sources. `more`: other files and folders of the repository. */
export function copySources(folder: string, ...more: readonly string[]): string {
  for (const part of ["src", "package.json", "tsconfig.json", ...more])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  // Migrations and configurations import the package itself.
  mkdirSync(join(folder, "dist"));
  writeFileSync(join(folder, "dist/index.js"), `export * from "../src/index.ts";\n`);
  return folder;
}

/** Adds a recipe to a copy. `edit` changes its code. */
export function follow(folder: string, recipe: string, edit = (code: string) => code): void {
  for (const { file, code, isNew, below } of recipes.get(recipe)!) {
    const path = join(folder, file);
    if (isNew) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, edit(code), { flag: "wx" });
      continue;
    }
    const text = readFileSync(path, "utf8");
    const [before, after, ...others] = below === undefined ? [text, ""] : text.split(`${below}\n`);
    if (after === undefined || others.length > 0)
      throw new Error(`${page}: ${file} must have this line once: ${below}`);
    writeFileSync(path, [before, below && `${below}\n`, edit(code), after].join(""));
  }
}

export function compile(folder: string): string {
  const args = ["--noEmit", "--declaration", oneThread, "-p", folder];
  const { stdout, stderr } = spawnSync(join(root, "node_modules/.bin/tsc"), args, { encoding: "utf8" });
  return stdout + stderr;
}

/** Runs the command of a copy. */
export function migrateIn(copy: string, args: readonly string[], cwd = copy) {
  return spawnSync(process.execPath, [join(copy, "src/main/bin.ts"), ...args], { cwd, encoding: "utf8" });
}
