/** An action that stops between its commits each time, as its index can never be trained: it can be rolled back. */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, leaping, temporaryFolder, type Project, onStderr } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { addRows, columnsOf, lancedb, rowsOf } from "../support/tables.ts";
import { startVictim } from "./start-victim.ts";
import type { Order } from "./victim.ts";

const create = `m.createTable("t", { id: m.int32(), v: m.vector(8) }, { rows: [
  { id: 1, v: [1.7e38, 1, 2, 3, 4, 5, 6, 7] }, { id: 2, v: [0, 1, 2, -1.7e38, 4, 5, 6, 7] }] }),
  m.createIndex("t", "v", m.ivfRq({ numPartitions: 1, maxIterations: 2 })),`;
/** As float16, the vectors are infinite, and no index can be trained on them. */
const retype = `m.retypeColumn("t", "v", m.fixedSizeList(m.float16(), 8), { using: "v" }),`;

async function seen(folder: string) {
  const db = await lancedb.connect(folder);
  const tables = (await db.tableNames()).filter((name) => !name.startsWith("_"));
  if (!tables.includes("t")) return { tables };
  const indexes = (await (await db.openTable("t")).listIndices()).map(({ name }) => name);
  return { tables, columns: await columnsOf(folder, "t"), rows: await rowsOf(folder, "t"), indexes };
}

async function upFails(project: Project): Promise<void> {
  const { code, stderr } = await project.migrate(["up", "--step-by-step", "--accept", "lossy"]);
  expect({ code, stderr }).toMatchObject(onStderr(1, "a part of this action is done"));
}

/** A project whose second migration has stopped, and its table before that. */
async function stopped() {
  const project = aProject();
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const before = await seen(project.database);
  project.migration("0002_retype.ts", retype);
  await upFails(project);
  return { project, before };
}

test("it is rolled back wherever that run is killed, and status states so", async () => {
  const { project, before } = await stopped();
  // A second `up` fails too, and takes nothing away.
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 1 });
  const { stdout } = await project.migrate(["status"]);
  expect(stdout).toContain("0002_retype is half done: to continue, migrate up; to go back, migrate down");
  const origin = temporaryFolder();
  cpSync(project.database, origin, { recursive: true });
  let [call, killed] = [rounds(6, 1), 0];
  for (; ; call += rounds(8, 1), killed++) {
    rmSync(project.database, { recursive: true });
    cpSync(origin, project.database, { recursive: true });
    const order: Order = {
      migrations: join(project.folder, "migrations"),
      target: { kind: "lance", uri: project.database },
      downTo: 1,
      death: { call, place: "after" },
    };
    const { code, stderr } = await startVictim(order, project.folder).finished;
    if (code === 0) break;
    expect(code, stderr).toBeNull();
    const next = await project.migrate(["down", "--to", "1"], leaping());
    expect({ call, code: next.code }, next.stderr).toEqual({ call, code: 0 });
    expect(await seen(project.database)).toEqual(before);
  }
  expect(killed).toBeGreaterThan(1);
  expect(await seen(project.database)).toEqual(before);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test("a file that was edited since is named, and rows that were written meanwhile block the rollback", async () => {
  const { project, before } = await stopped();
  project.migration("0001_create.ts", create.replace("m.int32()", "m.int64()"));
  const edited = await project.migrate(["down", "--to", "1"]);
  expect(edited).toMatchObject(onStderr(4, "0001_create.ts was changed"));
  project.migration("0001_create.ts", create);
  await addRows(project.database, "t", [{ id: 3, v: [1, 2, 3, 4, 5, 6, 7, 8] }]);
  const refused = await project.migrate(["down", "--to", "1"]);
  expect(refused).toMatchObject(onStderr(4, "1 row of t was written since"));
  expect(await project.migrate(["down", "--to", "1", "--reinsert"])).toMatchObject({ code: 4 });
  expect(await rowsOf(project.database, "t")).toHaveLength(3);
  expect(await project.migrate(["down", "--to", "1", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect(await seen(project.database)).toEqual(before);
});

test("a table that the migration has made is dropped", async () => {
  const project = aProject();
  project.migration("0001_all.ts", `${create} ${retype}`);
  await upFails(project);
  expect(await project.migrate(["down", "--to", "0"])).toMatchObject({ code: 0 });
  expect(await seen(project.database)).toEqual({ tables: [] });
});

test("a table that something else has changed meanwhile is left as it is", async () => {
  const { project } = await stopped();
  await (await (await lancedb.connect(project.database)).openTable("t")).dropColumns(["id"]);
  const found = await seen(project.database);
  expect(await project.migrate(["down", "--to", "1"])).toMatchObject({ code: 4 });
  expect(await seen(project.database)).toEqual(found);
});

test("indexes and metadata that others have given the table meanwhile are put back", async () => {
  const project = aProject();
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const open = async () => await (await lancedb.connect(project.database)).openTable("t");
  project.migration("0002_retype.ts", retype);
  await upFails(project);
  const table = await open();
  await table.createIndex("id", { config: lancedb.Index.btree() });
  await table.updateFieldMetadata([
    { path: "id", metadata: { since: "theirs" } },
    { path: "v", metadata: { since: "theirs" } },
  ]);
  expect(await project.migrate(["down", "--to", "1"])).toMatchObject({ code: 0 });
  expect((await seen(project.database)).indexes?.toSorted()).toEqual(["id_idx", "v_idx"]);
  expect((await (await open()).schema()).fields.map((field) => Object.fromEntries(field.metadata))).toEqual([
    { since: "theirs" },
    { since: "theirs" },
  ]);
});

/** What is not known for certain to be undone as a whole stays for `up`. */
test.each<{ what: string; more: string; down?: boolean; theirs?: Record<string, string> }>([
  { what: "its file exports a `down`, so no version is kept for it", more: retype, down: true },
  {
    what: "others had given the column something that the kept version may lack",
    more: retype,
    theirs: { owner: "app" },
  },
  { what: "a later step drops the table", more: `${retype} m.dropTable("t"),` },
])("it is left alone if $what", async ({ more, down = false, theirs }) => {
  const project = aProject();
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  if (theirs !== undefined) {
    const table = await (await lancedb.connect(project.database)).openTable("t");
    await table.updateFieldMetadata([{ path: "v", metadata: theirs }]);
  }
  project.migration("0002_retype.ts", more);
  if (down) {
    const file = join(project.folder, "migrations/0002_retype.ts");
    const back = retype.replace("float16", "float32");
    writeFileSync(file, `${readFileSync(file, "utf8")}\nexport const down = [${back}];\n`);
  }
  const { code } = await project.migrate(["up", "--step-by-step", "--accept", "lossy,irreversible"]);
  expect(code).toBe(1);
  const found = await seen(project.database);
  expect(await project.migrate(["down", "--to", "1"])).toMatchObject(
    onStderr(4, "may have run further than is recorded"),
  );
  expect((await project.migrate(["status"])).stdout).toContain("to go back, migrate up --to 2, then migrate down");
  expect(await seen(project.database)).toEqual(found);
});

test("where what is done can't be rolled back, status names no way back, and down names the way on", async () => {
  const project = aProject();
  project.migration("0001_two.ts", ["a", "b"].map((name) => `m.createTable("${name}", { id: m.utf8() })`).join(", "));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "b", [{ id: "n/a" }]);
  project.migration(
    "0002_no.ts",
    `m.dropTable("a"), m.renameColumn("b", "id", "n"), m.retypeColumn("b", "n", m.int32(), { using: "cast(n as int)" })`,
  );
  expect(await project.migrate(["up", "--accept", "irreversible"])).toMatchObject({ code: 1 });
  expect((await project.migrate(["status"])).stdout).toContain(
    "0002_no is half done: to continue, migrate up; it can't be rolled back, because a is dropped with its rows and its versions\n",
  );
  expect(await project.migrate(["down", "--yes"])).toMatchObject(
    onStderr(4, "; fix what stopped it, or the steps that have not run, and run migrate up, which finishes it"),
  );
});
