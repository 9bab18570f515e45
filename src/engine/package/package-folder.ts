/** The folder of this package, with files that are no modules. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

export function packageFolder(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
