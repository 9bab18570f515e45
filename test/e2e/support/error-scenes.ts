/** The projects in which the commands of `error-cases.ts` come to their errors. */
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createTable, int32, utf8 } from "lance-migrate";
import { expect } from "vitest";
import { checksumOf, shortHash } from "../../../src/migrations/checksum.ts";
import { temporaryFolder, type Project } from "../../support/project.ts";
import { addRows, lancedb } from "../../support/tables.ts";
import { scenesBesideRuns } from "./error-scenes-beside.ts";
import { scenesOfFailures } from "./error-scenes-failures.ts";
import { scenesOfKilledRuns } from "./error-scenes-killed.ts";
import { scenesOfServices } from "./error-scenes-service.ts";
import { applied, config, openTable, pending, people, rows, schema, type ErrorScenes } from "./scene-project.ts";

const tenants = (project: Project) =>
  config(project, `targets: { many: { kind: "lance", uri: "data/{database}", databases: ["acme", "globex"] } }`);

/** A pending migration that drops a table with rows, on a target with guards. */
async function guarded(project: Project, guards: string, steps: string): Promise<void> {
  config(project, `targets: { here: { kind: "lance", uri: ".lancedb", guards: ${guards} } }`);
  await pending(project, people, steps);
  await addRows(project.database, "people", rows);
}

/** A migration of which the first step works and the second one fails. */
async function failing(project: Project, file = "0002_m.ts"): Promise<void> {
  project.migration("0001_m.ts", people);
  await applied(project);
  project.migration(file, `m.createTable("t", { id: m.int32() }), m.execute("people", { delete: "1 / (id - 1) > 0" })`);
  await addRows(project.database, "people", rows);
}

async function halfDone(project: Project, file?: string): Promise<void> {
  await failing(project, file);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 1 });
}

/** Renames a column as no migration does. */
async function byHand(project: Project): Promise<void> {
  const table = await openTable(project, "people");
  await table.alterColumns([{ path: "name", rename: "called" }]);
}

/** The third migration undoes the second one, and the ledger is lost. */
async function lostBetweenRetypes(project: Project): Promise<void> {
  await pending(project, people, ...["int64", "int32"].map((type) => `m.retypeColumn("people", "id", m.${type}())`));
  await applied(project);
  await (await lancedb.connect(project.database)).dropTable("_migrations");
}

export const errorScenes: ErrorScenes = {
  ...scenesOfFailures,
  ...scenesOfKilledRuns,
  ...scenesOfServices,
  ...scenesBesideRuns,
  ERR_DATABASE_UNKNOWN: tenants,
  ERR_DATABASE_MISSING: (project) => {
    config(project, `targets: { production: { kind: "lance", uri: "data/lacne", guards: { mustExist: true } } }`);
    return pending(project, people);
  },
  ERR_DATABASE_NEEDED: tenants,
  ERR_TEMPLATE_INVALID: (project) => project.write("templates/migration.ts", "// empty\n"),
  ERR_FORMAT: (project) => config(project, "format: () => 7"),
  ERR_FILE_EXISTS: ({ folder }) => void mkdirSync(join(folder, "migrations/0001_create.ts")),
  ERR_TIMEOUT: (project) =>
    project.write("migrations/0001_slow.ts", "await new Promise((done) => setTimeout(done, 5000));\n"),
  ERR_BUNDLE_FILE: (project) => pending(project, people),
  ERR_REPORT_FILE: (project) => pending(project, people),
  ERR_REPORT_FOREIGN: (project) => pending(project, people),
  ERR_TYPES_FILE: (project) => pending(project, people),
  ERR_TYPES_FOREIGN: (project) => (config(project, ""), pending(project, people)),
  ERR_CONSENT: (project) => pending(project, people, `m.dropColumn("people", "name")`),
  ERR_FORBIDDEN: (project) => guarded(project, `{ forbid: ["none"] }`, `m.dropTable("people")`),
  ERR_REWRITE: (project) => guarded(project, "{ maxRewriteBytes: 1 }", `m.retypeColumn("people", "id", m.int64())`),
  ERR_CONTRACT: (project) => {
    project.write("app.json", `{ "format": 1, "application": "app", "release": "1", "tables": { "people": {} } }`);
    return pending(project, people, `m.dropTable("people")`);
  },
  ERR_CONTRACT_MISSING: (project) => pending(project, people),
  ERR_CONTRACT_INVALID: async (project) => {
    await pending(project, people);
    project.write("contract.json", "{}");
  },
  ERR_REHEARSAL_BEGUN: (project) => halfDone(project),
  ERR_BASELINE_BEGUN: (project) => halfDone(project),
  ERR_BASELINE_DIFFERS: (project) => pending(project, people),
  ERR_ADOPT_PENDING: (project) => pending(project, people, `m.dropTable("people")`),
  ERR_ADOPT_REFUSED: (project) => pending(project, people),
  ERR_ADOPT_IMPOSSIBLE: async ({ database }) =>
    void (await (await lancedb.connect(database)).createTable("t", [{ a: 1, A: 2 }])),
  ERR_DIFF_UNSURE: (project) => (schema(project, "id: m.int32(), title: m.utf8()"), pending(project, people)),
  ERR_DIFF_IMPOSSIBLE: (project) => (schema(project, "id: m.utf8(), name: m.utf8()"), pending(project, people)),
  ERR_NUMBER_USED: async (project) => {
    await pending(project, people);
    await applied(project);
    rmSync(join(project.folder, "migrations/0001_m.ts"));
    project.migration("0001_other.ts", `m.createTable("other", { id: m.int32() })`);
  },
  ERR_RESOLVE_UNKNOWN: (project) => pending(project, people),
  ERR_RESOLVE: async (project) => {
    await pending(project, people, `m.renameColumn("people", "name", "title")`);
    await applied(project);
  },
  ERR_SYMBOLIC_LINK: async (project) => {
    await pending(project, people, `m.renameColumn("people", "name", "title")`);
    const [inside, outside] = [join(project.database, "people.lance"), join(temporaryFolder(), "people.lance")];
    renameSync(inside, outside);
    symlinkSync(outside, inside);
  },
  ERR_REHEARSAL: async (project) => {
    await pending(project, people, `m.execute("people", { delete: "1 / (id - 1) > 0" })`);
    await addRows(project.database, "people", rows);
  },
  ERR_PUSH_REFUSED: (project) => (schema(project, "id: m.int32()"), pending(project, people)),
  ERR_FILE_NAME: (project) => project.write("migrations/bad name.ts", ""),
  ERR_VERSION_DUPLICATE: (project) => {
    for (const name of ["a", "b"]) project.migration(`0001_${name}.ts`, people);
  },
  ERR_FILE_UNREADABLE: (project) => project.write("migrations/0001_m.ts", "export const up = [;\n"),
  ERR_FILE_EXPORTS: (project) => project.write("migrations/0001_m.ts", "export const down = 1;\n"),
  ERR_STEP_INVALID: (project) => project.write("migrations/0001_m.ts", `export const up = [{ kind: "no" }];\n`),
  ERR_SQUASH: (project) => pending(project, people),
  ERR_BUNDLE_FOREIGN: (project) => pending(project, people),
  ERR_LOCK_FILE: (project) => (mkdirSync(join(project.folder, "migrations/lock.json")), pending(project, people)),
  ERR_LOCK_STALE: async (project) => {
    await pending(project, people);
    expect(await project.migrate(["lint", "--write"])).toMatchObject({ code: 0 });
    project.migration("0002_m.ts", `m.createTable("t", { id: m.int32() })`);
  },
  ERR_MIGRATION_CHANGED: async (project) => {
    await pending(project, people);
    await applied(project);
    project.migration("0001_m.ts", `m.createTable("t", { id: m.int32() })`);
  },
  ERR_MIGRATION_MISSING: async (project) => {
    await pending(project, people, `m.addColumn("people", "more", m.utf8())`);
    rmSync(join(project.folder, "migrations/0001_m.ts"));
  },
  ERR_REPLACES: async (project) => {
    await pending(project, people);
    await applied(project);
    const ran = checksumOf([createTable("people", { id: int32(), name: utf8() })]);
    rmSync(join(project.folder, "migrations/0001_m.ts"));
    project.write(
      "migrations/0002_m.ts",
      `import * as m from "lance-migrate";\nexport const was = ["0001_m ${shortHash(ran)}"];\nexport const up = [${people}];\n`,
    );
  },
  ERR_OUT_OF_ORDER: async (project) => {
    project.migration("0002_m.ts", people);
    await applied(project);
    await pending(project, `m.createTable("t", { id: m.int32() })`);
  },
  ERR_BEGUN: async (project) => {
    await halfDone(project, "0003_m.ts");
    project.migration("0002_m.ts", `m.createTable("other", { id: m.int32() })`);
  },
  ERR_DRIFT: async (project) => {
    await pending(project, people, `m.renameColumn("people", "name", "title")`);
    await byHand(project);
  },
  ERR_VERSION_UNKNOWN: (project) => pending(project, people),
  ERR_LEDGER_UNREADABLE: async (project) => {
    await pending(project, people, `m.renameColumn("people", "name", "title")`);
    await (await openTable(project, "_migrations")).dropColumns(["checksum"]);
  },
  ERR_LEDGER_LOST: async (project) => {
    project.migration("0001_m.ts", people);
    await applied(project);
    await (await lancedb.connect(project.database)).dropTable("_migrations");
  },
  ERR_LEDGER_CHANGED: async (project) => {
    await pending(
      project,
      people,
      `m.createTable("t", { id: m.int32() })`,
      `m.renameColumn("people", "name", "title")`,
    );
    await (await openTable(project, "_migrations")).delete("event = 'applied' and version = 1");
  },
  ERR_PLAN_STALE: async (project) => {
    await pending(project, people);
    expect(await project.migrate(["plan", "--out", "p.json"])).toMatchObject({ code: 0 });
    project.migration("0001_m.ts", `m.createTable("t", { id: m.int32() })`);
  },
  ERR_REPAIR_NO_PLACE: async (project) => {
    await pending(project, people);
    await applied(project);
    await byHand(project);
  },
  ERR_REPAIR_AMBIGUOUS: lostBetweenRetypes,
  ERR_REPAIR_PLACE: lostBetweenRetypes,
  ERR_IRREVERSIBLE: async (project) => {
    await pending(project, people, `m.dropTable("people")`);
    await applied(project, "--accept", "irreversible");
  },
  ERR_ROLLBACK_BLOCKED: async (project) => {
    await pending(project, people);
    await applied(project);
    await addRows(project.database, "people", rows);
  },
  ERR_STEP_FAILED: (project) => failing(project),
  ERR_HOOK_REFUSED: (project) => (
    config(project, `hooks: { beforeRun() { throw new Error("no"); } }`),
    pending(project, people)
  ),
  ERR_HOOK_FAILED: (project) => (
    config(project, `hooks: { afterRun() { throw new Error("no"); } }`),
    pending(project, people)
  ),
  ERR_TARGET_UNREACHABLE: (project) =>
    config(
      project,
      `targets: { here: { kind: "rest", endpoint: "http://127.0.0.1:9", dialect: "namespace", apiKey: "k" } }`,
    ),
  ERR_STEP_IMPOSSIBLE: (project) => pending(project, people, `m.dropColumn("people", "nothing")`),
  ERR_STEP_WOULD_FAIL: async (project) => {
    await pending(project, people, `m.setNullable("people", "name", false)`);
    await addRows(project.database, "people", [{ id: 1, name: null }]);
  },
  ERR_UNSUPPORTED: (project) => pending(project, people, `m.renameTable("people", "persons")`),
  ERR_CONFIG_UNREADABLE: (project) => project.write("migrate.config.ts", "export default {\n"),
  ERR_CONFIG_INVALID: (project) => config(project, "targets: 7"),
  ERR_PROJECT_MISSING: ({ database }) => rmSync(database, { recursive: true }),
  ERR_TARGET_UNKNOWN: (project) => config(project, ""),
  ERR_MIGRATIONS_FOLDER: ({ folder }) => rmSync(join(folder, "migrations"), { recursive: true }),
  ERR_SCHEMA_INVALID: (project) => (pending(project, people), project.write("schema.ts", "export default 7;\n")),
  ERR_UNCAUGHT: (project) =>
    project.write(
      "migrations/0001_bad.ts",
      `void Promise.reject(new Error("no luck"));\nawait new Promise((done) => setTimeout(done, 1000));\nexport const up = [];\n`,
    ),
};
