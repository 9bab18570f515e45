/** Indexes that other clients make, and that can't be recreated here: no action may lose one silently. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createIndex } from "../../src/engine/indexes.ts";
import { readIndexes } from "../../src/engine/read-indexes.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import { plan } from "../../src/commands/plan.ts";
import { fixedSizeList, float16, int64, largeUtf8 } from "../../src/schema/declare/type-builders.ts";
import { createTable, dropColumn, dropIndex, renameColumn, retypeColumn } from "../../src/steps/index.ts";
import type { IndexKind } from "../../src/schema/table-index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { loadAnyTarget } from "../support/any-target.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { arrow, field } from "../support/foreign.ts";
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
  const module = await loadAnyTarget("lance");
  const target = await module.open({ kind: "lance", uri: `${scheme}${folder}` }, { name: "test", folder });
  onTestFinished(() => target.close());
  const options = {
    target,
    migrations: migrationsIn(migrations),
    ledger: "_migrations",
    lease: { duration: 30_000, patience: 30_000 },
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
])("a rewrite of %s is refused before the first write, as its index %s is of the kind %s: $3", async (...given) => {
  const [path, name, kind, step] = given;
  const { run, options, indexes, target } = await aProject([step]);
  const before = (await target.describeTable("t"))!.version;
  const words = `index ${name} of t can't be recreated when its column ${path} has been rewritten: lance-migrate can't create an index of the kind ${kind}; drop it in a step before, and recreate it afterwards with the client that made it`;
  await expect(plan(options)).rejects.toThrow(words);
  await expect(run()).rejects.toThrow(words);
  expect((await target.describeTable("t"))!.version).toBe(before);
  expect(await indexes()).toEqual(all);
});

test.each([
  ["s", "s_idx", "split_identifiers to true", retypeColumn("t", "s", largeUtf8())],
  ["s", "s_idx", "split_identifiers to true", retypeColumn("t", "s", largeUtf8(), { using: "s" })],
  ["m", "m_idx", "max_token_length to null", retypeColumn("t", "m", largeUtf8())],
  ["w", "w_idx", "max_level to 3", retypeColumn("t", "w", short)],
])(
  "a rewrite of %s is refused before the first write, as nothing here sets of its index %s %s: $3",
  async (...given) => {
    const [path, name, what, step] = given;
    const { run, options, indexes, target } = await aProject([step]);
    const before = (await target.describeTable("t"))!.version;
    const words = `index ${name} of t can't be recreated when its column ${path} has been rewritten: lance-migrate can't set ${what}; drop it in a step before`;
    await expect(plan(options)).rejects.toThrow(words);
    await expect(run()).rejects.toThrow(words);
    expect((await target.describeTable("t"))!.version).toBe(before);
    expect(await indexes()).toEqual(all);
  },
);

const vectors = { path: "v", distanceType: "cosine", numPartitions: 2, maxIterations: 7, sampleRate: 64 };
const own: readonly (readonly [IndexKind, object])[] = [
  ["btree", { path: "n" }],
  ["bitmap", { path: "n" }],
  ["labelList", { path: "l" }],
  ["fm", { path: "s" }],
  ...["simple", "whitespace", "raw", "ngram", "icu", "code"].map(
    (baseTokenizer) => ["fts", { path: "s", baseTokenizer }] as const,
  ),
  ["fts", { path: "s", withPosition: true, language: "German", maxTokenLength: 9, lowercase: false, stem: false }],
  [
    "fts",
    { path: "s", removeStopWords: true, customStopWords: ["a"], asciiFolding: false, prefixOnly: true, blockSize: 256 },
  ],
  ["fts", { path: "s", baseTokenizer: "ngram", ngramMinLength: 2, ngramMaxLength: 4 }],
  ...(["ivfFlat", "ivfPq", "ivfRq", "hnswPq", "hnswSq"] as const).flatMap((kind) => [
    [kind, { path: "v" }] as const,
    [kind, vectors] as const,
  ]),
  ["ivfPq", { path: "v", numSubVectors: 2, numBits: 4 }],
  ["hnswPq", { path: "v", numSubVectors: 2, m: 9, efConstruction: 80 }],
];

test.each(own)(
  "an index that the engine's client makes is recreated as it was: %s %o",
  async (kind, { path, ...options }: { path?: string }) => {
    const folder = temporaryFolder();
    const db = await lancedb.connect(folder);
    const vector = (n: number) => Array.from({ length: 8 }, (_, at) => Math.sin(n * 8 + at));
    const data = Array.from({ length: 300 }, (_, n) => ({ n, s: `word ${n}`, l: [`l${n % 3}`], v: vector(n) }));
    const type = new arrow.FixedSizeList(8, field("item", new arrow.Float32()));
    const list = new arrow.List(field("item", new arrow.Utf8()));
    const fields = [field("n", new arrow.Int32()), field("s", new arrow.Utf8()), field("l", list), field("v", type)];
    const table = await db.createTable("t", data, { schema: new arrow.Schema(fields) });
    const details = async () => (await table.listIndices())[0]!.indexDetails as unknown;
    await createIndex(table, { column: path!, kind, name: "i", options });
    const [made, { i: found }] = [await details(), await readIndexes(table, folder)];
    expect(found).not.toHaveProperty("stuck");
    await createIndex(table, { column: path!, kind, name: "i", options: found!.options });
    expect(await details()).toEqual(made);
  },
);

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
  const look: Target["describeTable"] = async (name, withIndexes) => {
    const sight = await target.describeTable(name, withIndexes);
    const { p_idx: index, ...others } = sight?.table.indexes ?? {};
    if (sight === undefined || index == null) return sight;
    return { ...sight, table: { ...sight.table, indexes: { ...others, p_idx: { ...index, stuck } } } };
  };
  const version = await table.version();
  await expect(down({ ...options, target: { ...target, describeTable: look } })).rejects.toThrow(
    "index p_idx of t can't be recreated when its column p has been rewritten: its kind is unknown",
  );
  await table.checkoutLatest();
  expect([await table.version(), await indexes()]).toEqual([version, all]);
});

test("a service tells of indexes that the engine's client does not list", async () => {
  const { url, data } = await aService();
  putForeignIndexes(data);
  const module = await loadAnyTarget("rest");
  const given = { kind: "rest", endpoint: url, apiKey, dialect: "namespace" };
  const target = await module.open(given, { name: "served", folder: data });
  onTestFinished(() => target.close());
  const found = Object.entries((await target.describeTable("t", true))!.table.indexes!);
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
