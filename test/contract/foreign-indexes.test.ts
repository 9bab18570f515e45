/** Indexes that other clients make, and that can't be recreated here: no action may lose one silently. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readIndexes } from "../../src/engine/read-indexes.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { down } from "../../src/run/down.ts";
import { plan, up } from "../../src/run/migrator.ts";
import { fixedSizeList, float16, int64, largeUtf8 } from "../../src/schema/builders.ts";
import { createTable, dropColumn, dropIndex, renameColumn, retypeColumn } from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { loadTarget } from "../../src/targets/index.ts";
import type { Target } from "../../src/targets/target.ts";
import { columns, putForeignIndexes } from "../support/foreign-indexes.ts";
import { temporaryFolder } from "../support/project.ts";
import { aService, apiKey } from "../support/service.ts";
import { lancedb } from "../support/tables.ts";

/** A database with the table, and a migration of these steps that is pending. */
async function aProject(steps: readonly Step[], scheme = "") {
  const folder = temporaryFolder();
  const migrations = join(folder, "migrations");
  mkdirSync(migrations);
  const write = (file: string, up: readonly Step[]) =>
    writeFileSync(
      join(migrations, file),
      `export const accepts = ["lossy", "irreversible"];\nexport const up = ${JSON.stringify(up)};\n`,
    );
  const module = (await loadTarget("lance"))!;
  const target = await module.open({ kind: "lance", uri: `${scheme}${folder}` }, { name: "test", folder });
  onTestFinished(() => target.close());
  const options = {
    target,
    migrations: migrationsIn(migrations),
    ledger: "_migrations",
    lease: { duration: 5_000, patience: 30_000 },
  };
  write("0001_before.mjs", [createTable("t", columns)]);
  await up(options);
  putForeignIndexes(folder);
  write("0002_step.mjs", steps);
  const indexes = async () => {
    const table = await (await lancedb.connect(folder)).openTable("t");
    const found = await readIndexes(table, folder);
    return Object.fromEntries(Object.entries(found).map(([name, { kind, path }]) => [name, `${kind} on ${path}`]));
  };
  return { folder, target, options, run: () => up(options), indexes };
}

const all = {
  n_idx: "ZoneMap on n",
  p_idx: "btree on p",
  by_bloom: "BloomFilter on b",
  g_idx: "NGram on g",
  s_idx: "fts on s",
  m_idx: "fts on m",
  v_idx: "IvfSq on v",
  w_idx: "hnswSq on w",
};
const short = fixedSizeList(float16(), 8);

test.each([
  ["n", "n_idx", "ZoneMap", retypeColumn("t", "n", int64())],
  ["n", "n_idx", "ZoneMap", retypeColumn("t", "n", int64(), { using: "n" })],
  ["b", "by_bloom", "BloomFilter", retypeColumn("t", "b", largeUtf8(), { using: "b" })],
  ["g", "g_idx", "NGram", retypeColumn("t", "g", largeUtf8(), { using: "g" })],
  ["v", "v_idx", "IvfSq", retypeColumn("t", "v", short, { using: "v" })],
])("a rewrite of %s is refused before the first write, as its index %s is of the kind %s", async (...given) => {
  const [path, name, kind, step] = given;
  const { run, options, indexes, target } = await aProject([step]);
  const before = (await target.look("t"))!.version;
  const words = `index ${name} of t can't be recreated when its column ${path} has been rewritten: lance-migrate can't create an index of the kind ${kind}; drop it in a step before, and recreate it afterwards with the client that made it`;
  await expect(plan(options)).rejects.toThrow(words);
  await expect(run()).rejects.toThrow(words);
  expect((await target.look("t"))!.version).toBe(before);
  expect(await indexes()).toEqual(all);
});

test("an index that can't be recreated stays where its column is renamed, and where others are rewritten", async () => {
  const { run, indexes } = await aProject([renameColumn("t", "n", "key"), retypeColumn("t", "p", int64())]);
  expect(await run()).toMatchObject({ applied: 1 });
  expect(await indexes()).toEqual({ ...all, n_idx: "ZoneMap on key" });
});

test("a column with such an index can be dropped, and one whose index was dropped can be rewritten", async () => {
  const { run, indexes } = await aProject([
    dropColumn("t", "b"),
    dropIndex("t", "n_idx"),
    dropIndex("t", "v_idx"),
    retypeColumn("t", "n", int64()),
    retypeColumn("t", "v", short, { using: "v" }),
  ]);
  expect(await run()).toMatchObject({ applied: 1 });
  const { by_bloom: _bloom, n_idx: _n, v_idx: _v, ...left } = all;
  expect(await indexes()).toEqual(left);
});

test("a rollback that would lose such an index is refused before the first write", async () => {
  const { options, run, target, folder, indexes } = await aProject([retypeColumn("t", "p", int64())]);
  await run();
  const table = await (await lancedb.connect(folder)).openTable("t");
  const stuck = "its kind is unknown";
  const look: Target["look"] = async (name, withIndexes) => {
    const sight = await target.look(name, withIndexes);
    const { p_idx: index, ...others } = sight?.table.indexes ?? {};
    if (sight === undefined || index == null) return sight;
    return { ...sight, table: { ...sight.table, indexes: { ...others, p_idx: { ...index, stuck } } } };
  };
  const version = await table.version();
  await expect(down({ ...options, target: { ...target, look } })).rejects.toThrow(
    "index p_idx of t can't be recreated when its column p has been rewritten: its kind is unknown",
  );
  await table.checkoutLatest();
  expect([await table.version(), await indexes()]).toEqual([version, all]);
});

test("a service tells of indexes that the engine's client does not list", async () => {
  const { url, data } = await aService();
  putForeignIndexes(data);
  const module = (await loadTarget("rest"))!;
  const given = { kind: "rest", endpoint: url, apiKey, dialect: "namespace" };
  const target = await module.open(module.options.parse(given), { name: "served", folder: data });
  onTestFinished(() => target.close());
  const found = Object.entries((await target.look("t", true))!.table.indexes!);
  expect(Object.fromEntries(found.map(([name, index]) => [name, `${index!.kind} on ${index!.path}`]))).toEqual(all);
});

test("in an object store an index that the client does not list is found by its usual name", async () => {
  const { run, indexes } = await aProject(
    [retypeColumn("t", "g", largeUtf8(), { using: "g" })],
    "file-object-store://",
  );
  await expect(run()).rejects.toThrow(
    "index g_idx of t can't be recreated when its column g has been rewritten: its kind is unknown",
  );
  expect(await indexes()).toEqual(all);
});
