/** The table that most of these tests are about, and a project in which it is applied. */
import { expect } from "vitest";
import { aProject, type Project } from "../../support/project.ts";

export const documents = `m.createTable("documents", {
  id: m.int32().notNull(),
  title: m.utf8(),
  source: m.struct({ url: m.utf8(), fetched: m.utf8() }),
  score: m.float32(),
  embedding: m.vector(4),
})`;

type Migrations = readonly (readonly [name: string, steps: string])[];

/** A project in which these migrations are applied. */
export async function applied(...migrations: Migrations): Promise<Project> {
  const project = aProject();
  for (const [name, steps] of migrations) project.migration(name, steps);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  return project;
}
