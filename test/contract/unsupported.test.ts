/** What a target can't do is refused in the plan, and by lint before there is one. */
import { expect, test } from "vitest";
import { embed } from "../../src/features/embed/feature.ts";
import { checkMigrations } from "../../src/features/shared/check-migrations/check-migrations.ts";
import { up } from "../../src/commands/up.ts";
import { plan } from "../../src/commands/plan.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { int32, int64, utf8 } from "../../src/schema/declare/type-builders.ts";
import { btree } from "../../src/schema/declare/index-builders.ts";
import * as m from "../../src/steps/index.ts";
import { stepNames, type Step, type StepName } from "../../src/steps/registry.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import { open as openRest } from "../../src/features/rest/rest.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { aMigration } from "../simulate/history.ts";
import { aProject, temporaryFolder } from "../support/project.ts";
import { aService, apiKey } from "../support/service.ts";
import { sourceOf } from "../simulate/start-run.ts";

const create = m.createTable("t", { id: int32(), name: utf8(), note: utf8() });

const steps: Readonly<Record<Exclude<StepName, "createTable">, readonly Step[]>> = {
  addColumn: [m.addColumn("t", "n", int32())],
  addComputedColumn: [m.addComputedColumn("t", "next", int32(), "id + 1")],
  alterColumns: [m.alterColumns("t", [{ path: "id", rename: "key", type: int64() }])],
  backfillColumn: [m.backfillColumn("t", "name", { from: ["note"], key: "id", with: "./names.ts", version: "1" })],
  createIndex: [m.createIndex("t", "id", btree())],
  dropColumn: [m.dropColumn("t", "id")],
  dropIndex: [m.dropIndex("t", "id_idx")],
  dropTable: [m.dropTable("t")],
  execute: [m.execute("t", { update: { id: "1" } }), m.execute("t", { delete: "id = 1" })],
  insertRows: [m.insertRows("t", [{ id: 1 }], { key: "id" })],
  optimizeTable: [m.optimizeTable("t")],
  populateTable: [
    m.populateTable("t", {
      from: "u",
      columns: ["name"],
      key: "id",
      source: "id",
      mark: "note",
      with: "./rows.ts",
      version: "1",
    }),
  ],
  rebuildIndex: [],
  reembedColumn: [
    m.reembedColumn("t", "name", { type: utf8(), from: ["note"], key: "id", with: "./names.ts", version: "1" }),
  ],
  // Of a computed column, which it needs before.
  refreshColumn: [],
  renameColumn: [m.renameColumn("t", "id", "key")],
  renameTable: [m.renameTable("t", "u")],
  retypeColumn: [m.retypeColumn("t", "id", int64(), { using: "id + 1" })],
  setMetadata: [m.setMetadata("t", "id", { unit: "EUR" })],
  setNullable: [m.setNullable("t", "id", false)],
};
/** The three endpoints of the service's document. */
const inDocument = new Set(["alterColumns", "renameColumn", "setNullable"]);
const beyond = Object.entries(steps).flatMap(([kind, some]) =>
  inDocument.has(kind) ? [] : some.map((step) => [kind, JSON.stringify(step), step] as const),
);

function options(target: Target, ...all: readonly Step[]): MigratorOptions {
  const migrations = all.map((step, index) => aMigration(index + 1, [step]));
  return {
    target,
    ledger: "_migrations",
    migrations: sourceOf(migrations),
    computing: embed.computing,
    lease: { duration: 30_000, patience: 0 },
  };
}

async function serviceTarget(): Promise<Target> {
  const { url } = await aService();
  return await openRest({ kind: "rest", endpoint: url, apiKey, dialect: "service" }, { name: "prod", folder: "/" });
}

test("there is a step of every kind here", () => {
  expect([...Object.keys(steps), "createTable"].toSorted()).toEqual(stepNames.toSorted());
});

test.each(beyond)(
  "the dialect service has no %s: the plan refuses %s, and nothing has happened",
  async (kind, _, step) => {
    const target = await serviceTarget();
    const given = options(target, create, step);
    const refusal = expect.objectContaining({
      code: "ERR_UNSUPPORTED",
      message: expect.stringMatching(
        new RegExp(`^0002_\\w+\\.ts, step 1 \\(${kind}\\): target prod can't do this: .* has no request for`),
      ),
    });
    await expect(plan(given)).rejects.toEqual(refusal);
    await expect(up(given)).rejects.toEqual(refusal);
    expect(await target.listTables()).toEqual([]);
    expect((await checkMigrations(given)).problems).toEqual([refusal]);
  },
);

test("a plan names what a service lacks as migrations do", async () => {
  const { actions } = (await serviceTarget()).capabilities;
  const lacking = Object.values(actions).flatMap(
    (reason) => /^the dialect service has no request for (.+)$/.exec(String(reason))?.[1] ?? [],
  );
  expect(lacking).toContain("dropColumn");
  expect(lacking.filter((name) => !([...stepNames, "old versions"] as readonly string[]).includes(name))).toEqual([]);
});

test.each(Object.entries(steps).filter(([kind]) => inDocument.has(kind)))(
  "the dialect service can do %s",
  async (_, [step]) => {
    expect((await plan(options(await serviceTarget(), create, step!))).migrations).toHaveLength(2);
  },
);

test("the embedded engine can do everything but rename a table", async () => {
  const folder = temporaryFolder();
  const target = await openLance({ kind: "lance", uri: folder }, { name: "local", folder });
  const { renameTable, ...others } = steps;
  const other = m.createTable("u", { id: int32(), name: utf8() });
  for (const step of Object.values(others).flat()) await plan(options(target, create, other, step));
  await expect(plan(options(target, create, renameTable[0]!))).rejects.toMatchObject({
    code: "ERR_UNSUPPORTED",
    message: expect.stringContaining("target local can't do this: the open-source engine can't rename a table"),
  });
});

test("migrate lint says so before there is a service", async () => {
  const project = aProject();
  const targets = `{ prod: { kind: "rest", endpoint: "http://127.0.0.1:9", apiKey: "none", dialect: "service" } }`;
  project.write("migrate.config.ts", `export default { targets: ${targets} };\n`);
  project.migration("0001_create.ts", `m.createTable("t", { id: m.int32() })`);
  project.migration("0002_drop.ts", `m.dropTable("t")`);
  const { code, stdout } = await project.migrate(["lint", "--target", "prod"]);
  expect(stdout).toContain(
    "0002_drop.ts:4:1 error ERR_UNSUPPORTED: step 1 (dropTable): target prod can't do this: the dialect service has no request for dropTable",
  );
  expect(code).toBe(4);
});
