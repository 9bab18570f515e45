/** What .ci/tests.ts makes of failures that are planted into small projects, with real runs of Vitest. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import usual from "../../vitest.config.ts";
import { root, startNode, temporaryFolder } from "../support/project.ts";
import { inTurn, leftToLater } from "../files.ts";
import { commits, ofThisCommit } from "../support/rounds.ts";

/** A planted file knows how often it has been run. */
const head = `
import { appendFileSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
appendFileSync(import.meta.filename + ".runs", ".");
const run = readFileSync(import.meta.filename + ".runs", "utf8").length;
const failIn = (...runs) => { if (runs.includes(run)) throw new Error("planted in run " + run); };
`;

/** As vitest.config.ts of this repository has it. */
const setup = join(root, "test/support/setup.ts");

interface Scene {
  /** By the name of a file, its tests. */
  readonly planted: Readonly<Record<string, string>>;
  /** The test that is known to be flaky. */
  readonly known?: string;
  /** The settings of Vitest. */
  readonly config?: object;
}

/** Runs a script of .ci in a project with such files. */
async function ran({ planted, known = "", config = {} }: Scene, script = ["tests.ts"], env = {}) {
  const folder = temporaryFolder();
  for (const name of ["node_modules", "test"]) mkdirSync(join(folder, name));
  symlinkSync(join(root, "node_modules/vitest"), join(folder, "node_modules/vitest"));
  for (const [name, text] of Object.entries(planted)) {
    const file = join(folder, `test/${name}.test.ts`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, head + text);
  }
  writeFileSync(join(folder, "vitest.config.mjs"), `export default { test: ${JSON.stringify(config)} };\n`);
  const list = JSON.stringify(known === "" ? [] : [known]);
  writeFileSync(join(folder, "test/flaky.ts"), `export const flaky: readonly string[] = ${list};\n`);
  const { code, stdout } = await startNode([join(root, ".ci", script[0]!), ...script.slice(1)], folder, env).finished;
  const verdicts = stdout.match(/^(failed|flaky|did not run).*: .*$/gm) ?? [];
  return { code, stdout, verdicts: verdicts.toSorted(), last: stdout.trimEnd().split("\n").at(-1)! };
}

const unlisted = "flaky: passed in a second run; fix it, or add it to test/flaky.ts: ";
const once = `test("fails once", () => failIn(1));`;

interface Case extends Scene {
  readonly what: string;
  readonly verdicts: readonly string[];
  readonly last: string;
}

const cases: readonly Case[] = [
  {
    what: "a hook that fails in both runs, beside a flaky test and a known one that fails in both runs",
    planted: {
      hook: `describe("a suite", () => { beforeAll(() => failIn(1, 2)); test("waits", () => {}); }); ${once}`,
      known: `test("is known", () => failIn(1, 2));`,
    },
    known: "test/known.test.ts > is known",
    verdicts: [
      "failed twice: test/hook.test.ts > a suite",
      "failed twice: test/known.test.ts > is known",
      `${unlisted}test/hook.test.ts > fails once`,
    ],
    last: "0 passed, 3 failed",
  },
  {
    what: "a test that fails in the second run only",
    planted: { later: `test("fails later", () => failIn(2)); ${once}` },
    known: "test/later.test.ts > fails once",
    verdicts: [
      "failed in the second run: test/later.test.ts > fails later",
      "flaky, as in test/flaky.ts: test/later.test.ts > fails once",
    ],
    last: "1 passed, 1 failed",
  },
  {
    what: "a hook that fails in the second run only, and tests that do not run again",
    planted: {
      later: `afterAll(() => failIn(2)); test.skipIf(run === 2)("is skipped", () => {}); if (run === 1) test("goes", () => {}); ${once}`,
    },
    known: "test/later.test.ts > fails once",
    verdicts: [
      "did not run again: test/later.test.ts > goes",
      "did not run again: test/later.test.ts > is skipped",
      "failed in the second run: test/later.test.ts",
      "flaky, as in test/flaky.ts: test/later.test.ts > fails once",
    ],
    last: "1 passed, 3 failed",
  },
  {
    what: "a file that can't be loaded, a hook of a file, and a failed test that does not run again",
    planted: {
      broken: `test("is lost", () => {}); failIn(1, 2);`,
      hook: `afterAll(() => failIn(1, 2)); test("passes", () => {});`,
      gone: `if (run === 1) test("goes", () => failIn(1)); test("stays", () => {});`,
    },
    verdicts: [
      "failed twice: test/broken.test.ts",
      "failed twice: test/hook.test.ts",
      "failed, and did not run again: test/gone.test.ts > goes",
    ],
    last: "2 passed, 3 failed",
  },
  {
    what: "an error that no test catches",
    planted: {
      unhandled: `test("passes", async () => { void Promise.reject(new Error("planted")); await new Promise(setImmediate); });`,
    },
    verdicts: ["failed: an error that no test caught"],
    last: "1 passed, 1 failed",
  },
  {
    what: "more failures than are tried again",
    planted: { many: `test.each([1, 2, 3, 4])("fails with %i", () => failIn(1));` },
    verdicts: [1, 2, 3, 4].map((which) => `failed: test/many.test.ts > fails with ${which}`),
    last: "0 passed, 4 failed",
  },
  {
    what: "skipped tests alone",
    planted: { skipped: `test.skip("waits", () => {});` },
    verdicts: ["failed: no test was run"],
    last: "0 passed, 1 failed",
  },
  { what: "no test at all", planted: {}, verdicts: ["failed: vitest ended with 1"], last: "0 passed, 1 failed" },
];

/** For each commit every fourth one, and for the next commit others. */
test.each(ofThisCommit(cases, 4))("CI is red with $what", async ({ planted, known, verdicts, last }) => {
  const ended = await ran({ planted, known });
  expect(ended, ended.stdout).toMatchObject({ code: 1, verdicts, last });
});

test("CI leaves out files of other commits, and names them", async () => {
  const [turn, left] = [inTurn[commits() % inTurn.length]!, leftToLater(commits())];
  const planted = Object.fromEntries([turn[0]!, left[0]!].map((name) => [name, `test("runs", () => {});`]));
  const ended = await ran({ planted });
  expect(ended.stdout).toContain(`left to the next commits, as in test/files.ts: ${left.join(", ")}\n`);
  expect(ended).toMatchObject({ code: 0, last: "1 passed, 0 failed" });
});

test("CI is red if a test would be the only one that runs", async () => {
  const planted = { only: `test.only("runs", () => {}); test("waits", () => {});` };
  const { allowOnly } = usual.test!;
  expect(await ran({ planted, config: { allowOnly } })).toMatchObject({ code: 1 });
});

test("CI is green if only a test that is known to be flaky fails, once, and states its seed and why it failed", async () => {
  const planted = { flaky: `test("is known", () => { failIn(1); expect(process.env.MIGRATE_SEED).toBe("7"); });` };
  const ended = await ran({ planted, known: "test/flaky.test.ts > is known" }, ["tests.ts"], { MIGRATE_SEED: "7" });
  expect(ended, ended.stdout).toMatchObject({ code: 0, last: "1 passed, 0 failed" });
  expect(ended.stdout).toContain("\n1 flaky, with MIGRATE_SEED=7\n");
  expect(ended.stdout).toContain("planted in run 1");
});

test("two tests of one name are red although both pass", async () => {
  const planted = { twins: `describe("a suite", () => { for (const _ of [1, 2]) test("is a twin", () => {}); });` };
  const { code, stdout } = await ran({ planted, config: { setupFiles: [setup] } });
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringContaining("tests of one name: a suite > is a twin"),
  });
});

test("a test that is known to be flaky is run as often as a night asks for, and the night is red if it fails", async () => {
  const planted = {
    flaky: `describe("a suite", () => test("fails (once)", () => failIn(2))); test("is another", () => failIn(3));`,
  };
  const night = async (known: string) => await ran({ planted, known }, ["flaky.ts", "3"]);
  expect(await night("test/flaky.test.ts > a suite > fails (once)")).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^MIGRATE_SEED=\d+: .*planted in run 2.*\npassed 2 of 3 times: test\/flaky/s),
  });
  expect(await night("")).toMatchObject({ code: 0, last: "no test is known to be flaky" });
});
