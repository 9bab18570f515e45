/** Preloaded into the processes of tests: there "lance-migrate" is its source, as in src, and not the built package. */
import { enableCompileCache, registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const source = new URL("../../src/index.ts", import.meta.url).href;

// .ci/run sets it for this process alone: what a test starts has the memory that it has at a user's.
delete process.env["MALLOC_ARENA_MAX"];

// What Node makes of modules is kept for the other processes; the one of test/support/project.ts.
enableCompileCache(join(tmpdir(), "lance-migrate-code"));

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "lance-migrate" ? { url: source, shortCircuit: true } : next(specifier, context),
});
