/** Migrations whose files are gone, were edited, or were replaced after they had run. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { casesInTurn } from "../support/rounds.ts";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aKeptProject, everywhere, forgetAfter, type Kept, type KeptProject } from "./support/kept.ts";
import { onStderr, onStdout } from "../support/project.ts";

const inTurn = casesInTurn();

const fileOf = ({ folder }: KeptProject, name: string) => join(folder, "migrations", name);
const without = (project: KeptProject, name: string) => rmSync(fileOf(project, name));

/** A database on which a run was killed in the middle of 0004_wider, of which nothing but its beginning is recorded. */
async function aKilledRun(kept: Kept): Promise<KeptProject> {
  const project = await aKeptProject(kept);
  await forgetAfter(project, kept, 3);
  return project;
}

test.each(inTurn(everywhere))("a killed run's migration without a file is seen by status and up (%s)", async (kept) => {
  const project = await aKilledRun(kept);
  without(project, "0004_wider.ts");
  expect(await project.runLater("up")).toMatchObject(
    onStderr(4, "0004 was begun but not finished, and its file is not in the folder migrations"),
  );
  expect(await project.runLater("status", "--check")).toMatchObject({
    code: 4,
    stdout: expect.stringMatching(
      /^begun +0004\s+its file is not in the folder migrations, and how far it ran is not recorded$/m,
    ),
  });
  const { stdout } = await project.runLater("status", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ begun: [{ version: 4, done: 0 }] });
});

test.each(inTurn(everywhere))(
  "status --check fails for an applied file that does something else now (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    project.migration("0003_names.ts", `m.renameColumn("people", "name", "title")`);
    const problem = "0003_names.ts was changed after it was applied: ";
    expect(await project.run("up")).toMatchObject(onStderr(4, problem));
    expect(await project.run("status", "--check")).toMatchObject(onStdout(4, problem));
    const { stdout } = await project.run("status", "--json");
    const changed = { version: 3, name: "names", problem: expect.stringContaining(problem) };
    expect(JSON.parse(stdout)).toMatchObject({ changed: [changed] });
  },
);

test("status --check passes for an applied file with other text and the same steps", async () => {
  const project = await aKeptProject("lance");
  const file = fileOf(project, "0003_names.ts");
  writeFileSync(file, `// Nothing but a comment.\n${readFileSync(file, "utf8")}`);
  expect(await project.run("status", "--check")).toMatchObject({ code: 0 });
});

test("status --check fails for an applied file that can't be loaded", async () => {
  const project = await aKeptProject("lance");
  writeFileSync(fileOf(project, "0003_names.ts"), "export const up = [;\n");
  expect(await project.run("status", "--check")).toMatchObject(onStdout(4, "0003_names.ts"));
});

test.each(inTurn(everywhere))(
  "up and status list applied migrations without a file, and succeed (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    without(project, "0003_names.ts");
    without(project, "0004_wider.ts");
    expect(await project.run("up")).toMatchObject({
      code: 0,
      stdout: "nothing to do\n",
      stderr: expect.stringContaining("applied here without a file: 0003_names, 0004_wider"),
    });
    const { stdout } = await project.run("up", "--json");
    const missing = [
      { version: 3, name: "names" },
      { version: 4, name: "wider" },
    ];
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toContainEqual({
      event: "missing",
      migrations: missing,
    });
    expect(await project.run("status", "--check")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/0004_wider .*\s+its file is not in the folder migrations/),
    });
  },
);

test.each(inTurn(everywhere))(
  "a new file under a used number is called that, and not a changed one (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    without(project, "0004_wider.ts");
    project.migration("0004_other.ts", `m.renameColumn("people", "full_name", "called")`);
    const words = "number 4 was used by 0004_wider, which is applied here and has no file";
    expect(await project.run("up")).toMatchObject(onStderr(4, words));
    expect(await project.run("status", "--check")).toMatchObject(onStdout(4, words));
  },
);
