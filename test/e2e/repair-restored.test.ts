/** migrate repair where one table was brought back, and rows of another were changed by steps that columns do not show. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, type Project, onStderr } from "../support/project.ts";
import { lancedb, rowsOf } from "../support/tables.ts";

/** Migration 3 sets each label: a second time, it would overwrite what an application has written since. */
async function aProjectAt(version: number): Promise<Project> {
  const project = aProject();
  project.migration(
    "0001_both.ts",
    `m.createTable("docs", { id: m.int32(), year: m.utf8() }, { rows: [{ id: 1, year: "1990" }] }),
     m.createTable("tags", { id: m.int32(), label: m.utf8() }, { rows: [{ id: 1, label: "x" }] })`,
  );
  project.migration("0002_pages.ts", `m.addColumn("docs", "pages", m.int32())`);
  project.migration(
    "0003_labels.ts",
    `m.retypeColumn("docs", "year", m.int32(), { using: "cast(year as int)" }),
     m.execute("tags", { update: { label: "cast(id as string) || '?'" }, where: "true" })`,
  );
  for (let to = 1; to <= version; to++) await must(project, "up", "--to", String(to), "--accept", "lossy,irreversible");
  return project;
}

async function must(project: Project, ...args: readonly string[]): Promise<void> {
  expect(await project.migrate(args)).toMatchObject({ code: 0 });
}

async function bringBack(project: Project, table: string, version: number): Promise<void> {
  const opened = await (await lancedb.connect(project.database)).openTable(table);
  await opened.checkout(version);
  await opened.restore();
}

const labelOf = async (project: Project) => (await rowsOf(project.database, "tags"))[0]!["label"];

test("a step that changed rows of another table is not run again because one table was restored", async () => {
  const project = await aProjectAt(3);
  const docs = await (await lancedb.connect(project.database)).openTable("docs");
  const newest = await docs.version();
  await (await (await lancedb.connect(project.database)).openTable("tags")).update({ values: { label: "mine" } });
  // As after 0002; the rows of tags are as after 0003.
  await bringBack(project, "docs", 2);
  for (const args of [["repair"], ["repair", "--yes"]]) {
    const { code, stderr } = await project.migrate(args);
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr: expect.stringMatching(
        new RegExp(
          `after 0002_pages, as far as columns show; .* if only docs was brought back from a copy, restore version ${newest} of docs, ` +
            "if nothing that was written since is needed, .* if all tables, or the ledger alone, were brought back, choose with --to 0002",
        ),
      ),
    });
  }
  await bringBack(project, "docs", newest);
  await must(project, "verify");
  expect(await labelOf(project)).toBe("mine");
});

test("where all tables were restored, the choice that the message names is taken", async () => {
  const project = await aProjectAt(3);
  await bringBack(project, "docs", 2);
  await bringBack(project, "tags", 1);
  expect(await project.migrate(["repair"])).toMatchObject(onStderr(4, "--to 0002"));
  await must(project, "repair", "--to", "2", "--yes");
  await must(project, "up", "--accept", "lossy,irreversible");
  await must(project, "verify");
  expect(await labelOf(project)).toBe("1?");
});

test("where no table differs from a ledger that was changed by hand, nothing needs to be restored", async () => {
  const project = await aProjectAt(3);
  const ledger = await (await lancedb.connect(project.database)).openTable("_migrations");
  await ledger.update({ where: "version = 3", values: { detail: "by hand" } });
  const { code, stdout, stderr } = await project.migrate(["repair"]);
  expect({ code, stdout, stderr }).toEqual({
    code: 4,
    stdout: expect.stringContaining("the ledger was changed by something else than this tool"),
    stderr: expect.stringMatching(/after 0003_labels.*choose.*--to 0003/),
  });
  expect(stderr).not.toMatch(/copy|restore|bring back/);
  await must(project, "repair", "--to", "0003", "--yes");
  await must(project, "verify", "--ledger");
  expect(await labelOf(project)).toBe("1?");
});

test("a step that is rolled back is not taken for done because one table was brought back", async () => {
  const project = await aProjectAt(3);
  const [here, aside] = [join(project.database, "docs.lance"), join(project.folder, "docs.lance")];
  cpSync(here, aside, { recursive: true });
  await must(project, "down", "--to", "2", "--yes", "--accept", "lossy");
  expect(await labelOf(project)).toBe("x");
  rmSync(here, { recursive: true });
  cpSync(aside, here, { recursive: true });
  expect(await project.migrate(["repair"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      "if only docs was brought back from a copy, choose with --to 0003.1, which agrees with the ledger about the other tables; otherwise choose with --to 0003",
    ),
  });
  await must(project, "repair", "--to", "0003.1", "--yes");
  await must(project, "up", "--accept", "lossy,irreversible");
  await must(project, "verify");
  expect(await labelOf(project)).toBe("1?");
});
