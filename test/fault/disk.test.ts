/** A disk that fills up in the middle of a run, and one that is read-only: a tmpfs of its own, where one may be mounted. */
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { aProject, leaping, type Finished, type Project, onStdout } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";
import { serveProcess } from "../support/serve.ts";
import { apiKey } from "../support/service.ts";
import { mountSmallDisk, type SmallDisk } from "../support/small-disk.ts";
import { addNumbers, lancedb } from "../support/tables.ts";

const rows = 500_000;
const kilobyte = 1024;
const key = { MIGRATE_API_KEY: apiKey };

interface Scene {
  readonly project: Project;
  readonly disk: SmallDisk;
}

/** A project whose database, with a table of many rows, lies on a small disk. */
async function aSmallScene(context: TestContext, pending: string): Promise<Scene> {
  const project = aProject();
  const disk = mountSmallDisk(context, project.database, 32);
  project.write("migrate.config.ts", `export default { targets: { here: { kind: "lance", uri: ".lancedb" } } };\n`);
  project.migration("0001_big.ts", `m.createTable("big", { id: m.int32().notNull() })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addNumbers(project.database, "big", rows, { id: (row) => row });
  project.migration("0002_pending.ts", pending);
  return { project, disk };
}

/** One sentence on stderr's last line that names the cause, and nothing of where in whose source it came up. */
function requireClear({ stderr, stdout }: Finished, cause: RegExp): void {
  expect(stderr.trim().split("\n").at(-1)).toMatch(cause);
  expect(stdout + stderr).not.toMatch(/\.rs:\d|\/cargo\/|GenericFailure|LanceError|^ +at /m);
}

async function requireRows(project: Project): Promise<void> {
  const table = await (await lancedb.connect(project.database)).openTable("big");
  expect(await table.countRows()).toBe(rows);
  const ids = (await table.query().select(["id"]).toArrow()).getChild("id")!.toArray() as Int32Array | BigInt64Array;
  const seen = new Uint8Array(rows);
  for (const id of ids) seen[Number(id)] = 1;
  expect(seen.indexOf(0)).toBe(-1);
}

const full = /No space left on device|no space left on device|ENOSPC/;

/** Where a run met the end of the disk. */
function placeOf({ stderr }: Finished): string {
  if (/ledger _migrations can't be written/.test(stderr)) return "the ledger";
  return /action \d+ \((.*?)\)|step \d+.*? failed/.exec(stderr)?.[0] ?? stderr.trim().split("\n").at(-1)!;
}

test.for([
  { what: "a retype", pending: `m.retypeColumn("big", "id", m.int64())`, step: 1024 * kilobyte },
  {
    what: "creating tables",
    pending: `m.createTable("one", { id: m.int32() }), m.createTable("two", { id: m.int32() })`,
    step: rounds(64, 24) * kilobyte,
  },
])(
  "a disk that is full in the middle of $what stops the run with one sentence, and the next one finishes when there is space",
  async ({ pending, step }, context) => {
    const { project, disk } = await aSmallScene(context, pending);
    const kept = join(project.folder, "kept");
    cpSync(project.database, kept, { recursive: true });
    const places = new Set<string>();
    // Each time it gets further, until the space is enough.
    for (let free = 0; ; free += step) {
      disk.fill(free);
      const first = await project.migrate(["up"]);
      if (first.code !== 0) {
        expect(first.code, first.stderr).toBe(1);
        requireClear(first, full);
        places.add(placeOf(first));
        await requireRows(project);
        disk.empty();
        const next = await project.migrate(["up"], leaping());
        expect(next, next.stderr).toMatchObject({ code: 0 });
      }
      disk.empty();
      await requireRows(project);
      expect(await project.migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
      if (first.code === 0) break;
      for (const name of readdirSync(project.database)) rmSync(join(project.database, name), { recursive: true });
      cpSync(kept, project.database, { recursive: true });
    }
    console.log(`the disk was full at: ${[...places].join("; ")}`);
    expect(places).toContain("the ledger");
  },
);

test("a retype that fills the disk states which index it has dropped, and the next up finishes it", async (context) => {
  const { project, disk } = await aSmallScene(context, `m.createIndex("big", "id", m.btree())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0003_wider.ts", `m.retypeColumn("big", "id", m.int64())`);
  disk.fill(400 * kilobyte);
  const first = await project.migrate(["up"]);
  expect(first.code).toBe(1);
  const left = "a part of this action is done (big: index id_idx on id is missing: btree)";
  requireClear(first, new RegExp(left.replace(/[()]/g, "\\$&") + "; fix the cause and run migrate up again"));
  expect((await project.migrate(["status"])).stdout).toContain("it stopped between two commits of action 1");
  disk.empty();
  expect(await project.migrate(["up"], leaping())).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"], leaping())).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  await requireRows(project);
});

test("a service on a full disk says that it can't, and a run through it converges when there is space", async (context) => {
  const { project, disk } = await aSmallScene(context, `m.retypeColumn("big", "id", m.int64())`);
  const { url } = await serveProcess(project.database);
  // The ledger that the engine has written is the one that the namespace dialect reads.
  const served = { kind: "rest", endpoint: url, dialect: "namespace" };
  project.write("migrate.config.ts", `export default { targets: { here: ${JSON.stringify(served)} } };\n`);
  for (const free of [0, 1024 * kilobyte]) {
    disk.fill(free);
    const answer = await fetch(`${url}/v1/table/big/alter_columns`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify({ alterations: [{ path: "id", data_type: { type: "int64" } }] }),
    });
    const said = (await answer.json()) as Record<string, unknown>;
    expect({ status: answer.status, ...said }).toMatchObject({
      status: 507,
      code: 18,
      error: "the service has no space left for this",
    });
    const first = await project.migrate(["up"], { ...key, ...leaping() });
    expect([1, 6], first.stderr).toContain(first.code);
    requireClear(first, /the service has no space left for this/);
    await requireRows(project);
  }
  disk.empty();
  expect(await project.migrate(["up"], { ...key, ...leaping() })).toMatchObject({ code: 0 });
  await requireRows(project);
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0, stdout: "nothing to do\n" });
});

test("on a read-only disk what reads works, and what writes says so in one sentence", async (context) => {
  const { project, disk } = await aSmallScene(context, `m.createTable("more", { id: m.int32() })`);
  disk.readOnly();
  expect(await project.migrate(["status", "--check"])).toMatchObject(onStdout(3, "1 migration applied, 1 pending"));
  expect(await project.migrate(["plan"])).toMatchObject(onStdout(0, "create table more"));
  expect(await project.migrate(["history"])).toMatchObject(onStdout(0, "0001_big"));
  expect(await project.migrate(["lint"])).toMatchObject({ code: 0 });
  const up = await project.migrate(["up"]);
  expect(up.code).toBe(1);
  requireClear(up, /ledger _migrations can't be written: .*Read-only file system/);
  const doctor = await project.migrate(["doctor"]);
  expect(doctor).toMatchObject(onStdout(1, "read-only"));
  const serve = await project.migrate(["serve", "--data", project.database, "--port", "0"], key);
  expect(serve.code).toBe(2);
  requireClear(serve, /can't be read and written: the file system is read-only/);
  await requireRows(project);
  rmSync(join(project.folder, "migrations", "0002_pending.ts"));
  expect(await project.migrate(["up"])).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
});

test("a first run on an empty read-only disk says what is wrong with it", async (context) => {
  const project = aProject();
  const disk = mountSmallDisk(context, project.database, 1);
  disk.readOnly();
  project.migration("0001_big.ts", `m.createTable("big", { id: m.int32().notNull() })`);
  expect(await project.migrate(["status"])).toMatchObject(onStdout(0, "1 pending"));
  expect(await project.migrate(["history"])).toMatchObject({ code: 0 });
  const up = await project.migrate(["up"]);
  expect(up.code).toBe(1);
  requireClear(up, /read-only file system/i);
});
