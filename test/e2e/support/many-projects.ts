/** Projects for tests that run side by side, where vitest's `onTestFinished` can't tell whose test it is in. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, lstatSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { root, runCommand, startCommand, type Finished, type Processes, type Running } from "../../support/project.ts";

export interface ManyProjects {
  /** A project with these files, by path, and a database. A path that ends in "/" is a folder. */
  project(files: Readonly<Record<string, string>>): SmallProject;
}

export interface SmallProject {
  readonly folder: string;
  migrate(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Finished>;
  start(args: readonly string[], env?: Readonly<Record<string, string>>): Running;
  /** Takes over another project's database as it is. */
  copyDatabase(from: SmallProject): void;
  /** Every file with its size and the time of its last change. */
  tree(): readonly string[];
}

/** Folders that are gone when the test file ends. */
export function manyProjects(processes: Processes = "shared"): ManyProjects {
  const home = mkdtempSync(join(tmpdir(), "lance-migrate-"));
  afterAll(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  return {
    project(files) {
      const folder = mkdtempSync(join(home, "project-"));
      for (const name of ["node_modules", ".lancedb"]) mkdirSync(join(folder, name));
      symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
      for (const [path, text] of Object.entries({ "package.json": `{ "type": "module" }\n`, ...files }))
        writeInto(folder, path, text);
      return {
        folder,
        migrate: (args, env) => runCommand({ folder, args, env }, processes),
        start: (args, env) => startCommand({ folder, args, env }),
        copyDatabase: (from) => cpSync(join(from.folder, ".lancedb"), join(folder, ".lancedb"), { recursive: true }),
        tree: () => treeOf(folder),
      };
    },
  };
}

function writeInto(folder: string, path: string, text: string): void {
  const file = join(folder, path);
  mkdirSync(path.endsWith("/") ? file : dirname(file), { recursive: true });
  if (!path.endsWith("/")) writeFileSync(file, text);
}

function treeOf(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((entry) => entry !== "node_modules")
    .flatMap((entry) => walk(join(folder, entry)));
}

function walk(path: string): readonly string[] {
  const { mtimeMs, size } = lstatSync(path);
  if (!lstatSync(path).isDirectory()) return [`${path} ${size} ${mtimeMs}`];
  return [path, ...readdirSync(path).flatMap((entry) => walk(join(path, entry)))];
}
