/** V8's compiled code of the modules that a command loads, kept between commands: compiling takes a third of their time. */
import module from "node:module";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Has no effect before Node 22.8, if the folder can't be written, or if NODE_DISABLE_COMPILE_CACHE is set. */
export function keepCompiledCode(entry: string): void {
  module.enableCompileCache?.(cacheFolder(fileURLToPath(entry)));
}

/**
 * The folder for the compiled code of a package whose command is the file `dist/bin.js`. V8 does not check what it reads, so
 * the folder lies beside the code: a user who can write it can write the code as well.
 */
export function cacheFolder(entry: string): string {
  const own = dirname(dirname(entry));
  const beside = dirname(own);
  const packages = basename(beside) === "node_modules" ? beside : join(own, "node_modules");
  return join(packages, ".cache", "lance-migrate");
}
