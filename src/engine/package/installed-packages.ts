/** Packages that only some projects need, and that are therefore optional peer dependencies. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { MigrateError } from "../../errors/migrate-error.ts";

/** The folder of the project, in which its packages are looked for. */
let project: string | undefined;

/** Looks for packages of this project first. A process works on one project: the first one that it opens. */
export function usePackagesOf(folder: string): void {
  project ??= folder;
}

export function projectFolder(): string {
  return project ?? process.cwd();
}

/** The path of a package's main module; undefined if the package is not installed where `from` would find it. */
export function findPackage(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Throws ERR_PACKAGES_MISSING if not all are installed beside this tool. `packages`: their versions, by name. */
export function requirePackages(use: string, packages: Readonly<Record<string, string>>): void {
  const missing = Object.keys(packages).filter((name) => findPackage(name, import.meta.url) === undefined);
  if (missing.length === 0) return;
  const versions = missing.map((name) => `${name}@${packages[name]}`);
  throw new MigrateError("ERR_PACKAGES_MISSING", { use, packages: missing, install: installCommand(versions) });
}

const managers = [
  { lock: "package-lock.json", add: "npm install", prefix: "" },
  { lock: "pnpm-lock.yaml", add: "pnpm add", prefix: "" },
  { lock: "yarn.lock", add: "yarn add", prefix: "" },
  { lock: "bun.lock", add: "bun add", prefix: "" },
  { lock: "bun.lockb", add: "bun add", prefix: "" },
  { lock: "deno.lock", add: "deno add", prefix: "npm:" },
];

/** The command that installs packages, for the package manager whose lock file is nearest to the project. */
export function installCommand(packages: readonly string[]): string {
  const { add, prefix } = managerAbove(projectFolder()) ?? managers[0]!;
  return [add, ...packages.map((name) => prefix + name)].join(" ");
}

function managerAbove(folder: string): (typeof managers)[number] | undefined {
  const found = managers.find(({ lock }) => existsSync(join(folder, lock)));
  const parent = dirname(folder);
  return found !== undefined || parent === folder ? found : managerAbove(parent);
}
