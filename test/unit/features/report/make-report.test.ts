/** Reports of databases on the real engine. */
import {
  addColumn,
  createIndex,
  createTable,
  dropColumn,
  int32,
  int64,
  ivfFlat,
  renameColumn,
  setNullable,
  utf8,
  vector,
} from "lance-migrate";
import { expect, test } from "vitest";
import { baseline } from "../../../../src/features/repair/baseline.ts";
import { down } from "../../../../src/commands/down.ts";
import { databaseState } from "../../../../src/features/report/report-all.ts";
import { makeReport } from "../../../../src/features/report/make-report.ts";
import { prune } from "../../../../src/commands/prune.ts";
import { up } from "../../../../src/commands/up.ts";
import { checksumOf } from "../../../../src/migrations/checksum.ts";
import type { Migration } from "../../../../src/migrations/load.ts";
import type { MigratorOptions } from "../../../../src/run/run-context.ts";
import { parseStep, type Step } from "../../../../src/steps/registry.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import { open as openRest } from "../../../../src/features/rest/rest.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { aService, apiKey } from "../../../support/service.ts";
import { addRows, lancedb } from "../../../support/tables.ts";
import { killed, leapingClock, watched } from "../../../support/watched.ts";
import { sourceOf } from "../../../simulate/start-run.ts";

type Steps = readonly object[];

const madeAt = "2026-11-26T07:00:00.000Z";
const steps: readonly Steps[] = [
  [createTable("documents", { id: int64().notNull(), title: utf8() })],
  [renameColumn("documents", "title", "headline")],
  [dropColumn("documents", "headline")],
];

function aMigration(version: number, steps: Steps): Migration {
  const parsed = steps.map((step) => {
    const read = parseStep(step) as { readonly step?: Step; readonly problem?: string };
    expect(read.problem).toBeUndefined();
    return read.step!;
  });
  const file = `000${version}_m${version}.ts`;
  const checksum = checksumOf(parsed);
  return { version, name: `m${version}`, file, path: file, textHash: checksum, steps: parsed, checksum };
}

/** A database in a folder, and runs on the first of these migrations. */
async function aDatabase(all: readonly Steps[] = steps) {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "production", folder });
  const optionsFor = (count: number, more: Partial<MigratorOptions> = {}): MigratorOptions => ({
    target,
    migrations: sourceOf(all.slice(0, count).map((own, index) => aMigration(index + 1, own))),
    ledger: "_migrations",
    lease: { duration: 30_000, patience: 0 },
    ...more,
  });
  return { folder, optionsFor, report: (count = all.length) => makeReport(optionsFor(count), { madeAt }) };
}

test("the report has what ran, what is pending, and what became of the columns", async () => {
  const { optionsFor, report } = await aDatabase();
  await up(optionsFor(2));
  const { migrations, runs, tables, ...rest } = await report();
  expect(migrations).toMatchObject([
    { version: 1, status: "applied", rollback: { class: "checked" }, group: 1 },
    { version: 2, status: "applied", actions: ["rename documents.title to headline"], group: 1 },
    {
      version: 3,
      status: "pending",
      actions: ["drop documents.headline"],
      rollback: { class: "restore", text: "restore documents as it was before" },
      risks: [{ kind: "loss", text: "documents.headline is dropped with its values", rows: 0 }],
      cost: { versions: 1 },
      refusals: [],
    },
  ]);
  expect(runs).toMatchObject([
    { run: migrations[0]!.run, outcome: "applied", events: [{ event: "applied" }, { event: "applied" }] },
  ]);
  expect(runs[0]!.milliseconds).toBe(Date.parse(runs[0]!.ended!) - Date.parse(runs[0]!.began));
  expect(tables).toMatchObject([
    { name: "documents", columns: [{ names: ["documents.id"] }, { names: ["documents.title", "documents.headline"] }] },
  ]);
  expect(rest).toMatchObject({
    format: 1,
    target: "production",
    madeAt,
    noReturn: undefined,
    drift: { checked: true, columns: true, differences: [] },
    preparing: [],
    kept: [],
    problems: [],
  });
});

test("a column has its type today and the one after the pending migrations", async () => {
  const { optionsFor, report } = await aDatabase([
    [createTable("documents", { id: int64(), title: utf8(), size: int32() })],
    [setNullable("documents", "id", false), dropColumn("documents", "size"), addColumn("documents", "n", int32())],
  ]);
  await up(optionsFor(1));
  const { tables } = await report();
  const at = (path: string, type: string) => ({ table: "documents", path, type });
  expect(tables[0]!.columns.map(({ now, today }) => ({ now, today }))).toEqual([
    { today: at("id", "int64"), now: at("id", "int64 not null") },
    { today: undefined, now: at("title", "utf8") },
    { today: at("size", "int32"), now: undefined },
    { today: undefined, now: at("n", "int32") },
  ]);
  await up(optionsFor(2, { guards: { refuses: [], accepts: ["lossy"] } as never }));
  expect((await report()).tables[0]!.columns.map(({ today }) => today)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test("the point of no return is the newest migration whose kept version was released", async () => {
  const { optionsFor, report } = await aDatabase([...steps, [addColumn("documents", "size", int32())]]);
  await up(optionsFor(4));
  expect(await report()).toMatchObject({
    noReturn: undefined,
    kept: [{ table: "documents", migration: "0003_m3" }],
  });
  await prune(optionsFor(4), { yes: true });
  expect(await report()).toMatchObject({
    noReturn: { version: 3, name: "m3", why: /^its rollback restores version \d of documents, which is not kept$/ },
    kept: [],
  });
});

test("a migration that was rolled back is pending again, and both runs are reported", async () => {
  const { optionsFor, report } = await aDatabase();
  await up(optionsFor(2));
  await down(optionsFor(2), {});
  const { migrations, runs } = await report(2);
  expect(migrations).toMatchObject([
    { version: 1, status: "applied" },
    { version: 2, status: "pending" },
  ]);
  expect(runs.map(({ outcome }) => outcome)).toEqual(["reverted", "applied"]);
});

test("a run that was killed is unfinished, and ends for the report when another run takes over", async () => {
  const { optionsFor } = await aDatabase();
  const clock = leapingClock();
  await up(optionsFor(1, { clock }));
  const options = optionsFor(2, { clock, lease: { duration: 30_000, patience: 60_000 } });
  await expect(up({ ...options, target: watched(options.target, killed(9, true)) })).rejects.toThrow("killed");
  const { runs } = await makeReport(options, { madeAt });
  expect(runs).toMatchObject([{ outcome: "unfinished", events: [] }, { outcome: "applied" }]);
  expect(runs[0]!.ended).toBeUndefined();
  await up(options);
  const { runs: later } = await makeReport(options, { madeAt });
  expect(later).toMatchObject([
    { outcome: "applied" },
    { outcome: "unfinished", ended: expect.any(String) },
    { outcome: "applied" },
  ]);
});

test("a migration that was marked as applied is no point of no return by itself, and one that lost values is", async () => {
  const { folder, optionsFor, report } = await aDatabase();
  const db = await lancedb.connect(folder);
  const { target } = optionsFor(0);
  const columns = [{ name: "id", type: { kind: "int64" }, nullable: false }] as const;
  await target.execute({ kind: "createTable", table: "documents", columns }, undefined);
  await baseline(optionsFor(3));
  expect(await db.tableNames()).toContain("documents");
  expect(await report()).toMatchObject({
    migrations: [{ status: "baselined" }, { status: "baselined" }, { status: "baselined", duration: undefined }],
    runs: [{ outcome: "baselined" }],
    noReturn: {
      version: 3,
      why: "documents.headline is dropped with its values, and the ledger does not know which version documents had before",
    },
  });
});

test("a change by another program is dated drift", async () => {
  const { folder, optionsFor, report } = await aDatabase(steps.slice(0, 1));
  await up(optionsFor(1));
  const table = await (await lancedb.connect(folder)).openTable("documents");
  await table.addColumns([{ name: "note", valueSql: "'x'" }]);
  const { drift, tables } = await report();
  expect(drift).toMatchObject({
    checked: true,
    differences: [
      {
        table: "documents",
        kind: "changed",
        differences: ["column note (utf8 not null) was not expected"],
        since: { version: 2, orEarlier: false },
      },
    ],
  });
  expect(tables[0]!.columns.map(({ names }) => names)).not.toContainEqual(["documents.note"]);
});

test("a migration without a file is a problem and a point of no return, and the rest is reported", async () => {
  const { optionsFor } = await aDatabase();
  await up(optionsFor(2));
  const options = optionsFor(3);
  const others = options.migrations.list().filter(({ version }) => version !== 2);
  const report = await makeReport(
    { ...options, migrations: { ...options.migrations, list: () => others } },
    { madeAt },
  );
  expect(report).toMatchObject({
    migrations: [{ status: "applied" }, { status: "missing", actions: [], risks: [] }, { status: "pending" }],
    noReturn: { version: 2, why: "its file is not in the migrations folder" },
    drift: { checked: false },
    tablesProblem: "0003_m3.ts, step 1 (dropColumn): documents has no column headline at this point; it has id, title",
  });
  expect(report.problems).toContain("0002_m2 has no file in the migrations folder, so its changes are unknown");
});

test("what `up` would refuse is a refusal of the migration", async () => {
  const { optionsFor } = await aDatabase();
  await up(optionsFor(2));
  const guards = { refuses: [], accepts: [] } as never;
  const { migrations } = await makeReport(optionsFor(3, { guards }), { madeAt });
  expect(migrations[2]!.refusals).toMatchObject([{ reason: "consent", consent: "lossy" }]);
});

test("pending migrations of a group have its number, and no cost of their own", async () => {
  const renames = [[renameColumn("documents", "title", "headline")], [renameColumn("documents", "headline", "head")]];
  const { optionsFor, report } = await aDatabase([steps[0]!, ...renames]);
  await up(optionsFor(1));
  const { migrations } = await report();
  expect(migrations.map(({ status, group, cost }) => ({ status, group, cost }))).toEqual([
    { status: "applied", group: undefined, cost: undefined },
    { status: "pending", group: 1, cost: undefined },
    { status: "pending", group: 1, cost: undefined },
  ]);
});

test("a migration that can't be planned is a problem, and is still pending", async () => {
  const { optionsFor, report } = await aDatabase([steps[0]!, [dropColumn("documents", "body")]]);
  await up(optionsFor(1));
  const { migrations, problems } = await report();
  expect(migrations[1]).toMatchObject({ status: "pending", actions: [], risks: [] });
  expect(problems).toEqual([expect.stringContaining("0002_m2.ts, step 1")]);
});

test("a migration that stopped midway is one migration, with what is left of it", async () => {
  const { optionsFor, report } = await aDatabase();
  const options = optionsFor(3);
  await up(optionsFor(2));
  await expect(up({ ...options, target: watched(options.target, killed(9, true)) })).rejects.toThrow("killed");
  const { migrations } = await report();
  expect(migrations.map(({ version, status }) => [version, status])).toEqual([
    [1, "applied"],
    [2, "applied"],
    [3, "partial"],
  ]);
});

test("an index that has enough vectors now has no risk that it is deferred", async () => {
  const vectors = createTable("documents", { id: int64().notNull(), embedding: vector(2) });
  const { folder, optionsFor, report } = await aDatabase([
    [vectors],
    [createIndex("documents", "embedding", ivfFlat({ numPartitions: 1 }))],
  ]);
  await up(optionsFor(1));
  const pending = async () => (await report()).migrations.find(({ status }) => status === "pending");
  expect((await pending())?.risks).toMatchObject([{ kind: "deferral", rows: 0 }]);
  await addRows(folder, "documents", [{ id: 1, embedding: [1, 2] }]);
  expect((await pending())?.risks).toEqual([]);
});

test("of many databases, each is shown with how far it is", async () => {
  const { optionsFor } = await aDatabase();
  await up(optionsFor(2));
  expect(await databaseState(optionsFor(3))).toEqual({
    applied: 2,
    last: { version: 2, name: "m2", by: expect.stringContaining("@"), at: expect.stringMatching(/Z$/) },
    pending: 1,
    unfinished: [],
    problems: [],
    holder: undefined,
  });
  const options = optionsFor(3);
  await expect(up({ ...options, target: watched(options.target, killed(9, true)) })).rejects.toThrow("killed");
  expect(await databaseState(options)).toMatchObject({
    pending: 1,
    problems: ["0003_m3 is under way"],
    holder: expect.stringContaining("@"),
  });
});

test.each(["namespace", "service"] as const)("a report of a service of the dialect %s", async (dialect) => {
  const { url, data } = await aService();
  const target = await openRest({ kind: "rest", endpoint: url, apiKey, dialect }, { name: "cloud", folder: data });
  const { optionsFor } = await aDatabase([...steps.slice(0, 2), [renameColumn("documents", "headline", "name")]]);
  await up(optionsFor(2, { target }));
  expect(await makeReport(optionsFor(3, { target }), { madeAt })).toMatchObject({
    target: "cloud",
    migrations: [{ status: "applied" }, { status: "applied" }, { status: "pending" }],
    runs: [{ outcome: "applied", events: [{ event: "applied" }, { event: "applied" }] }],
    tables: [{ name: "documents" }],
    drift: { checked: true, columns: dialect === "namespace", differences: [] },
    problems: [],
  });
});
