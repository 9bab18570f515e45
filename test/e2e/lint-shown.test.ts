/** In which migrations `lint` reports dangers. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { aProject, onStderr, type Project } from "../support/project.ts";

const rewrites = (type: string) => `m.retypeColumn("docs", "size", m.${type}())`;

async function aHistory(): Promise<Project> {
  const project = aProject();
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int8(), size: m.int8() })`);
  project.migration("0002_wider.ts", rewrites("int16"));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0003_wider.ts", rewrites("int32"));
  return project;
}

async function shownIn(project: Project, ...args: readonly string[]) {
  const { stdout } = await project.migrate(["lint", ...args]);
  return stdout.match(/\d{4}_\w+(?=\.ts:.* note full-rewrite)/g);
}

test("notes about applied migrations are left out without --all, and warnings are not", async () => {
  const project = await aHistory();
  expect(await shownIn(project)).toEqual(["0003_wider"]);
  expect(await shownIn(project, "--all")).toEqual(["0002_wider", "0003_wider"]);
  expect(await shownIn(project, "--all", "--since", "2")).toEqual(["0003_wider"]);
  project.migration("0003_wider.ts", `m.dropColumn("docs", "size")`);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect((await project.migrate(["lint"])).stdout).toContain("0003_wider.ts:4:1 warning loses-data: ");
});

test("--since takes a branch of git: what is new there or was changed is shown", async () => {
  const project = await aHistory();
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: project.folder, stdio: "pipe" });
  expect(await project.migrate(["lint", "--since", "main"])).toMatchObject(
    onStderr(2, "is in no git repository, which shows what is new; give --since the number of a migration"),
  );
  git("init", "--quiet", "--initial-branch", "main");
  project.write("migrations/notes/one.txt", "a folder beside them");
  git("add", "migrations/notes", "migrations/0001_docs.ts", "migrations/0002_wider.ts");
  git("commit", "--quiet", "--message", "one");
  git("checkout", "--quiet", "-b", "own");
  expect(await shownIn(project, "--all", "--since", "main")).toEqual(["0003_wider"]);
  project.migration("0002_wider.ts", `${rewrites("int16")} /* changed */`);
  expect(await shownIn(project, "--all", "--since", "main")).toEqual(["0002_wider", "0003_wider"]);
  expect(await project.migrate(["lint", "--since", "mian"])).toMatchObject(
    onStderr(2, "git knows no mian here; check its name, or fetch it"),
  );
});
