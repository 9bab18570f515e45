/** What `plan` and `lint` find in code that computes values, without running it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, onStderr, type Project } from "../support/project.ts";

const ran = `import { writeFileSync } from "node:fs";\nwriteFileSync("ran.txt", "");\n`;
const returns = "export default (rows) => rows.map(() => help());\n";

async function aScene(code: string, file = "code/length.ts", path = "./code/length.ts"): Promise<Project> {
  const project = aProject();
  project.migration(
    "0001_docs.ts",
    `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8() }, { rows: [{ id: 1, text: "a" }] })`,
  );
  project.write("code/help.ts", `${ran}export const help = () => 1;\n`);
  project.write(file, `${ran}${code}`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const options = JSON.stringify({ from: ["text"], key: "id", with: path, version: "1" });
  project.migration(
    "0002_length.ts",
    `m.addColumn("docs", "length", m.int32()), m.backfillColumn("docs", "length", ${options})`,
  );
  return project;
}

test.each([
  ["an enum", `enum Way { a }\n${returns}`, /leave out enums/],
  ["an import without extension", `import { help } from "./help";\n${returns}`, /there is help\.ts: import it/],
  ["another extension", `import { help } from "./help.js";\n${returns}`, /there is help\.ts: import it/],
  ["a name that is not exported", `import { hepl as help } from "./help.ts";\n${returns}`, /export named 'hepl'/],
  ["no default export", `export const length = 1;\n`, /length\.ts: it has no default export/],
  ["no code", `export default (rows => ;\n`, /length\.ts: .*(Unexpected|Expression)/],
])("%s is found before a step has run, and the code does not run", async (_, code, problem) => {
  const project = await aScene(code);
  for (const command of ["plan", "up", "lint"]) {
    const { code: ended, stdout, stderr } = await project.migrate([command]);
    expect([command, ended, `${stdout}${stderr}`]).toEqual([command, 4, expect.stringMatching(problem)]);
  }
  expect((await project.migrate(["status"])).stdout).toContain("1 migration applied, 1 pending");
  expect(existsSync(join(project.folder, "ran.txt"))).toBe(false);
});

test("a file with another extension than the step names is found, and a package or a program that is not here only by plan", async () => {
  const misspelt = await aScene(returns, "code/length.ts", "./code/length.js");
  const problem = "there is no file ./code/length.js; the file there is length.ts";
  expect(await misspelt.migrate(["plan"])).toMatchObject(onStderr(4, problem));
  expect((await misspelt.migrate(["lint"])).stdout).toContain(problem);
  const elsewhere = await aScene(`import { help } from "no-such-package";\n${returns}`);
  expect(await elsewhere.migrate(["plan"])).toMatchObject(onStderr(4, "Cannot find package 'no-such-package'"));
  expect(await elsewhere.migrate(["lint"])).toMatchObject({ code: 0 });
  elsewhere.migration(
    "0002_length.ts",
    `m.addColumn("docs", "length", m.int32()), m.backfillColumn("docs", "length", { from: ["text"], key: "id", with: { command: ["no-such-program"] }, version: "1" })`,
  );
  expect(await elsewhere.migrate(["plan"])).toMatchObject(onStderr(4, "there is no program no-such-program"));
  expect(await elsewhere.migrate(["lint", "--write"])).toMatchObject({ code: 0 });
});
