/** A project on each kind of target, with the folder in which its tables really are. */
import { aProject, type Project } from "../../support/project.ts";
import { aService, apiKey } from "../../support/service.ts";

export type Way = "lance" | "namespace" | "service";

export const key = { MIGRATE_API_KEY: apiKey };

/** A project on one of the targets, and the folder in which its tables are. */
export async function aProjectOn(way: Way): Promise<Project & { readonly data: string }> {
  const project = aProject();
  if (way === "lance") {
    project.write("migrate.config.ts", "export default {};\n");
    return { ...project, data: project.database };
  }
  const service = await aService();
  const target = { kind: "rest", endpoint: service.url, dialect: way };
  project.write("migrate.config.ts", `export default { targets: { here: ${JSON.stringify(target)} } };\n`);
  return { ...project, data: service.data };
}
