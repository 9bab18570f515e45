/** What several scenes of errors do with their projects. */
import { expect } from "vitest";
import type { ErrorCode } from "../../../src/errors/migrate-error.ts";
import type { Project } from "../../support/project.ts";
import { lancedb } from "../../support/tables.ts";

/** What of a project is another one in a scene: how commands run, or where the tables are. */
type Changed = Partial<Pick<Project, "migrate" | "database">>;

/** Prepares a project so that a command ends with the error there. */
export type ErrorScenes = Readonly<
  Partial<Record<ErrorCode, (project: Project) => Changed | void | Promise<Changed | void>>>
>;

export const people = `m.createTable("people", { id: m.int32(), name: m.utf8() })`;
export const rows = [{ id: 1, name: "Ada" }];

/** The migrations, and those before the last applied. */
export async function pending(project: Project, ...lists: readonly string[]): Promise<void> {
  for (const [index, steps] of lists.entries()) project.migration(`000${index + 1}_m.ts`, steps);
  if (lists.length > 1) await applied(project, "--to", String(lists.length - 1));
}

export async function applied(project: Project, ...args: readonly string[]): Promise<void> {
  expect(await project.migrate(["up", ...args])).toMatchObject({ code: 0 });
}

export function config(project: Project, settings: string, before = ""): void {
  project.write("migrate.config.ts", `${before}export default { ${settings} };\n`);
}

export function schema(project: Project, columns: string): void {
  project.write(
    "schema.ts",
    `import * as m from "lance-migrate";\nexport default m.defineSchema({ people: { ${columns} } });\n`,
  );
}

export async function openTable({ database }: Project, name: string) {
  return await (await lancedb.connect(database)).openTable(name);
}
