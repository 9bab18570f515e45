/** Variables of the environment from the file .env beside the configuration. */
import { existsSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, onStderr } from "../support/project.ts";

const config = `export default { targets: { local: { kind: "lance", uri: process.env.TABLES } } };\n`;

test("the file beside the configuration gives variables that are not set, and the environment comes first", async () => {
  const project = aProject();
  project.write("app/migrate.config.ts", config);
  project.write("app/.env", "# comment\nTABLES='one' # the folder\n");
  project.write(".env", "TABLES=two\n");
  project.write(
    "app/migrations/0001_a.ts",
    `import * as m from "lance-migrate";\nexport const up = [m.createTable("t", { id: m.int64() })];\n`,
  );
  const up = ["up", "--config", "app/migrate.config.ts"];
  const made = () => ["one", "two"].filter((name) => existsSync(join(project.folder, "app", name)));
  expect(await project.start(up).finished).toMatchObject({ code: 0 });
  expect(made()).toEqual(["one"]);
  expect(await project.start(up, { TABLES: "two" }).finished).toMatchObject({ code: 0 });
  expect(made()).toEqual(["one", "two"]);
});

test("a folder of that name is left alone, and a file that can't be read is named", async () => {
  const project = aProject();
  project.write(".env/bin/python", "");
  expect(await project.migrate(["status"])).toMatchObject({ code: 0 });
  const other = aProject();
  symlinkSync(".env", join(other.folder, ".env"));
  expect(await other.migrate(["status"])).toMatchObject(onStderr(2, ".env can't be read: "));
});
