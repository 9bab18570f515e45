import { cpSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { aProject, type Project } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { columnsOf, lancedb, rowsOf } from "../support/tables.ts";
import { begun } from "./scene.ts";

const kills = rounds(12, 50);
const rows = 200_000;

function writeFirst(project: Project): void {
  project.write("migrate.config.ts", "export default { leaseSeconds: 1 };\n");
  project.migration("0001_create.ts", `m.createTable("big", { id: m.int32().notNull(), a: m.int32(), b: m.int32() }),`);
}

/** Steps whose way back a second run would spoil: a swap, a rename, two retypes, an index, a table. */
function writePending(project: Project): void {
  project.migration(
    "0002_widen.ts",
    `m.renameColumn("big", "id", "key"),
     m.retypeColumn("big", "key", m.int64()),
     m.setNullable("big", "key", true),
     m.addColumn("big", "note", m.utf8()),`,
  );
  project.migration(
    "0003_swap.ts",
    `m.alterColumns("big", [{ path: "a", rename: "b" }, { path: "b", rename: "a" }]),
     m.retypeColumn("big", "a", m.int64()),
     m.createIndex("big", "b", m.btree()),`,
  );
  project.migration("0004_more.ts", `m.createTable("small", { id: m.int32() }), m.setNullable("big", "b", false),`);
}

const right = ["id: int32 not null", "a: int32", "b: int32"];

/** The columns, every value, and no table that was not there. */
async function requireBack(project: Project): Promise<void> {
  const db = await lancedb.connect(project.database);
  expect((await db.tableNames()).filter((name) => !name.startsWith("_"))).toEqual(["big"]);
  expect(await columnsOf(project.database, "big")).toEqual(right);
  const table = await db.openTable("big");
  expect(await table.countRows("a = id AND b = -id")).toBe(rows);
  expect(await table.countRows()).toBe(rows);
}

test(`a down killed at ${kills} random moments is gone on with by the next one, and every value is back`, async () => {
  const places = new Map<string, number>();
  let duration = 0;
  const origin = aProject("shared");
  writeFirst(origin);
  expect(await origin.migrate(["up"])).toMatchObject({ code: 0 });
  const table = await (await lancedb.connect(origin.database)).openTable("big");
  const values = Array.from({ length: rows }, (_, id) => ({ id, a: id, b: -id }));
  await table.add(lancedb.makeArrowTable(values, { schema: await table.schema() }));
  writePending(origin);
  expect(await origin.migrate(["up"])).toMatchObject({ code: 0 });
  for (let kill = -1; kill < kills; kill++) {
    const project = aProject("shared");
    cpSync(origin.database, project.database, { recursive: true });
    writeFirst(project);
    writePending(project);

    const running = project.start(["down", "--to", "1", "--json"]);
    await begun(running);
    const started = performance.now();
    if (kill >= 0) {
      await pause(duration * Math.random());
      running.process.kill("SIGKILL");
    }
    const { code } = await running.finished;
    // The first is not disturbed, and says how long one takes.
    if (kill < 0) {
      expect(code).toBe(0);
      duration = performance.now() - started;
    }
    const records = await rowsOf(project.database, "_migrations");
    const last = records
      .toSorted((one, other) => Number(one.epoch) - Number(other.epoch) || Number(one.number) - Number(other.number))
      .at(-1);
    const place = `${String(last?.event)} ${String(last?.version ?? "")}`.trim();
    if (kill >= 0) places.set(place, (places.get(place) ?? 0) + 1);

    const next = await project.migrate(["down", "--to", "1"]);
    expect(next, next.stderr).toMatchObject({ code: 0 });
    await requireBack(project);
    expect(await project.migrate(["down", "--to", "1"])).toMatchObject({ code: 0, stdout: "nothing to take back\n" });
    if (kill % 10 === 0) expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  }
  console.log(`killed after the record: ${[...places].map(([place, times]) => `${place} (${times})`).join(", ")}`);
}, 900_000);
