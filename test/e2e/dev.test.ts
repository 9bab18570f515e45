/** `migrate dev`: a migration for each change of schema.ts. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, onStderr, type Project } from "../support/project.ts";
import { columnsOf } from "../support/tables.ts";

function aScene(push = true): Project {
  const project = aProject("own");
  project.write(
    "migrate.config.ts",
    `export default { targets: { local: { kind: "lance", uri: ".lancedb", push: ${push} } } };`,
  );
  declare(project, "id: m.int64()");
  return project;
}

function declare(project: Project, columns: string): void {
  project.write(
    "schema.ts",
    `import * as m from "lance-migrate";\nexport default m.defineSchema({ docs: { ${columns} } });\n`,
  );
}

test("each change becomes a migration that is applied, a mistake waits for the next change, and Ctrl-C ends it with 0", async () => {
  const project = aScene();
  const { process: child, finished } = project.start(["dev"]);
  const isThere = async (...columns: readonly string[]) =>
    await expect.poll(async () => await columnsOf(project.database, "docs").catch(() => [])).toEqual(columns);
  await isThere("id: int64");
  declare(project, "id: m.int64(), title: m.utf8()");
  await isThere("id: int64", "title: utf8");
  let shown = "";
  child.stderr!.on("data", (text: Buffer) => (shown += text.toString()));
  project.write("schema.ts", "export default (;\n");
  await expect.poll(() => shown).toContain("Expression expected");
  declare(project, "id: m.int64(), title: m.utf8(), n: m.int32()");
  await isThere("id: int64", "title: utf8", "n: int32");
  await expect.poll(() => shown.trim().endsWith("watching schema.ts")).toBe(true);
  child.kill("SIGINT");
  expect(await finished).toMatchObject({ code: 0 });
  expect(readdirSync(join(project.folder, "migrations")).filter((name) => name.endsWith(".ts"))).toHaveLength(3);
});

test("it needs a schema, and a target that allows it", async () => {
  expect(await aScene(false).migrate(["dev"])).toMatchObject(
    onStderr(
      4,
      "nothing is run: migrate.config.ts does not allow it on target local; run migrate generate and migrate up one after the other",
    ),
  );
});
