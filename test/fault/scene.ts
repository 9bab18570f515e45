/** A project whose migrations take their time over a table of many rows, and a check of every value. */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { expect } from "vitest";
import { aProject, type Project, type Running } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { aService, apiKey } from "../support/service.ts";
import { addNumbers, columnsOf, lancedb } from "../support/tables.ts";

/** Who works on the folder: the embedded engine, or a service whose dialect it is. */
export type Way = "embedded" | "service" | "namespace";

const fragments = 5;
const rowsInEach = rounds(100_000, 1_000_000);

export interface Scene {
  /** A project with the filled table and four pending migrations. */
  copy(): Promise<Project>;
  /** Milliseconds from the plan to the end of a run that nobody disturbs. */
  readonly duration: number;
  /** Of its output. */
  readonly lines: number;
  /** Every value, and the columns, as after a run that nobody disturbed; then the copy is thrown away. */
  requireRight(project: Project): Promise<void>;
}

/** Resolves when the run has printed these words, or has ended. */
export function printed({ process }: Running, words: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout?.on("data", (text: string) => {
      if (text.includes(words)) resolve();
    });
    process.on("close", () => resolve());
  });
}

export async function aScene(way: Way = "embedded"): Promise<Scene> {
  const origin = aProject();
  await writeFirst(origin, way);
  expect(await origin.migrate(["up"], key)).toMatchObject({ code: 0 });
  await fill(origin);

  const copy = async (): Promise<Project> => {
    const project = aProject();
    // The engine never changes a file that it has written, so links are as good as copies.
    execFileSync("cp", ["-al", `${origin.database}/.`, project.database]);
    await writeFirst(project, way);
    writePending(project);
    return project;
  };

  const undisturbed = await copy();
  const running = undisturbed.start(["up", "--json"], key);
  await printed(running, '"planned"');
  const start = performance.now();
  const { code, stdout, stderr } = await running.finished;
  expect(code, stderr).toBe(0);
  const duration = performance.now() - start;
  expect(await wrongRows(undisturbed)).toBe(0);
  const columns = await columnsOf(undisturbed.database, "big");

  return {
    copy,
    duration,
    lines: stdout.split("\n").length - 1,
    async requireRight(project) {
      expect(await wrongRows(project)).toBe(0);
      expect(await columnsOf(project.database, "big")).toEqual(columns);
      expect(await project.migrate(["up"], key)).toMatchObject({ code: 0, stdout: "nothing to do\n" });
      rmSync(project.database, { recursive: true });
    },
  };
}

/** What a service wants to see; the engine does not look. */
export const key = { MIGRATE_API_KEY: apiKey };

async function writeFirst(project: Project, way: Way): Promise<void> {
  const target =
    way === "embedded"
      ? { kind: "lance", uri: ".lancedb" }
      : { kind: "rest", endpoint: (await aService(project.database)).url, dialect: way };
  project.write("migrate.config.ts", `export default { targets: { local: ${JSON.stringify(target)} } };\n`);
  project.migration(
    "0001_create.ts",
    `m.createTable("big", { id: m.int32().notNull(), a: m.int32(), b: m.int32(), c: m.int32() }),`,
  );
}

// Steps that a second run would spoil: a swap of two columns of one type, a retype there and back, a rename.
function writePending(project: Project): void {
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

async function fill({ database }: Project): Promise<void> {
  for (let first = 0; first < fragments * rowsInEach; first += rowsInEach)
    await addNumbers(database, "big", rowsInEach, {
      id: (row) => first + row,
      a: (row) => first + row,
      b: (row) => -(first + row),
      c: (row) => (first + row) % 1000,
    });
}

async function wrongRows(project: Project): Promise<number> {
  const table = await (await lancedb.connect(project.database)).openTable("big");
  expect(await table.countRows()).toBe(fragments * rowsInEach);
  return await table.countRows("NOT (a = -key AND b = key AND d = key % 1000) OR a IS NULL OR b IS NULL OR d IS NULL");
}
