/** The hosts of `npm run check hosts`, and how each runs a file that uses the package. */

/** What is tried in each host: the command, a program, and databases for tests. */
export const works = ["up", "program", "testing"] as const;
export type Work = (typeof works)[number];

/** From the npm registry. */
export const packages: Readonly<Record<string, string>> = {
  "@lancedb/lancedb": "0.39.0",
  "@rollup/plugin-commonjs": "29.0.3",
  "@rollup/plugin-json": "6.1.0",
  "@rollup/plugin-node-resolve": "16.0.3",
  bun: "1.4.5",
  deno: "2.9.6",
  esbuild: "0.28.2",
  jest: "30.5.2",
  mocha: "12.0.3",
  rolldown: "1.2.19",
  rollup: "4.68.8",
  tsx: "4.23.15",
  vitest: "5.1.2",
  webpack: "5.113.0",
};

/** The versions of Node in which all hosts are tried that run in Node. */
export const nodes: readonly string[] = ["22.23.3", "24.21.0", "26.10.0"];

export interface Host {
  readonly name: string;
  readonly isModule: boolean;
  /** The end of the file's name; by default what Node takes for a module of the kind. */
  readonly extension?: string;
  /** The file's code that calls the work; `call` does so, and never throws. */
  readonly calling?: (call: string) => string;
  /** Only `program` if it is not given. */
  readonly works?: readonly Work[];
  /** The program and its arguments. "node" stands for the version in question; other names are of installed programs. */
  readonly run?: (file: string) => readonly string[];
  /** The bundler whose output is run in place of the file, and whether the package is in it. */
  readonly bundler?: { readonly name: string; readonly isInside: boolean };
}

const command = "node_modules/lance-migrate/dist/bin.js";
const all = { works };
const inTests = { works: ["program", "testing"] } as const;

/** The host for modules of both kinds. */
function both(name: string, host: Omit<Host, "name" | "isModule">): readonly Host[] {
  const ofKind = (isModule: boolean, kind: string) => ({ ...host, name: `${name}, ${kind}`, isModule });
  return [ofKind(true, "ES module"), ofKind(false, "CommonJS")];
}

/** A program in a worker thread; the call is that of the worker. */
const inWorker = (call: string) => `
if (isMainThread) new Worker(__filename);
else ${call};`;

const inBundle = (name: string, isInside: boolean) =>
  both(`${name}, the package ${isInside ? "inside" : "outside"}`, { bundler: { name, isInside } });

export const hosts: readonly Host[] = [
  ...both("Node", all),
  { name: "Node, TypeScript", isModule: true, extension: "ts", ...inTests },
  {
    name: "Node without type stripping",
    isModule: true,
    works,
    run: (file) => ["node", "--no-experimental-strip-types", file],
  },
  {
    name: "a worker thread",
    isModule: false,
    ...inTests,
    calling: (call) => `const { isMainThread, Worker } = require("node:worker_threads");${inWorker(call)}`,
  },
  { name: "node:vm", isModule: false, ...inTests, run: (file) => ["node", "vm.cjs", file] },
  ...both("tsx", { ...all, run: (file) => ["node", "node_modules/tsx/dist/cli.mjs", file] }),
  ...both("mocha", {
    ...inTests,
    calling: (call) => `it("works", async function () { this.timeout(0); await ${call}; });`,
    run: (file) => ["node", "node_modules/mocha/bin/mocha.js", file],
  }),
  ...both("Jest", { ...inTests, ...jest([]) }),
  ...both("Jest with --experimental-vm-modules", { ...inTests, ...jest(["--experimental-vm-modules"]) }),
  ...["forks", "threads", "vmForks", "vmThreads"].map((pool) => ({
    name: `Vitest, pool ${pool}`,
    isModule: true,
    extension: "test.js",
    ...inTests,
    calling: (call: string) => `import { test } from "vitest"; test("works", () => ${call}, 600_000);`,
    run: (file: string) => ["node", "node_modules/vitest/vitest.mjs", "run", "--pool", pool, file],
  })),
  ...["esbuild", "webpack", "rollup", "rolldown"].flatMap((name) => [
    ...inBundle(name, false),
    ...inBundle(name, true),
  ]),
  ...both("Bun", { ...all, run: (file) => ["bun", file] }),
  ...both("Deno", { ...all, run: (file) => ["deno", "run", "-A", file] }),
];

function jest(options: readonly string[]) {
  return {
    calling: (call: string) => `test("works", () => ${call}, 600_000);`,
    run: (file: string) => [
      "node",
      ...options,
      "node_modules/jest/bin/jest.js",
      "--config",
      `{ "testRegex": "${file.replaceAll(".", "\\\\.")}$", "transform": {}, "moduleFileExtensions": ["js", "mjs", "cjs"] }`,
    ],
  };
}

export const runOf = ({ run = (file) => ["node", file] }: Host, file: string) => run(file);
export const commandOf = (host: Host) => [...runOf(host, command), "up"];
