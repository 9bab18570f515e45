/** V8's compiled code of the modules that a command loads, kept between commands, because compiling takes long. */
import { existsSync } from "node:fs";
import module from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Has no effect if there is no folder of packages, if it can't be written, or if NODE_DISABLE_COMPILE_CACHE is set. */
export function keepCompiledCode(entry: string): void {
  const { packages, cache } = cacheFolder(fileURLToPath(entry));
  // Deno has no such cache.
  if (existsSync(packages) && typeof module.enableCompileCache === "function") module.enableCompileCache(cache);
}

/**
 * The folder for the compiled code of a package whose command is the file `dist/bin.js`. V8 does not check what it reads, so
 * the folder lies beside the code: a user who can write it can write the code as well.
 */
export function cacheFolder(entry: string): { readonly packages: string; readonly cache: string } {
  const own = dirname(dirname(entry));
  const beside = dirname(own);
  const packages = basename(beside) === "node_modules" ? beside : join(own, "node_modules");
  return { packages, cache: join(packages, ".cache", "lance-migrate") };
}
