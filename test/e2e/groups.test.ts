/** What people see of migrations that run as a group, with the built command. */
import { expect, test } from "vitest";
import { planDocumentShape } from "../../src/plan/document/plan-document.ts";
import { aProjectWithGroup, killAfter } from "./support/killed-group.ts";
import { onStdout } from "../support/project.ts";

const anHour = 3_600_000;
const doubt =
  "the group 0002 to 0005 may have run further than is recorded; the next migrate up finds out and resumes it";

test("status, history, verify and repair state that the group of a killed run is in doubt", async () => {
  const project = await aProjectWithGroup();
  await killAfter(1, project, anHour);
  const said = async (...args: readonly string[]) => {
    const { code, stdout } = await project.migrate(args);
    return { code, lines: stdout.split("\n").filter((line) => /doubt|group|may have|under way/.test(line)) };
  };
  const rows = [2, 3, 4, 5].map((version) => expect.stringMatching(`^pending  000${version}_m +in doubt$`));
  const way = "0005_m is in doubt: to continue, migrate up; to go back, migrate up --to 5, then migrate down";
  expect(await said("status")).toEqual({ code: 0, lines: [...rows, doubt, way] });
  expect(await said("verify")).toEqual({ code: 0, lines: [doubt] });
  expect(await said("repair")).toEqual({ code: 0, lines: [doubt] });
  const beginning = expect.stringMatching(/^\d\.\d .* still running .* begins the group 0002 to 0005$/);
  expect(await said("history")).toEqual({ code: 0, lines: [beginning, doubt] });

  const document = async (command: string) =>
    JSON.parse((await project.migrate([command, "--json"])).stdout) as unknown;
  expect(await document("status")).toMatchObject({
    pending: [2, 3, 4, 5].map((version) => ({ version, done: 0, inDoubt: true, underWay: false })),
    doubts: [doubt],
  });
  for (const command of ["verify", "history"]) expect(await document(command)).toMatchObject({ doubts: [doubt] });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await said("status")).toEqual({ code: 0, lines: [] });
  for (const command of ["status", "verify", "history"]) expect(await document(command)).toMatchObject({ doubts: [] });
});

test("a group whose run may be alive is under way", async () => {
  const project = await aProjectWithGroup();
  await killAfter(1, project, -anHour);
  const { stdout } = await project.migrate(["status"]);
  expect(stdout).toMatch(/^pending {2}0002_m +under way$/m);
  for (const command of ["status", "verify", "repair", "history"])
    expect(await project.migrate([command])).toMatchObject(onStdout(0, "the group 0002 to 0005 is under way\n"));
});

test("a single migration of a killed run is in doubt too", async () => {
  const project = await aProjectWithGroup(0);
  await killAfter(0, project, anHour, { stepByStep: true });
  const doubt = "0001 may have run further than is recorded; the next migrate up finds out and resumes it\n";
  expect(await project.migrate(["history"])).toMatchObject({
    code: 0,
    stdout: `no record is about a migration; --verbose shows all records\n${doubt}`,
  });
  const { stdout } = await project.migrate(["status"]);
  expect(stdout).toMatch(/^pending {2}0001_m +in doubt\npending {2}0002_m\n/);
  expect(stdout).toContain(doubt);
  expect((await project.migrate(["verify"])).stdout).toContain(doubt);
});

const rollbacks = `  instead of these actions, which have the same result:
  0002_m
    rename t.a to c
      back: rename t.c to a (exact, metadata only, 1 version)
        t.alterColumns([{"path":"c","rename":"a"}])
    rename u.a to c
      back: rename u.c to a (exact, metadata only, 1 version)
        u.alterColumns([{"path":"c","rename":"a"}])
  0003_m
`;
const oneByOne =
  /^0002_m\n {2}rename t\.a to c \(.*\n {2}rename u\.a to c \(.*\n {2}back: .*\n[^]*\n4 migrations, 6 actions: metadata only, 6 versions\n/;

test("plan and up show the calls that a group makes, and plan also what each migration does", async () => {
  const project = await aProjectWithGroup();
  const { stdout } = await project.migrate(["plan", "-v"]);
  expect(
    stdout.startsWith(`0002_m to 0005_m, as a group: 3 calls
  rename t.a to d (metadata only, 1 version)
    t.alterColumns([{"path":"a","rename":"d"}])
  rename u.a to d (metadata only, 1 version)
    u.alterColumns([{"path":"a","rename":"d"}])
  create table v (z int32, b int32) (metadata only, 1 version)
    db.createEmptyTable("v", <2 columns>)
${rollbacks}`),
  ).toBe(true);
  expect(stdout.endsWith("\n4 migrations, 6 actions: metadata only, 3 versions\nverdict: ready\n")).toBe(true);
  expect((await project.migrate(["up", "--dry-run", "-v"])).stdout).toBe(stdout);
  expect((await project.migrate(["plan"])).stdout).toMatch(
    /^0002_m to 0005_m, as a group: 3 calls\n {2}rename t.a to d \(metadata only\)\n {2}rename u.a to d .*\n.*\n {2}instead .*\n {2}0002_m\n {4}rename t.a to c\n {4}rename u.a to c\n {4}back: rename u.c to a, then rename t.c to a \(exact, metadata only\)\n/,
  );

  const document = planDocumentShape.parse(JSON.parse((await project.migrate(["plan", "--json"])).stdout));
  expect(document.groups).toMatchObject([
    {
      versions: [2, 3, 4, 5],
      done: 0,
      total: 3,
      actions: [
        { text: "rename t.a to d", calls: ['t.alterColumns([{"path":"a","rename":"d"}])'], cost: { versions: 1 } },
        { text: "rename u.a to d", action: { kind: "alterColumns", table: "u" } },
        { text: "create table v (z int32, b int32)" },
      ],
    },
  ]);
  const own = document.pending!.flatMap(({ actions }) => actions);
  expect(own).toHaveLength(6);
  for (const action of own) expect(action).not.toHaveProperty("calls");

  for (const flags of [
    ["plan", "--step-by-step"],
    ["up", "--dry-run", "--step-by-step"],
  ])
    expect((await project.migrate(flags)).stdout).toMatch(oneByOne);
  const { stderr } = await project.migrate(["up"]);
  expect(
    stderr
      .replaceAll(/ \(\d.*\)$/gm, "")
      .split("\n")
      .toSorted(),
  ).toEqual([
    "",
    "  create table v (z int32, b int32)",
    "  rename t.a to d",
    "  rename u.a to d",
    "0002_m to 0005_m, as a group: 3 calls",
    "4 migrations pending, 6 actions",
  ]);
});

test("a saved plan runs one by one, and its text says so if up would run a group", async () => {
  const project = await aProjectWithGroup();
  const words = "a saved plan runs its migrations one by one; migrate up without it runs some of them as a group\n";
  for (const flags of [
    ["plan", "--out", "plan.json"],
    ["plan", "--plan", "plan.json"],
  ]) {
    const { stdout } = await project.migrate(flags);
    expect(stdout).toMatch(oneByOne);
    expect(stdout).toContain(words);
  }
  expect(await project.migrate(["up", "--plan", "plan.json"])).toMatchObject({
    code: 0,
    stdout: expect.not.stringContaining("group"),
  });
  project.write(
    "migrations/0006_m.mjs",
    'export const up = [{ kind: "renameColumn", table: "u", path: "d", name: "e" }];',
  );
  const { stdout } = await project.migrate(["plan", "--out", "plan.json"]);
  expect(stdout).toMatch(/^0006_m\n/);
  expect(stdout).not.toContain(words);
});

test("a group that has begun and can't run as one any more is left to the release that began it", async () => {
  const project = await aProjectWithGroup();
  await killAfter(1, project, anHour);
  project.write(
    "migrations/0005_m.mjs",
    'export const up = [{ kind: "retypeColumn", table: "u", path: "c", type: { kind: "int64" } }];',
  );
  expect(await project.migrate(["up", "--json"])).toMatchObject({
    code: 4,
    stdout: expect.stringContaining('"ERR_GROUP_CHANGED"'),
    stderr:
      "the migrations 0002_m to 0005_m began as one group and were not finished, and the files that are here can't run as one; deploy the release that began them\n",
  });
});

test("plan of a group that has begun shows the calls that are left, and can be saved", async () => {
  const project = await aProjectWithGroup();
  await killAfter(1, project, anHour);
  for (const flags of [
    ["plan"],
    ["plan", "--step-by-step"],
    ["plan", "--out", "plan.json"],
    ["plan", "--plan", "plan.json"],
  ])
    expect(await project.migrate(flags)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^0002_m to 0005_m, as a group: 3 calls \(1 done already\)\n {2}rename [tu][^]*\n4 migrations, 4 actions: metadata only, 2 versions\nverdict: ready \(4 unfinished\)\n$/,
      ),
    });
  expect(await project.migrate(["up", "--plan", "plan.json"])).toMatchObject(
    onStdout(0, "applied 0005_m (in a group of 4"),
  );
});
