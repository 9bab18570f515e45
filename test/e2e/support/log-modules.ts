// Preloaded into a run (NODE_OPTIONS=--import …): writes down what it loads, a line of JSON a module, and on whose account.
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";

const log = process.env["MODULES_LOG"];

// These hooks see require() too, also that of createRequire().
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    const line = JSON.stringify({ specifier, url: resolved.url, parent: context.parentURL ?? "" });
    if (log !== undefined) appendFileSync(log, `${line}\n`);
    return resolved;
  },
});
