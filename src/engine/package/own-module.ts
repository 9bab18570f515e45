/** The module that this code is in: packages are looked for from here. */
import { createRequire } from "node:module";
import { join } from "node:path";

/** Where a bundler has made CommonJS of this code, there is no import.meta.url. */
export const ownModule: string =
  import.meta.url ?? (typeof __filename === "string" ? __filename : join(process.cwd(), "index.js"));

/** Loads a package, or a module of one by its path. A bundler does not see which, and so leaves it out. */
export function requireHere(name: string): unknown {
  return createRequire(ownModule)(name);
}
