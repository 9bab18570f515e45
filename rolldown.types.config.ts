import { defineConfig, type Plugin } from "rolldown";
import { dts } from "rolldown-plugin-dts";

/** Adds nothing to the types of Node or of browsers. With it, a project that has neither can be checked too. */
const withSignal: Plugin = {
  name: "with signal",
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) if (file.type === "chunk") file.code = `${globals}${file.code}`;
  },
};

const globals = `declare global {
  interface AbortSignal {}
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}
`;

/** The types of the package in one file, with those of zod, so that they are complete without any other package. */
export default defineConfig({
  input: { index: "src/index.ts", app: "src/features/app/app.ts", testing: "src/features/testing/testing.ts" },
  plugins: [dts({ dtsOnly: true, tsconfig: "tsconfig.build.json" }), withSignal],
  // What the public types do not lead to. The bundler can't read some of it.
  external: [/^@lancedb\//, /^apache-arrow/, /^flatbuffers$/, /\/locales\//, /^node:/],
  output: { dir: "dist/types", format: "esm", cleanDir: true },
});
