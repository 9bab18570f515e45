/**
 * node vm.cjs FILE: runs a CommonJS file as Jest does: in a realm of its own, without hooks for modules, and with the package
 * that exports names for require(), in the same realm.
 */
const { readFileSync } = require("node:fs");
const hooks = require("node:module");
const { createContext, runInContext } = require("node:vm");

hooks.registerHooks = () => {
  throw new Error("there are no hooks here");
};
const context = createContext({ AbortController, console, process });

function run(file, given) {
  const module = { exports: {} };
  const code = `(function (module, require, __filename) {${readFileSync(file, "utf8")}\n})`;
  runInContext(code, context)(module, given, file);
  return module.exports;
}

run(process.argv[2], (name) => run(require.resolve(name).replace(/js$/, "cjs"), require));
