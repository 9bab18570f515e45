/**
 * The long checks and the benchmarks by name: `npm run check clients`, `npm run bench pending`. What comes after the name
 * goes to the script; options come after `--`. Without a name, the names are printed.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bench = (name: string) => [`test/bench/${name}.ts`];

/** By the script of package.json: by name, the arguments of Node. */
export const scripts: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  check: {
    clients: ["test/clients/run.ts"],
    "crash-matrix": ["test/fault/crash-matrix.ts"],
    crowd: ["test/crowd/run.ts"],
    engines: ["test/clients/engines.ts"],
    environment: ["test/environments/run.ts"],
    fuzz: ["test/fuzz/run.ts"],
    hosts: ["test/hosts/run.ts"],
    lines: ["test/budgets.ts"],
    indexes: ["test/clients/indexes.ts"],
    matrix: ["test/oracle/matrix/run.ts"],
    pylance: ["node_modules/vitest/vitest.mjs", "run", "--config", "test/pylance/vitest.config.ts"],
    queries: ["test/queries/run.ts"],
    sequences: ["test/sequences/run.ts"],
    "store-race": ["test/fault/store-race.ts"],
  },
  bench: {
    backfill: bench("backfill"),
    databases: bench("databases"),
    greedy: bench("greedy"),
    growth: bench("growth"),
    large: bench("large"),
    machines: bench("machines"),
    memory: bench("memory"),
    peers: bench("peers"),
    pending: bench("pending"),
    prepare: bench("prepare"),
    report: bench("report"),
    rest: bench("rest"),
    run: bench("run"),
    shards: bench("shards"),
    switch: bench("switch"),
    testing: bench("testing"),
  },
};

/** Those that run the built command. */
const built: ReadonlySet<string> = new Set(["crowd", "engines", "environment", "fuzz", "greedy", "hosts"]);

if (import.meta.main) run(...process.argv.slice(2));

function run(script = "", name = "", ...args: readonly string[]): void {
  const known = scripts[script]!;
  if (!Object.hasOwn(known, name)) {
    console.error(`npm run ${script} needs one of these names: ${Object.keys(known).join(", ")}`);
    process.exitCode = 2;
    return;
  }
  const run = (program: string, given: readonly string[]) =>
    spawnSync(program, given, { cwd: root, stdio: "inherit" }).status ?? 1;
  const failed = built.has(name) ? run("npm", ["run", "build"]) : 0;
  process.exitCode = failed === 0 ? run(process.execPath, [...known[name]!, ...args]) : failed;
}
