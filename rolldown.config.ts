import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "rolldown";

/**
 * Modules of Node, taken from Node directly. An import statement makes Node read every export of such a module, also
 * those that load other modules: `import "node:http"` loads the WebSocket client too.
 */
const builtins: Plugin = {
  name: "builtins",
  resolveId(source, importer = "") {
    // bin.ts also runs in a Node that is too old to have this function.
    const isOurs = /\/src\/(?!main\/bin\.ts$)/.test(importer);
    return isOurs && source.startsWith("node:") ? { id: `\0${source}`, moduleSideEffects: false } : undefined;
  },
  async load(id) {
    if (!id.startsWith("\0node:")) return undefined;
    const name = id.slice(1);
    const exported = Object.keys((await import(name)) as object).filter((key) => key !== "default");
    if (rarely.has(name)) return exported.map((key) => whenCalled(name, key)).join("\n");
    return [
      `const builtin = /* @__PURE__ */ process.getBuiltinModule("${name}");`,
      "const member = (name) => builtin[name];",
      ...exported.map((key) => `export const ${key} = /* @__PURE__ */ member("${key}");`),
      "export default builtin;",
    ].join("\n");
  },
};

/** Modules of which only functions are used, and not by a run with nothing pending. They are loaded by the first call. */
const rarely: ReadonlySet<string> = new Set(["node:fs/promises", "node:os", "node:tls"]);

function whenCalled(name: string, member: string): string {
  return `export const ${member} = (...args) => process.getBuiltinModule("${name}").${member}(...args);`;
}

/**
 * Parts of undici that its client loads and that ours never uses: HTTP/2, which is turned off because it repeats requests
 * silently; the experimental parser; bodies that are forms; SOCKS proxies. They are half of undici's code.
 */
const unused: Plugin = {
  name: "unused",
  load(id) {
    const isUnused = /\/undici\/lib\/(milo\/|web\/|dispatcher\/(client-h2|socks5-proxy-agent|parser-h1)\.js$)/.test(id);
    return isUnused ? "module.exports = { getMiloEnabled: () => false };" : undefined;
  },
};

/** What undici uses of two modules of Node that take a while to load. */
const littleUsed: Readonly<Record<string, string>> = {
  // The assertion itself is loaded when one fails.
  "node:assert": `module.exports = (holds, message) => {
    if (!holds) process.getBuiltinModule("node:assert")(holds, message);
  };`,
  // The largest header, which only an option of Node changes. No body that is sent is an IncomingMessage.
  "node:http": `const options = [process.env.NODE_OPTIONS, ...process.execArgv].join(" ");
  module.exports = options.includes("max-http-header-size")
    ? process.getBuiltinModule("node:http")
    : { maxHeaderSize: 16384, IncomingMessage: class {} };`,
};

/**
 * Compiles undici's parser, which is one large loop in WebAssembly. V8 compiles such a loop again after a few hundred
 * characters of headers, to run faster, and that takes longer than all requests of a run. It counts with the budget that
 * a flag has when the module is made. An unknown flag would be reported on stderr.
 */
const compileParser = `function compileParser(bytes) {
  const isKnown = /^1[23]\\./.test(process.versions.v8);
  const setBudget = (budget) => {
    if (isKnown) process.getBuiltinModule("node:v8").setFlagsFromString("--wasm-tiering-budget=" + budget);
  };
  setBudget(1_000_000_000);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    setBudget(13_000_000); // V8's default
  }
}
`;

const forUndici: Plugin = {
  name: "for undici",
  transform(code, id) {
    if (!id.endsWith("/undici/lib/dispatcher/client-h1.js")) return undefined;
    if (!code.includes("new WebAssembly.Module(")) throw new Error("undici compiles its parser in another way");
    return `${code.replaceAll("new WebAssembly.Module(", "compileParser(")}\n${compileParser}`;
  },
  resolveId(source, importer = "") {
    return /\/undici\/lib\//.test(importer) && source.startsWith("node:") ? `\0undici:${source}` : undefined;
  },
  load(id) {
    const name = /^\0undici:(.*)/.exec(id)?.[1];
    if (name === undefined) return undefined;
    // A require would be made from import.meta.url, which is nowhere when a program is bundled as CommonJS.
    return littleUsed[name] ?? `module.exports = process.getBuiltinModule("${name}");`;
  },
};

/**
 * For require() in Jest, which can't load an ES module: there, Node itself loads it, outside of the realm of the tests. Node
 * and bundlers take the module itself, by other conditions of package.json's exports.
 */
const forJest: Plugin = {
  name: "for Jest",
  generateBundle() {
    for (const name of ["index", "app", "testing"]) {
      const load = `require("node:vm").runInThisContext("process").getBuiltinModule("node:module").createRequire(__filename)`;
      this.emitFile({ type: "asset", fileName: `${name}.cjs`, source: `module.exports = ${load}("./${name}.js");\n` });
    }
  },
};

/** The licences of the packages that are bundled, as these require it. */
const licences: Plugin = {
  name: "licences",
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((part) => (part.type === "chunk" ? part.moduleIds : []));
    const folders = modules.flatMap((id) => /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
    const texts = new Set([...new Set(folders)].map(licenceOf).toSorted());
    this.emitFile({ type: "asset", fileName: "licences.txt", source: [...texts].join(`\n\n${"-".repeat(80)}\n\n`) });
  },
};

function licenceOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, string>;
  const files = readdirSync(folder).filter((one) => /^(licen[cs]e|notice)/i.test(one));
  if (files.length === 0) throw new Error(`${folder} has no licence, and its code would be published`);
  return [`${name} ${version}`, ...files.map((file) => readFileSync(join(folder, file), "utf8").trim())].join("\n\n");
}

/** The script in a page of `migrate report`, as one file without imports, and its style. */
const page = (name: string, folder: string) =>
  defineConfig({
    input: { [name]: `${folder}/main.ts` },
    platform: "browser",
    plugins: [
      {
        name: "style",
        generateBundle() {
          const source = readFileSync(`${folder}/${name}.css`, "utf8");
          this.emitFile({ type: "asset", fileName: `${name}.css`, source });
        },
      },
    ],
    output: { dir: "dist", format: "iife", minify: true },
  });

const featureOf = (id: string) => /\/src\/features\/([^/]+)\//.exec(id)?.[1] ?? null;

export const command = defineConfig({
  input: {
    index: "src/index.ts",
    app: "src/features/app/app.ts",
    testing: "src/features/testing/testing.ts",
    bin: "src/main/bin.ts",
    worker: "src/features/serve/work/worker.ts",
  },
  platform: "node",
  plugins: [builtins, unused, forUndici, forJest, licences],
  // yargs, zod, undici and apache-arrow are bundled: a run with nothing pending spends much of its time opening their many
  // files (npm run bench run). And a project needs no second apache-arrow beside that of the engine: only bytes pass between
  // the two.
  external: [/^@lancedb\//, "workerpool"],
  output: {
    dir: "dist",
    format: "esm",
    cleanDir: true,
    // Finding and opening a file takes time. So a run with nothing pending loads one file for help, one for `up`, one for
    // what the configuration imports, and one for its target.
    codeSplitting: {
      groups: [
        { name: "start", test: /\/src\/main\/start\.ts$/, priority: 8 },
        { name: "index", test: /\/src\/index\.ts$/, priority: 7 },
        // With what both kinds of targets need.
        {
          name: "up",
          test: /\/src\/(main\/main\.ts|cli\/commands\/up\.ts|commands\/up\.ts|engine\/package|targets\/contract|actions\/(kinds\/rows\/update-rows|rewrite\/retype-whole-structs)|schema\/metadata|features\/(index|[^/]+\/(feature|settings))\.ts|wire\/(content-types|lance\/(parse-)?lance-type))/,
          priority: 6,
        },
        { name: "lance", test: /\/src\/targets\/lance\/lance\.ts$/, priority: 4 },
        // What imports parts of apache-arrow, which most commands do not need.
        {
          name: "arrow",
          test: /\/src\/wire\/(arrow\/(arrow-(field|schema)|ipc|empty)|rows\/read-rows)/,
          priority: 3,
        },
        // The rest of it, loaded where rows are read and written.
        { name: "apache-arrow", test: /\/node_modules\/apache-arrow\//, priority: 2 },
        { name: "rest", test: /\/src\/features\/rest\/rest\.ts$/, priority: 2 },
        {
          name: "shared",
          test: /\/src\/(?!features\/(?!shared\/)|wire|features\/shared\/print-source)/,
          minShareCount: 2,
          priority: 2,
        },
        // One file for a feature, without what needs packages that a project may lack.
        {
          name: featureOf,
          test: /\/src\/features\/(author\/(?!scaffold\/(ts-morph|type-problem|fill-template|renumber))|(bundle|completion|contracts|embed|fleet|lint|markdown|rehearse|repair|telemetry|types)\/)/,
          priority: 1,
        },
      ],
    },
    chunkFileNames: "[name]-[hash].js",
    comments: { legal: true, jsdoc: false },
  },
});

// The first removes what an earlier build has left.
export default [
  command,
  page("report", "src/features/report/browser"),
  page("fleet", "src/features/report/browser/fleet"),
];
