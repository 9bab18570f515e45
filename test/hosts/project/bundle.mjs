/** node bundle.mjs BUNDLER INPUT OUTPUT esm|cjs EXTERNAL …: bundles a program for Node, without the packages EXTERNAL. */
import { createRequire } from "node:module";
import { basename, dirname, extname } from "node:path";

const [bundler, input, output, format, ...external] = process.argv.slice(2);
const isModule = format === "esm";
const load = createRequire(import.meta.url);

/** The settings of rollup and rolldown: what is imported later is in files of its own. */
const severalFiles = {
  dir: dirname(output),
  entryFileNames: basename(output),
  chunkFileNames: `${basename(output)}-[name]${extname(output)}`,
};

const bundlers = {
  async esbuild() {
    await load("esbuild").build({
      entryPoints: [input],
      outfile: output,
      bundle: true,
      platform: "node",
      format,
      external,
      logLevel: "error",
    });
  },
  async rollup() {
    const resolve = load("@rollup/plugin-node-resolve").nodeResolve({ preferBuiltins: true });
    const plugins = [resolve, load("@rollup/plugin-commonjs")(), load("@rollup/plugin-json")()];
    const { rollup } = await import("rollup");
    // Removing what is unused takes a minute, and nothing here depends on it.
    const bundle = await rollup({ input, external, plugins, treeshake: false, onwarn() {} });
    await bundle.write({ ...severalFiles, format });
  },
  async rolldown() {
    const { build } = await import("rolldown");
    const settings = { ...severalFiles, format };
    // In CommonJS, some bundlers put nothing in its place.
    const transform = isModule ? {} : { define: { "import.meta.url": "undefined" } };
    await build({ input, external, platform: "node", logLevel: "silent", transform, output: settings });
  },
  async webpack() {
    const kind = isModule ? "module" : "commonjs2";
    const settings = {
      mode: "none",
      target: "node22",
      entry: input,
      externals: external.map((name) => ({ [name]: `${isModule ? "module" : "commonjs"} ${name}` })),
      externalsPresets: { node: true },
      experiments: { outputModule: isModule },
      output: {
        path: dirname(output),
        filename: basename(output),
        library: { type: kind },
        chunkFormat: isModule ? "module" : "commonjs",
      },
    };
    await new Promise((resolve, reject) => {
      load("webpack")(settings, (error, stats) => {
        if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString({ preset: "errors-only" })));
        else resolve();
      });
    });
  },
};

await bundlers[bundler]();
