/** The open-source REST server of the Lance project, which is not ours: the running example, and what it can't do. */
import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { migrationsIn } from "../../src/migrations/source.ts";
import { up } from "../../src/commands/up.ts";
import { plan } from "../../src/commands/plan.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { doctor } from "../../src/features/repair/doctor.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import { open as openRest } from "../../src/features/rest/rest.ts";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { freePort } from "../support/ports.ts";
import { root, temporaryFolder } from "../support/project.ts";
import { columnsOf, lancedb } from "../support/tables.ts";
import { int64, setNullable, retypeColumn, createTable, vector, float16, int32, utf8 } from "../../src/index.ts";

let python: string;

beforeAll(() => {
  python = pythonWith(...officialPackages);
});

/** The server on a folder of its own. */
async function anAdapter(): Promise<{ readonly url: string; readonly data: string }> {
  const data = temporaryFolder();
  const port = await freePort();
  const child: ChildProcess = spawn(python, [join(root, "test/pylance/serve.py"), String(port), data]);
  onTestFinished(() => void child.kill());
  await new Promise<void>((ready, fail) => {
    child.stdout!.once("data", () => ready());
    child.once("exit", (code) => fail(new Error(`the server ended with ${code}`)));
  });
  return { url: `http://127.0.0.1:${port}`, data };
}

async function aTarget(endpoint: string): Promise<Target> {
  const given = { kind: "rest", endpoint, apiKey: "none is asked for", dialect: "namespace", types: "string" } as const;
  return await openRest(given, { name: "adapter", folder: temporaryFolder() });
}

const options = (target: Target, folder: string): MigratorOptions => ({
  target,
  migrations: migrationsIn(folder),
  ledger: "_migrations",
  lease: { duration: 30_000, patience: 60_000 },
});

test("the running example leaves the same tables as on the engine", async () => {
  const { url, data } = await anAdapter();
  const target = await aTarget(url);
  const local = temporaryFolder();
  const engine = await openLance({ kind: "lance", uri: "data" }, { name: "local", folder: local });
  const example = join(root, "migrations");
  expect(await up(options(engine, example))).toEqual({ applied: 7, total: 7 });
  expect(await up(options(target, example))).toEqual({ applied: 7, total: 7 });
  for (const table of ["documents", "authors"])
    expect(await columnsOf(data, table)).toEqual(await columnsOf(join(local, "data"), table));
  expect(await up(options(target, example))).toEqual({ applied: 0, total: 7 });
  const db = await lancedb.connect(data);
  expect((await db.tableNames()).toSorted()).toEqual(["_migrations", "authors", "documents"]);
});

test("eight that start at once apply each migration once", async () => {
  const { url, data } = await anAdapter();
  const targets = await Promise.all(Array.from({ length: 8 }, () => aTarget(url)));
  const results = await Promise.all(targets.map((target) => up(options(target, join(root, "migrations")))));
  expect(results.reduce((sum, { applied }) => sum + applied, 0)).toBe(7);
  expect(await columnsOf(data, "authors")).toContain("id: int64 not null");
});

test("doctor finds it fit", async () => {
  const { url } = await anAdapter();
  const { fit, findings, leftBehind } = await doctor(await aTarget(url), "_migrations");
  expect({ fit, leftBehind, missing: findings.filter(({ found }) => !found).map(({ what }) => what) }).toEqual({
    fit: true,
    leftBehind: [],
    // It answers every refusal of a change with 500.
    missing: ["refuses to rename a column that is not there", "refuses a cast that the engine can't do"],
  });
});

test("what has no name as a plain string is refused in the plan", async () => {
  const { url } = await anAdapter();
  const target = await aTarget(url);
  const folder = temporaryFolder();
  const steps = [
    createTable("t", { id: int32(), v: vector(4), s: utf8() }),
    retypeColumn("t", "id", int64()),
    setNullable("t", "s", false),
  ];
  writeFileSync(join(folder, "0001_one.mjs"), `export const up = ${JSON.stringify(steps)};`);
  expect(await up(options(target, folder))).toMatchObject({ applied: 1 });
  writeFileSync(
    join(folder, "0002_two.mjs"),
    `export const up = ${JSON.stringify([retypeColumn("t", "v", vector(4, float16()))])};`,
  );
  await expect(plan(options(target, folder))).rejects.toMatchObject({ code: "ERR_UNSUPPORTED" });
});
