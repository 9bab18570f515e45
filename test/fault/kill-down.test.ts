import { cpSync } from "node:fs";
import { expect, test } from "vitest";
import { aProject, leaping, type Project } from "../support/project.ts";
import { killAt, killMoments, newestRecord } from "../support/kill-moments.ts";
import { rounds } from "../support/rounds.ts";
import { addNumbers, columnsOf, lancedb } from "../support/tables.ts";

const kills = rounds(4, 50);
const rows = rounds(20_000, 200_000);

function writeFirst(project: Project): void {
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
  let drawn: ReturnType<typeof killMoments> | undefined;
  const origin = aProject();
  writeFirst(origin);
  expect(await origin.migrate(["up"])).toMatchObject({ code: 0 });
  await addNumbers(origin.database, "big", rows, { id: (row) => row, a: (row) => row, b: (row) => -row });
  writePending(origin);
  expect(await origin.migrate(["up"])).toMatchObject({ code: 0 });
  for (let kill = -1; kill < kills; kill++) {
    const project = aProject();
    cpSync(origin.database, project.database, { recursive: true });
    writeFirst(project);
    writePending(project);

    const args = ["down", "--to", "1", "--json"];
    const moment = drawn?.moments[kill];
    // The first is not disturbed, and says how many lines one prints.
    if (moment === undefined) {
      const { code, stdout } = await project.start(args).finished;
      expect(code).toBe(0);
      drawn = killMoments(kills, stdout.split("\n").length - 1);
    } else await killAt(project, args, moment);
    const place = await newestRecord(project.database);
    if (kill >= 0) places.set(place, (places.get(place) ?? 0) + 1);

    const context = moment === undefined ? "not killed" : drawn!.words(moment);
    const next = await project.migrate(["down", "--to", "1"], leaping());
    expect(next, `${context}\n${next.stderr}`).toMatchObject({ code: 0 });
    await requireBack(project).catch((error: unknown) => {
      throw new Error(`not back when ${context}`, { cause: error });
    });
    expect(await project.migrate(["down", "--to", "1"])).toMatchObject({ code: 0, stdout: "nothing to roll back\n" });
    if (kill % 10 === 0) expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  }
  const where = [...places].map(([place, times]) => `${place} (${times})`).join(", ");
  console.log(`killed after the record: ${where}`);
  // In different migrations.
  expect(places.size, where).toBeGreaterThan(2);
});
