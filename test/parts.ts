/** What `npm run nightly` runs: by name of the part, the command. */
import { groups } from "./files.ts";
import { needs, variableOf } from "./support/needs.ts";

const node = (script: string, ...args: readonly string[]) => [process.execPath, script, ...args];
const vitest = (...args: readonly string[]) => node("node_modules/vitest/vitest.mjs", "run", ...args);

/** Nothing is skipped, unless the environment sets the variable of a need to 0. */
const requiringAll = [
  "env",
  ...[...needs.keys()].map(variableOf).flatMap((variable) => (process.env[variable] === "0" ? [] : `${variable}=1`)),
];
const testsIn = (folders: readonly string[]) => [...requiringAll, ...vitest(...folders.map((name) => `test/${name}/`))];

/** The tests come first: they are all that most changes break. */
export const parts: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(groups).map(([name, folders]) => [name, testsIn(folders)])),
  // The suite of each commit, elsewhere.
  environment: ["env", "--unset=MIGRATE_LONG", ...node("test/environments/run.ts", "tonight")],
  pylance: vitest("--config", "test/pylance/vitest.config.ts"),
  engines: node("test/clients/engines.ts"),
  flaky: node(".ci/flaky.ts", "50"),
  stores: node("test/fault/store-race.ts"),
  simulate: node("test/simulate/run.ts", "--schedules", "200000"),
  "crash-matrix": node("test/fault/crash-matrix.ts"),
  histories: node("test/histories/run.ts", "--fresh"),
  "histories-namespace": node("test/histories/run.ts", "--fresh", "--target", "namespace", "--histories", "300"),
  sequences: node("test/sequences/run.ts"),
  // The whole in a week.
  matrix: node("test/oracle/matrix/run.ts", "--part", `${new Date().getUTCDay()}/7`),
  fuzz: node("test/fuzz/run.ts"),
  queries: node("test/queries/run.ts"),
  crowd: node("test/crowd/run.ts"),
  hosts: node("test/hosts/run.ts"),
  // Its tests must draw the same each time.
  mutants: ["env", "--unset=MIGRATE_LONG", ...node("test/mutants/run.ts")],
};
