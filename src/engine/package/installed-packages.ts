/** Packages that only some projects need, and that are therefore optional peer dependencies. */
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { MigrateError } from "../../errors/migrate-error.ts";
import { ownModule } from "./own-module.ts";
import { packageManagerOf } from "./package-manager.ts";

/** The folder of the project, in which its packages are looked for. */
let project: string | undefined;

/** Looks for packages of this project first. A process works on one project: the first one that it opens. */
export function usePackagesOf(folder: string): void {
  project ??= resolve(folder);
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
  const missing = missingOf(packages);
  if (missing.length === 0) return;
  const install = installCommand(missing.map((name) => `${name}@${packages[name]}`));
  throw new MigrateError("ERR_PACKAGES_MISSING", { use, packages: missing, install });
}

/** Which packages are not installed beside this tool. */
export function missingOf(packages: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(packages).filter((name) => findPackage(name, ownModule) === undefined);
}

/** The command that installs packages, for the project's package manager. */
export function installCommand(packages: readonly string[]): string {
  const { add, prefix = "" } = packageManagerOf(projectFolder());
  return [add, ...packages.map((name) => prefix + name)].join(" ");
}
