/** A migration that failed with nothing done: what `down` would roll back is the one before it, and everything says so. */
import { expect, test } from "vitest";
import { aProject, type Project } from "../support/project.ts";
import { addRows } from "../support/tables.ts";

/** 0002 is applied by a run in which 0003 fails at its only step. */
async function failedAtOnce(): Promise<Project & { readonly failure: string }> {
  const project = aProject();
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int32(), title: m.utf8() })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "documents", [{ id: 1, title: "words" }]);
  project.migration("0002_lengths.ts", `m.addColumn("documents", "length", m.int32(), { as: "length(title)" })`);
  project.migration("0003_numbers.ts", `m.addColumn("documents", "n", m.int32(), { as: "cast(title as int)" })`);
  const { code, stderr } = await project.migrate(["up"]);
  expect(code).toBe(1);
  return { ...project, failure: stderr };
}

const statusOf = async (project: Project) => (await project.migrate(["status"])).stdout;

test("the error, the status and down name the migration that down rolls back", async () => {
  const project = await failedAtOnce();
  expect(project.failure).toMatch(
    /0 of 1 action of this migration done, 1 migration applied before it in this run; .*; nothing needs to be rolled back: migrate down would roll back 0002_lengths$/m,
  );
  expect(await statusOf(project)).toMatch(
    /^pending {2}0003_numbers\s+0 of 1 action done as of \S+ \S+Z, migrate down would roll back 0002_lengths\n {9}0003_numbers.ts, step 1 .* and run migrate up again$/m,
  );
  const { code, stderr } = await project.migrate(["down"]);
  expect([code, stderr.split("\n")[0]]).toEqual([0, "1 migration to roll back, 1 action: 0002_lengths"]);
});

test("what is recorded of the failure does not name a migration that is rolled back since", async () => {
  const project = await failedAtOnce();
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  const status = await statusOf(project);
  expect(status).toContain("migrate down would roll back 0001_documents");
  expect(status).not.toContain("would roll back 0002_lengths");
});
