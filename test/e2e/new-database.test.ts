/** A mistyped address must not look like success. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, type Project } from "../support/project.ts";

const at = (project: Project, uri: string, guards = "") =>
  project.write(
    "migrate.config.ts",
    `export default { targets: { here: { kind: "lance", uri: "${uri}", ${guards} } } };\n`,
  );

function withMigration(): Project {
  const project = aProject();
  project.migration("0001_people.ts", `m.createTable("people", { id: m.int32() })`);
  return project;
}

const note = "data/lacne has no tables yet; migrate up makes a new database there";

test("a run that makes a new database states where, and the next one does not", async () => {
  const project = withMigration();
  at(project, "data/lacne");
  for (const command of ["plan", "status"]) expect((await project.migrate([command])).stderr).toContain(note);
  expect(existsSync(join(project.folder, "data"))).toBe(false);
  expect((await project.migrate(["up"])).stderr).toContain(note);
  project.migration("0002_more.ts", `m.createTable("more", { id: m.int32() })`);
  const next = await project.migrate(["up"]);
  expect(next).toMatchObject({ code: 0 });
  expect(next.stderr).not.toContain("has no tables yet");
});

test("only the usual place needs no note, and not another of its name", async () => {
  const project = withMigration();
  at(project, ".lancedb");
  expect((await project.migrate(["plan"])).stderr).not.toContain("has no tables yet");
  at(project, "prdo/.lancedb");
  expect((await project.migrate(["plan"])).stderr).toContain("prdo/.lancedb has no tables yet");
});

test("the event of --json has the place", async () => {
  const project = withMigration();
  at(project, "data/lacne");
  const { stdout } = await project.migrate(["up", "--json"]);
  expect(stdout).toMatch(/"event":"planned".*"newDatabase":"[^"]*data\/lacne"/);
});

test("where the database must exist, a mistyped address is refused and nothing is created", async () => {
  const project = withMigration();
  at(project, "data/lance");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  at(project, "data/lance", "guards: { mustExist: true }");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  at(project, "data/lacne", "guards: { mustExist: true }");
  const others = ["verify", "status", "repair", "down", "baseline", "doctor", "report"];
  for (const command of ["plan", "up", ...others]) {
    const { code, stderr } = await project.migrate(command.split(" "));
    expect({ command, code }).toEqual({ command, code: 4 });
    expect(stderr).toContain("data/lacne has no tables, and its guard mustExist allows no new database");
  }
  expect(existsSync(join(project.folder, "data/lacne"))).toBe(false);
});
