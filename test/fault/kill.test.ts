import { execFileSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, type Project } from "../support/project.ts";
import { columnsOf, lancedb, rowsOf } from "../support/tables.ts";

const kills = 50;
const fragments = 5;
const rowsInEach = 1_000_000;

// Steps that a second run would spoil: a swap of two columns of one type, a retype there and back, a rename.
function write(project: Project): void {
  project.write(
    "migrate.config.ts",
    `export default { leaseSeconds: 1, targets: { local: { kind: "lance", uri: ".lancedb" } } };\n`,
  );
  project.migration(
    "0001_create.ts",
    `m.createTable("big", { id: m.int32().notNull(), a: m.int32(), b: m.int32(), c: m.int32() }),`,
  );
}

function writeMore(project: Project): void {
  project.migration(
    "0002_widen.ts",
    `m.renameColumn("big", "id", "key"),
     m.retypeColumn("big", "key", m.int64()),
     m.retypeColumn("big", "c", m.int64()),
     m.renameColumn("big", "c", "d"),`,
  );
  project.migration("0003_swap.ts", `m.alterColumns("big", [{ path: "a", rename: "b" }, { path: "b", rename: "a" }]),`);
  project.migration(
    "0004_there_and_back.ts",
    `m.retypeColumn("big", "a", m.int64()),
     m.retypeColumn("big", "a", m.int32()),
     m.alterColumns("big", [{ path: "a", rename: "b" }, { path: "b", rename: "a" }]),
     m.alterColumns("big", [{ path: "a", rename: "b" }, { path: "b", rename: "a" }]),`,
  );
  project.migration("0005_tighten.ts", `m.setNullable("big", "d", false), m.createTable("small", { id: m.int32() }),`);
}

async function fill(project: Project): Promise<void> {
  const table = await (await lancedb.connect(project.database)).openTable("big");
  const { makeArrowTable } = lancedb;
  for (let fragment = 0; fragment < fragments; fragment++) {
    const rows = Array.from({ length: rowsInEach }, (_, index) => {
      const id = fragment * rowsInEach + index;
      return { id, a: id, b: -id, c: id % 1000 };
    });
    await table.add(makeArrowTable(rows, { schema: await table.schema() }));
  }
}

/** Every value of the finished table, checked by the engine. */
async function wrongRows(project: Project): Promise<number> {
  const table = await (await lancedb.connect(project.database)).openTable("big");
  expect(await table.countRows()).toBe(fragments * rowsInEach);
  return await table.countRows("NOT (a = -key AND b = key AND d = key % 1000) OR a IS NULL OR b IS NULL OR d IS NULL");
}

test(`a run killed at ${kills} random moments is gone on with by the next one, and every value is right`, async () => {
  const origin = aProject();
  write(origin);
  expect(await origin.migrate(["up"])).toMatchObject({ code: 0 });
  await fill(origin);

  const copy = (): Project => {
    const project = aProject();
    write(project);
    writeMore(project);
    // The engine never changes a file that it has written, so links are as good as copies.
    execFileSync("cp", ["-al", origin.database, project.database]);
    return project;
  };

  const undisturbed = copy();
  const before = performance.now();
  expect(await undisturbed.migrate(["up"])).toMatchObject({ code: 0 });
  const duration = performance.now() - before;
  expect(await wrongRows(undisturbed)).toBe(0);

  const stoppedIn = new Map<string, number>();
  for (let kill = 0; kill < kills; kill++) {
    const project = copy();
    const running = project.start(["up"]);
    // The first part of a run is Node starting; the kills are spread over the rest and a little beyond.
    await pause(duration * (0.3 + 0.75 * Math.random()));
    running.process.kill("SIGKILL");
    await running.finished;
    const records = await rowsOf(project.database, "_migrations");
    const last = records
      .toSorted((one, other) => Number(one.epoch) - Number(other.epoch) || Number(one.number) - Number(other.number))
      .at(-1);
    const where = `${String(last?.event)} ${String(last?.version ?? "")}`.trim();
    stoppedIn.set(where, (stoppedIn.get(where) ?? 0) + 1);

    const next = await project.migrate(["up"]);
    expect(next, next.stderr).toMatchObject({ code: 0 });
    expect(await wrongRows(project)).toBe(0);
    expect(await columnsOf(project.database, "big")).toEqual(await columnsOf(undisturbed.database, "big"));
    expect(await project.migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    execFileSync("rm", ["-rf", join(project.database)]);
  }
  console.log(`killed after the record: ${[...stoppedIn].map(([where, times]) => `${where} (${times})`).join(", ")}`);
}, 900_000);
