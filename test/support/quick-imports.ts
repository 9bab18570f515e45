/**
 * Vitest tells its main process of every import, which no test needs: a third of what an import costs, and tests import
 * thousands of migrations. A hook that is registered after that of Vitest comes before it, and resolves what is plain itself.
 */
import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

registerHooks({
  resolve(specifier, context, next) {
    const isPlain = /^(file:|\.\.?\/)/.test(specifier) && context.conditions.includes("import");
    // The path of a test has the mark by which Vitest knows it.
    if (!isPlain || context.parentURL === undefined || specifier.includes("vitest=")) return next(specifier, context);
    const { href } = new URL(specifier, context.parentURL);
    // Node says best what is wrong with the import of a file that is missing.
    if (!/^file:.*\.m?[jt]s(\?|$)/.test(href) || !existsSync(fileURLToPath(href))) return next(specifier, context);
    return { url: href, shortCircuit: true };
  },
});
