/** The tables that are queried: many kinds of columns and indexes, deleted and updated rows, several fragments, rows without an index. */
import { createRequire } from "node:module";
import { loadEngine } from "../../src/engine/engine.ts";
import { chanceFor, type Chance } from "../simulate/seeded-random.ts";

const require = createRequire(import.meta.url);
const lancedb = loadEngine();
// That of the engine, which takes no other.
const arrow = require("apache-arrow") as typeof import("apache-arrow");
const { Index } = lancedb;

type Connection = Awaited<ReturnType<typeof lancedb.connect>>;
type Row = Readonly<Record<string, unknown>>;

/** Some differ by a letter or two, so that queries for similar words find several. */
export const words: readonly string[] = (
  "brown brawn crown bread broad quick quack quirk quicker fox fix box lazy hazy dog dig jumps jumped over river " +
  "the and a straße Ärger 東京 library libraries house mouse momo"
).split(" ");

export const genres = ["novel", "poem", "essay", "it's", "", "DRAMA"];

export function textOf(chance: Chance, most: number): string {
  return Array.from({ length: chance.below(most + 1) }, () => chance.pick(words)).join(
    chance.pick([" ", " ", ", ", " - "]),
  );
}

/** With few different numbers in one of three, so that distances are equal now and then. */
export function vectorOf(chance: Chance, length: number): number[] {
  const isCoarse = chance.happens(1 / 3);
  return Array.from({ length }, () => (isCoarse ? chance.below(3) : Math.fround(chance.between(-1, 1))));
}

const vector = (length: number, type: InstanceType<typeof arrow.DataType>) =>
  new arrow.FixedSizeList(length, new arrow.Field("item", type, true));
const list = (type: InstanceType<typeof arrow.DataType>) => new arrow.List(new arrow.Field("item", type, true));
const text = new arrow.Utf8();

const fields = {
  id: new arrow.Int64(),
  n: new arrow.Int32(),
  small: new arrow.Int8(),
  large: new arrow.Uint64(),
  ratio: new arrow.Float64(),
  real: new arrow.Float32(),
  flag: new arrow.Bool(),
  genre: text,
  title: text,
  body: text,
  camelCase: text,
  "odd name": new arrow.Int32(),
  at: new arrow.TimestampMicrosecond(),
  day: new arrow.DateDay(),
  data: new arrow.Binary(),
  tags: list(text),
  words: list(text),
  marks: list(new arrow.Int32()),
  author: new arrow.Struct([
    new arrow.Field("name", text, true),
    new arrow.Field("born", new arrow.Int32(), true),
    new arrow.Field("place", new arrow.Struct([new arrow.Field("city", text, true)]), true),
  ]),
  vector: vector(8, new arrow.Float32()),
  near: vector(3, new arrow.Float32()),
  half: vector(4, new arrow.Float16()),
  double: vector(4, new arrow.Float64()),
  bits: vector(2, new arrow.Uint8()),
  several: list(vector(4, new arrow.Float32())),
};

const schema = new arrow.Schema(
  Object.entries(fields).map(([name, type]) => new arrow.Field(name, type, name !== "id")),
);

/** What is computed by SQL, as the package's own Arrow can't write it. */
const computed = [
  { name: "price", valueSql: "cast(ratio as decimal(12, 2))" },
  { name: "cents", valueSql: "arrow_cast(small, 'Decimal256(40, 3)')" },
  { name: "day64", valueSql: "arrow_cast(at, 'Date64')" },
  { name: "zoned", valueSql: "arrow_cast(at, 'Timestamp(Millisecond, Some(\"UTC\"))')" },
];

export const columnNames: readonly string[] = [...Object.keys(fields), ...computed.map(({ name }) => name)];

function rowOf(chance: Chance, id: number): Row {
  const orNull = <Value>(value: Value) => (chance.happens(0.12) ? null : value);
  return {
    id: BigInt(id),
    n: orNull(chance.below(50) - 10),
    small: orNull(chance.below(7) - 3),
    large: orNull(2n ** 60n + BigInt(chance.below(20))),
    ratio: orNull(chance.pick([chance.between(-100, 100), 0.5, -0, 1e6])),
    real: orNull(Math.fround(chance.between(0, 1))),
    flag: orNull(chance.happens(0.5)),
    genre: orNull(chance.pick(genres)),
    title: orNull(textOf(chance, 6)),
    body: orNull(textOf(chance, 14)),
    camelCase: orNull(chance.pick(words)),
    "odd name": orNull(chance.below(9)),
    at: orNull(new Date(Date.UTC(2020 + chance.below(5), chance.below(12), 1 + chance.below(28), chance.below(24)))),
    day: orNull(new Date(Date.UTC(2020 + chance.below(3), chance.below(12), 1 + chance.below(28)))),
    data: orNull(Buffer.from([chance.below(4), chance.below(4)])),
    tags: orNull(Array.from({ length: chance.below(4) }, () => chance.pick(["red", "green", "blue", "x"]))),
    words: orNull(Array.from({ length: chance.below(4) }, () => textOf(chance, 3))),
    marks: orNull(Array.from({ length: chance.below(4) }, () => chance.below(6))),
    author: {
      name: orNull(textOf(chance, 2)),
      born: orNull(1900 + chance.below(90)),
      place: { city: orNull(chance.pick(["Rome", "Oslo", "東京"])) },
    },
    vector: orNull(vectorOf(chance, 8)),
    near: orNull(vectorOf(chance, 3)),
    half: vectorOf(chance, 4),
    double: vectorOf(chance, 4),
    bits: [chance.below(256), chance.below(256)],
    several: orNull(Array.from({ length: 1 + chance.below(3) }, () => vectorOf(chance, 4))),
  };
}

const rowsFrom = (chance: Chance, first: number, count: number) =>
  lancedb.makeArrowTable(
    Array.from({ length: count }, (_, at) => rowOf(chance, first + at)) as Record<string, unknown>[],
    { schema },
  );

const fullText = (withPosition: boolean, stem = false) => Index.fts({ withPosition, stem, removeStopWords: stem });

/** By table: the indexes that it gets before its last rows are added. Each object of an index can be used once. */
const indexes = (): Readonly<Record<string, readonly (readonly [string, ReturnType<typeof Index.btree>])[]>> => ({
  plain: [],
  indexed: [
    ["id", Index.btree()],
    ["n", Index.btree()],
    ["genre", Index.bitmap()],
    ["tags", Index.labelList()],
    ["title", fullText(true)],
    ["body", fullText(false, true)],
    ["words", fullText(true)],
    ["author.name", fullText(true)],
    ["vector", Index.ivfPq({ numPartitions: 4, numSubVectors: 4, distanceType: "l2" })],
    ["near", Index.ivfFlat({ numPartitions: 3, distanceType: "cosine" })],
  ],
  graph: [
    ["n", Index.btree()],
    ["title", fullText(true, true)],
    ["vector", Index.hnswSq({ numPartitions: 2, distanceType: "l2" })],
    ["near", Index.ivfFlat({ numPartitions: 2, distanceType: "dot" })],
    ["bits", Index.ivfFlat({ numPartitions: 2, distanceType: "hamming" })],
  ],
});

const tables = Object.keys(indexes());
export const rowsOfTable = 440;

/** Makes the tables in a folder; gives the versions of each that can be checked out. */
export async function makeTables(folder: string, seed: number): Promise<Readonly<Record<string, readonly number[]>>> {
  const db = await lancedb.connect(folder);
  const versions: Record<string, readonly number[]> = {};
  for (const name of tables) versions[name] = await makeTable(db, name, chanceFor(`rows of ${name}`, seed));
  db.close();
  return versions;
}

async function makeTable(db: Connection, name: string, chance: Chance): Promise<readonly number[]> {
  const table = await db.createTable(name, rowsFrom(chance, 0, 280));
  await table.add(rowsFrom(chance, 280, 100));
  await table.addColumns(computed);
  await table.delete("id % 11 = 3");
  const early = await table.version();
  await (await table.tags()).create("early", early);
  for (const [column, config] of indexes()[name]!) await table.createIndex(column, { config });
  const indexed = await table.version();
  // The rows below are covered by no index; the first ones of the others are deleted after the indexes were built.
  await table
    .mergeInsert("id")
    .whenNotMatchedInsertAll()
    .execute(rowsFrom(chance, 380, 60));
  await table.update({ where: "id % 17 = 5", valuesSql: { n: "n + 1", title: "concat(coalesce(title, ''), ' fox')" } });
  await table.delete("id % 13 = 1");
  table.close();
  return [early, indexed];
}
