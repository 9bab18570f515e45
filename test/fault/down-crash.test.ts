/** A `down` that is killed before and after each of its calls, in actions of several commits too: the next one ends it. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, leaping, temporaryFolder } from "../support/project.ts";
import { isLong, ofThisCommit, rounds } from "../support/rounds.ts";
import { addRows, columnsOf, lancedb, rowsOf } from "../support/tables.ts";
import { startVictim } from "./start-victim.ts";
import type { Order } from "./victim.ts";

const cases = {
  "a retype that renames too, of a nullable column with an index and metadata": `m.alterColumns("t", [{ path: "x", rename: "y", type: m.int64() }]),`,
  "a retype and what makes it not null again": `m.alterColumns("t", [{ path: "id", type: m.int64(), nullable: true }]),`,
  "several steps": `m.renameColumn("t", "x", "z"), m.addColumn("t", "n", m.utf8()), m.createIndex("t", "n", m.btree()),
    m.setMetadata("t", "id", { unit: "m" }), m.createTable("u", { id: m.int32() }),`,
  "a dropped column": `m.dropColumn("t", "x"),`,
  "values recreated, which no look at the columns tells": `m.dropIndex("t", "x_idx"), m.dropColumn("t", "x"),
    m.addColumn("t", "x", m.int32()), m.setMetadata("t", "x", { unit: "s" }), m.createIndex("t", "x", m.btree()),`,
  "deleted rows": `m.execute("t", { delete: "id = 1" }),`,
};
/** These lose something, so that old versions are restored, and rows that came since are reinserted. */
const lossy: ReadonlySet<string> = new Set([
  "a dropped column",
  "values recreated, which no look at the columns tells",
]);
const every = rounds(60, 1);
/** Before a call the tables are as after the one before it. */
const places = isLong ? (["before", "after"] as const) : (["after"] as const);

/** What others set since a migration, on a column that it lets be. */
async function giveMore(folder: string): Promise<void> {
  const table = await (await lancedb.connect(folder)).openTable("t");
  await table.updateFieldMetadata([{ path: "id", metadata: { owner: "app" } }]);
  await table.createIndex("id", { config: lancedb.Index.btree() });
}

interface Seen {
  readonly rows: readonly object[];
  readonly indexes: readonly string[];
  readonly metadata: readonly string[][];
}

function withMore<Before extends Seen>(before: Before) {
  const rows = [...before.rows, { id: 3, x: null }];
  return {
    ...before,
    rows,
    indexes: ["id_idx on id", ...before.indexes],
    metadata: [["owner,app"], ...before.metadata.slice(1)],
  };
}

const all = Object.entries(cases).map(([kind, steps], index) => [kind, steps, index] as const);

test.each(ofThisCommit(all, 2))("%s is rolled back wherever the run is killed", async (kind, steps, index) => {
  // Each case is killed at other calls.
  const first = isLong ? 1 : 1 + 6 * index;
  const project = aProject();
  project.migration(
    "0001_create.ts",
    `m.createTable("t", { id: m.int32().notNull(), x: m.int32() }), m.createIndex("t", "x", m.btree()),
       m.setMetadata("t", "x", { unit: "s" }),`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", [
    { id: 1, x: 7 },
    { id: 2, x: null },
  ]);
  const seen = async (folder: string) => {
    const db = await lancedb.connect(folder);
    const table = await db.openTable("t");
    const indexes = (await table.listIndices()).map(({ name, columns }) => `${name} on ${String(columns)}`);
    indexes.sort();
    const metadata = (await table.schema()).fields.map((field) => [...field.metadata].map(String));
    const tables = (await db.tableNames()).filter((name) => !name.startsWith("_"));
    return { columns: await columnsOf(folder, "t"), rows: await rowsOf(folder, "t"), indexes, metadata, tables };
  };
  const before = await seen(project.database);
  project.migration("0002_more.ts", steps);
  expect(await project.migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  const isLossy = lossy.has(kind);
  if (isLossy) await addRows(project.database, "t", [{ id: 3 }]);
  if (isLossy) await giveMore(project.database);
  const wanted = isLossy ? withMore(before) : before;
  const origin = temporaryFolder();
  cpSync(project.database, origin, { recursive: true });

  let killed = 0;
  let end = Infinity;
  for (const place of places)
    for (let call = first; call < end; call += every) {
      rmSync(project.database, { recursive: true });
      cpSync(origin, project.database, { recursive: true });
      const order: Order = {
        migrations: join(project.folder, "migrations"),
        target: { kind: "lance", uri: project.database },
        downTo: 1,
        reinsert: isLossy,
        death: { call, place },
      };
      const { code, stdout, stderr } = await startVictim(order, project.folder).finished;
      if (code === 0) end = call;
      if (code === 0) break;
      expect(code, stderr).toBeNull();
      killed++;
      const next = await project.migrate(["down", "--to", "1", ...(isLossy ? ["--reinsert"] : [])], leaping());
      expect({ place, call, stdout, code: next.code }, next.stderr).toEqual({ place, call, stdout, code: 0 });
      expect(await seen(project.database)).toEqual(wanted);
    }
  expect(killed).toBeGreaterThan((12 / every) * places.length);
});
