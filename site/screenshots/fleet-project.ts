/** A project for the databases of many customers: most are up to date, some behind, one failed and one unreadable. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import type { Project } from "./project.ts";
import { elsewhere } from "./report-project.ts";

const names =
  `acme aperture bluth cyberdyne dunder-mifflin ecorp gekko globex hooli initech massive-dynamic monarch oscorp
  pied-piper prestige primatech rekall sirius soylent stark sterling tyrell umbrella vandelay veidt wayne weyland wonka
  yoyodyne zorg`.split(/\s+/);
const failing = "hooli";
const unreadable = "oscorp";
const behind = ["gekko", "monarch", "rekall", "veidt"];

export async function fleetProject(project: Project): Promise<void> {
  project.write("elsewhere.mjs", elsewhere);
  project.write(
    "migrate.config.ts",
    `export default { targets: { tenants: { kind: "lance", uri: "data/{database}", databases: "tenants.txt" } } };\n`,
  );
  const up = (databases: readonly string[], at: string, who: string, code = 0) => {
    project.write("tenants.txt", databases.join("\n"));
    Object.assign(process.env, { AT: `${at}:00Z`, WHO: who });
    project.migrate("up --quiet", code, "--import ./elsewhere.mjs");
  };

  project.migration(
    "0001_documents",
    `m.createTable("documents", { id: m.int64().notNull(), title: m.utf8(), published: m.utf8() })`,
  );
  up(names, "2026-09-03T09:00", "ci@runner-3");
  const documents = await (await connect(join(project.folder, "data", failing))).openTable("documents");
  await documents.add([{ id: 1n, title: "On 1", published: "n/a" }]);
  project.migration("0002_headlines", `m.renameColumn("documents", "title", "headline")`);
  up(names, "2026-10-12T09:00", "ci@runner-1");
  project.migration("0003_authors", `m.createTable("authors", { id: m.int64().notNull(), name: m.utf8() })`);
  up(
    names.filter((name) => name !== behind[0]),
    "2026-11-02T15:45",
    "ci@runner-3",
  );
  project.migration(
    "0004_years",
    `m.setMetadata("documents", "published", { unit: "year" })`,
    `m.addColumn("documents", "year", m.int32(), { as: "cast(published as int)" })`,
  );
  up(
    names.filter((name) => !behind.includes(name)),
    "2026-11-20T10:30",
    "ci@runner-2",
    1,
  );
  rmSync(join(project.folder, "data", unreadable), { recursive: true });
  project.write(`data/${unreadable}`, "a file in the place of the folder");
  project.write("tenants.txt", names.join("\n"));
}
