import { describe, expect, test } from "vitest";
import { aProject, type Project } from "../support/project.ts";

function aProjectWithSwaps(): Project {
  const project = aProject();
  project.migration("0001_create.ts", `m.createTable("t", { a: m.int32(), b: m.int32() }),`);
  project.migration(
    "0002_swap.ts",
    `m.alterColumns("t", [{ path: "a", rename: "b" }, { path: "b", rename: "a" }]), m.retypeColumn("t", "a", m.int64()),`,
  );
  return project;
}

const targets = [
  { model: "embedded", config: { kind: "lance", uri: ".lancedb" } },
  { model: "namespace", config: { kind: "rest", dialect: "namespace" } },
  { model: "service", config: { kind: "rest" } },
] as const;

test.each(targets)(
  "a project's own migrations hold as on $model, and nothing is written",
  async ({ model, config }) => {
    const project = aProjectWithSwaps();
    project.write("migrate.config.ts", `export default { targets: { only: ${JSON.stringify(config)} } };\n`);
    const people = await project.migrate(["simulate", "--schedules", "100"]);
    expect(people).toMatchObject({ code: 0, stderr: "" });
    expect(people.stdout).toMatch(/^\d+ runs, .*\n100 schedules: everything held\n$/);
    const { code, stdout } = await project.migrate(["simulate", "--schedules", "100", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ model, migrations: 2, schedules: 100, violations: [] });
    expect(JSON.parse(stdout).counts.run).toBeGreaterThan(200);
  },
);

test("one schedule is counted as one", async () => {
  const { stdout } = await aProjectWithSwaps().migrate(["simulate", "--schedules", "1"]);
  expect(stdout).toMatch(/^1 schedule: everything held$/m);
});

test("a seed shows the same schedule twice", async () => {
  const project = aProjectWithSwaps();
  const [one, other] = [
    await project.migrate(["simulate", "--seed", "7"]),
    await project.migrate(["simulate", "--seed", "7"]),
  ];
  expect(one).toMatchObject({ code: 0, stderr: "" });
  expect(one.stdout).toMatch(/run 1 -> [^]*\neverything held\n$/);
  expect(other.stdout).toBe(one.stdout);
});

describe("what can't be simulated", () => {
  test.each([
    ...["0", "-1", "1e9", "1000000000", "many"].map((schedules) => ({
      args: ["--schedules", schedules],
      code: 2,
      says: "--schedules has to be a whole number from 1 to 999999999",
    })),
    { args: ["--schedules"], code: 2, says: /--schedules/ },
    { args: ["--seed", "-1"], code: 2, says: "--seed has to be a whole number from 0 to 999999999" },
    { args: ["--seed", "1", "--schedules", "5"], code: 2, says: "--seed shows one schedule; leave out --schedules" },
    { args: ["--target", "nope"], code: 2, says: /nope/ },
  ])("$args", async ({ args, code, says }) => {
    const finished = await aProjectWithSwaps().migrate(["simulate", ...args]);
    expect(finished).toMatchObject({ code, stdout: "" });
    expect(finished.stderr).toMatch(says);
    expect(finished.stderr.trimEnd()).not.toContain("\n");
  });

  test("no migrations at all", async () => {
    const finished = await aProject().migrate(["simulate"]);
    expect(finished).toMatchObject({ code: 2, stdout: "" });
    expect(finished.stderr).toBe("there are no migrations to simulate; write one with migrate new\n");
  });

  test("migrations that could not run anyway", async () => {
    const project = aProjectWithSwaps();
    project.migration("0003_wrong.ts", `m.renameColumn("t", "nope", "x"),`);
    const finished = await project.migrate(["simulate"]);
    expect(finished).toMatchObject({ code: 4, stdout: "" });
    expect(finished.stderr).toMatch(/^0003_wrong\.ts, step 1 \(renameColumn\).*no column nope/);
  });
});
