/** The folder of this package, with files that are no modules. */
import { dirname, join } from "node:path";
import { MigrateError } from "../../errors/migrate-error.ts";
import { findPackage, installCommand, projectFolder } from "./installed-packages.ts";
import { ownModule } from "./own-module.ts";

const name = "lance-migrate";

/** Throws ERR_PACKAGES_MISSING in a bundled program, which has only the code, if the package is not installed there too. */
export function packageFolder(): string {
  const [file] = [ownModule, join(projectFolder(), "package.json")].flatMap(
    (from) => findPackage(`${name}/package.json`, from) ?? [],
  );
  if (file !== undefined) return dirname(file);
  const use = "this part of a bundled program";
  throw new MigrateError("ERR_PACKAGES_MISSING", { use, packages: [name], install: installCommand([name]) });
}
