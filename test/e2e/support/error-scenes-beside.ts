/** Scenes of errors that are about what others do while a run is under way. */
import { join } from "node:path";
import { leaping, root, type Project } from "../../support/project.ts";
import { addRows } from "../../support/tables.ts";
import { applied, config, pending, people, rows, type ErrorScenes } from "./scene-project.ts";

const rename = `m.renameColumn("people", "name", "title")`;

/** A pending migration on a table with rows. */
async function onRows(project: Project, steps: string): Promise<void> {
  await pending(project, people, steps);
  await addRows(project.database, "people", rows);
}

/** A migration that has run on a table with rows. */
async function ranOnRows(project: Project, steps: string): Promise<void> {
  await onRows(project, steps);
  await applied(project);
}

/** The hook is called when the plan is made. `code` has the table as `people` and the database as `db`. */
function duringRun(project: Project, code: string): void {
  const open = `const db = await connect(".lancedb"); const people = await db.openTable("people");`;
  config(project, `hooks: { async beforeMigration() { ${open} ${code} } }`, engine);
}

const engine = `import { createRequire } from "node:module";
const { connect } = createRequire(${JSON.stringify(join(root, "package.json"))})("@lancedb/lancedb");
`;

/** `before` and `after` the first call of that method of the engine, as the bodies of functions. */
function aroundCall(project: Project, method: string, { before = "", after = "", hooks = "" }): void {
  const body = (code: string) => `async (people, db) => { ${code} }`;
  const around = `{ before: ${body(before)}, after: ${body(after)} }`;
  const module = JSON.stringify(join(import.meta.dirname, "beside-call.ts"));
  config(
    project,
    `hooks: { ${hooks} }`,
    `import { besideCall } from ${module};\nbesideCall("${method}", "people", ${around});\n`,
  );
}

const recreate = `const schema = await people.schema(); await db.dropTable("people"); await db.createEmptyTable("people", schema);`;
const append = `await people.add([{ id: 2 }]);`;
const cleanUp = `${append} await (await db.openTable("people")).optimize({ cleanupOlderThan: new Date(Date.now() + 1_000) });`;
const fill = `await people.update({ where: "id = 1", valuesSql: { n: "42" } });`;

/** Another run takes the lease over while this one sleeps. Its hook refuses it, so that it changes nothing. */
const sleep = `(await import("node:child_process")).spawnSync(process.execPath, [process.argv[1], "up"], { env: { ...process.env, OTHER: "yes" } });`;
const refuseOther = `beforeRun() { if (process.env.OTHER) throw new Error("no"); }`;

/** The clocks of both runs leap over the lease when the other one waits for it. */
function oversleeping({ migrate }: Project): Pick<Project, "migrate"> {
  const env = leaping();
  return { migrate: (args) => migrate(args, env) };
}

/** A clock that leaps over the lease whenever it is read. */
const leap = `const { bigint } = process.hrtime; let reads = 0n; process.hrtime.bigint = () => bigint() + 60_000_000_000n * ++reads;`;

export const scenesBesideRuns: ErrorScenes = {
  ERR_TABLE_CHANGED: async (project) => {
    await onRows(project, rename);
    duringRun(project, `await people.dropColumns(["name"]);`);
  },
  ERR_UNEXPECTED_RESULT: async (project) => {
    await onRows(project, rename);
    aroundCall(project, "alterColumns", { after: `await people.addColumns([{ name: "n", valueSql: "1" }]);` });
  },
  ERR_TABLE_RECREATED: async (project) => {
    await onRows(project, rename);
    aroundCall(project, "alterColumns", { before: recreate });
  },
  ERR_METADATA_LOST: async (project) => {
    await onRows(project, rename);
    const before = `await people.updateFieldMetadata([{ path: "id", metadata: { unit: "m" } }]);`;
    aroundCall(project, "alterColumns", { before, after: cleanUp });
  },
  ERR_ROLLBACK_STOPPED: async (project) => {
    await ranOnRows(project, `m.addColumn("people", "n", m.int32())`);
    duringRun(project, fill);
  },
  ERR_WRITES_LOST: async (project) => {
    await ranOnRows(project, `m.addColumn("people", "n", m.int32())`);
    aroundCall(project, "dropColumns", { before: fill });
  },
  ERR_WRITES_UNKNOWN: async (project) => {
    await ranOnRows(project, `m.addColumn("people", "n", m.int32())`);
    aroundCall(project, "dropColumns", { before: fill, after: cleanUp });
  },
  ERR_LEDGER_UNWRITABLE: async (project) => {
    await onRows(project, rename);
    const data = JSON.stringify(join(project.database, "_migrations.lance/data"));
    duringRun(
      project,
      `const fs = await import("node:fs"); fs.renameSync(${data}, ${data} + "2"); fs.writeFileSync(${data}, "");`,
    );
  },
  ERR_LEASE_LOST: async (project) => {
    await onRows(project, rename);
    config(project, `hooks: { ${refuseOther}, async beforeMigration() { ${sleep} } }`);
    return oversleeping(project);
  },
  ERR_ACTED_LATE: async (project) => {
    await onRows(project, rename);
    aroundCall(project, "alterColumns", { before: sleep, hooks: refuseOther });
    return oversleeping(project);
  },
  ERR_LEASE_SHORT: async (project) => {
    await onRows(project, rename);
    config(project, `hooks: { beforeMigration() { ${leap} } }`);
  },
};
