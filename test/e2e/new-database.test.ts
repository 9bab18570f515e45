/** A mistyped address must not look like success. */
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { aProject, onStderr, type Project } from "../support/project.ts";
import { atTerminal } from "./support/terminal.ts";

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

test("verify does not pass a mistyped address over in silence", async () => {
  const project = withMigration();
  at(project, "data/lance");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect((await project.migrate(["verify"])).stderr).toBe("");
  at(project, "data/lacne");
  expect(await project.migrate(["verify"])).toMatchObject(onStderr(4, "data/lacne, and none was made"));
  mkdirSync(join(project.folder, "data/lacne"));
  expect((await project.migrate(["verify"])).stderr).toMatch(/data\/lacne has no tables yet; .*data\/lance, which is/);
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

test("a database of nearly the same name is named", async () => {
  const project = withMigration();
  at(project, "data/lance");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  at(project, "data/lacne");
  expect((await project.migrate(["plan"])).stderr).toMatch(
    /there; \S*data\/lance, which is nearly the same, has tables$/m,
  );
  at(project, "data/elsewhere");
  expect((await project.migrate(["plan"])).stderr).toMatch(/data\/elsewhere has no tables yet; .* there$/m);
});

test("where nobody can be asked, it is refused until its folder is there, or only numbers differ", async () => {
  const project = withMigration();
  at(project, "data/lance1");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  at(project, "data/lacne1");
  for (const command of [["up"], ["up", "--json"], ["verify"]])
    expect(await project.migrate(command)).toMatchObject(
      onStderr(4, `data/lacne1, and none was made; if ${join(project.folder, "data/lance1")} is meant`),
    );
  expect(existsSync(join(project.folder, "data/lacne1"))).toBe(false);
  mkdirSync(join(project.folder, "data/lacne1"));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  at(project, "data/lance2");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
});

test("a name as a table's folder has is pointed out, which an object store does not show", async () => {
  const project = withMigration();
  at(project, "data/people.lance");
  expect((await project.migrate(["plan"])).stderr).toMatch(
    /data\/people\.lance has no tables yet; .* there; the folder of a table has such a name, and the one above it is its database$/m,
  );
});

test("a folder beside it that can't be read is no reason to fail", async () => {
  const project = withMigration();
  at(project, "data/lacne");
  mkdirSync(join(project.folder, "data"));
  // A link to nothing, as root can read every folder.
  symlinkSync("nowhere", join(project.folder, "data/lance"));
  expect(await project.migrate(["plan"])).toMatchObject({ code: 0 });
});

test.skipIf(lacks("terminal"))("at a terminal, it is asked about", async () => {
  const project = withMigration();
  at(project, "data/lance");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  at(project, "data/lacne");
  const question = /Enter to make none\) /;
  const refused = await atTerminal(project, "up", question, ["\n"]);
  expect(refused).toMatchObject({ code: 4, shown: expect.stringContaining("and none was made") as string });
  expect(existsSync(join(project.folder, "data/lacne"))).toBe(false);
  expect(await atTerminal(project, "up", question, ["yes\n"])).toMatchObject({ code: 0 });
  expect(await atTerminal(project, "up", question, [])).toMatchObject({ code: 0 });
});
