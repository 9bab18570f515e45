/** What people see of migrations that run as a group, with the built command. */
import { expect, test } from "vitest";
import { aProjectWithGroup, killAfter } from "./support/killed-group.ts";

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
  expect(await said("status")).toEqual({ code: 0, lines: [...rows, doubt] });
  expect(await said("verify")).toEqual({ code: 0, lines: [doubt] });
  expect(await said("repair")).toEqual({ code: 0, lines: [doubt] });
  const beginning = expect.stringMatching(/^2\.1 .* renewed .* begins the group 0002 to 0005$/);
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
    expect(await project.migrate([command])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("the group 0002 to 0005 is under way\n"),
    });
});

test("history of a run that was killed before it changed anything states what is in doubt", async () => {
  const project = await aProjectWithGroup(0);
  await killAfter(0, project, anHour);
  expect((await project.migrate(["history"])).stdout).toMatch(
    /^1\.1 .* begins the group 0001 to 0005\nthe group 0001 to 0005 may have run further than is recorded; .*\n$/,
  );
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
