/** Code of the project that ends its process: a run that ends in the middle must not look like success. */
import { expect, test } from "vitest";
import { aProject, type Project, onStderr } from "../support/project.ts";
import { addRows } from "../support/tables.ts";

const words = "process.exit(0) would end migrate in the middle of its work; throw an error instead";

async function aScene(): Promise<Project> {
  const project = aProject();
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int32().notNull(), text: m.utf8() })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", [{ id: 1, text: "one" }]);
  return project;
}

test("a module that computes values fails the step, and the next run computes them", async () => {
  const project = await aScene();
  project.write("length.mjs", "export default () => process.exit(0);\n");
  const code = `{ from: ["text"], key: "id", with: "./length.mjs", version: "1" }`;
  project.migration("0002_n.ts", `m.addColumn("docs", "n", m.int32()), m.backfillColumn("docs", "n", ${code})`);
  expect(await project.migrate(["up"])).toMatchObject(onStderr(1, words));
  project.write("length.mjs", "export default (rows) => rows.map(({ text }) => text.length);\n");
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test("a migration file can't be evaluated, and nothing is changed", async () => {
  const project = await aScene();
  project.write("migrations/0002_n.ts", "export const up = [];\nprocess.exit(0);\n");
  for (const command of ["up", "plan", "lint"]) {
    const { code, stdout, stderr } = await project.migrate([command]);
    expect({ command, code }).not.toEqual({ command, code: 0 });
    expect(stdout + stderr).toContain(words);
  }
});

test.each(["beforeMigration", "afterMigration"])("the hook %s has failed", async (hook) => {
  const project = await aScene();
  project.write("migrate.config.ts", `export default { hooks: { ${hook}: () => process.exit(0) } };\n`);
  project.migration("0002_n.ts", `m.addColumn("docs", "n", m.int32())`);
  const { code, stderr } = await project.migrate(["up"]);
  expect(code).toBe(hook === "beforeMigration" ? 4 : 1);
  expect(stderr).toContain(words);
});
