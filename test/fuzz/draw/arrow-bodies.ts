/** Arrow IPC streams: those that a client sends, and those that nobody should. */
import { createRequire } from "node:module";
import type { Chance } from "../../simulate/seeded-random.ts";

type Arrow = typeof import("apache-arrow");
export const arrow = createRequire(import.meta.url)("apache-arrow") as Arrow;

const { Field, FixedSizeList, Float32, Float64, Int32, List, Struct, Utf8 } = arrow;

type Row = Readonly<Record<string, unknown>>;

const fields = {
  id: new Field("id", new Int32(), true),
  title: new Field("title", new Utf8(), true),
  price: new Field("price", new Float64(), true),
  vector: new Field("vector", new FixedSizeList(8, new Field("item", new Float32(), true)), true),
  source: new Field("source", new Struct([new Field("lang", new Utf8(), true)]), true),
  tags: new Field("tags", new List(new Field("item", new Utf8(), true)), true),
};

type ColumnName = keyof typeof fields;

/** The columns of each table. */
export const shapes: Readonly<Record<string, readonly ColumnName[]>> = {
  books: ["id", "title", "price", "vector"],
  nested: ["id", "source", "tags"],
  indexed: ["id", "title", "vector"],
  tagged: ["id", "title"],
};

function rowOf(id: number): Row {
  return {
    id,
    title: id % 7 === 0 ? null : `title ${id % 10}`,
    price: id / 3,
    vector: Float32Array.from({ length: 8 }, (_, place) => (id + place) % 5),
    source: { lang: id % 2 === 0 ? "en" : "de" },
    tags: ["x", `t${id % 3}`],
  };
}

/** A stream with rows of these columns. */
export function streamOf(columns: readonly ColumnName[], first: number, count: number): Buffer {
  const given = columns.map((name) => fields[name]);
  const rows = Array.from({ length: count }, (_, place) => rowOf(first + place));
  const vectors = given.map((field) =>
    arrow.vectorFromArray(rows.map((row) => row[field.name]) as never[], field.type),
  );
  const data = arrow.makeData({
    type: new Struct(given as never[]),
    length: count,
    nullCount: 0,
    children: vectors.map((vector) => vector.data[0]!) as never[],
  });
  const schema = new arrow.Schema(given);
  const table = new arrow.Table(schema, new arrow.RecordBatch(schema, data as never));
  return Buffer.from(arrow.tableToIPC(table, "stream"));
}

/** One that a client could send for the table. */
export function validStream(chance: Chance, table: string): Buffer {
  const columns = Object.hasOwn(shapes, table) ? shapes[table]! : chance.pick(Object.values(shapes));
  return streamOf(columns, chance.below(1_000), chance.pick([0, 1, 3, 20, 300]));
}

const hostileNumbers = [0, 1, -1, 0x7f, 0xff, 0x7fff_ffff, -0x8000_0000, 0x1000_0000, 0xffff];

type Mutation = (bytes: Buffer, chance: Chance) => Buffer;

/** The first bytes are the schema message; mutations there change lengths, offsets and counts. */
const mutations: readonly Mutation[] = [
  (bytes, chance) => flipped(bytes, chance, 1 + chance.below(4)),
  (bytes, chance) => flipped(bytes, chance, 50),
  (bytes, chance) => bytes.subarray(0, chance.below(bytes.length)),
  (bytes, chance) => Buffer.concat([bytes, bytes.subarray(0, chance.below(bytes.length))]),
  (bytes) => Buffer.concat([bytes, Buffer.alloc(64)]),
  (bytes, chance) => overwritten(bytes, chance, bytes.length),
  (bytes, chance) => overwritten(bytes, chance, Math.min(bytes.length, 256)),
  (bytes, chance) => {
    const [at, length] = [chance.below(bytes.length), chance.below(64)];
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
  },
  (bytes, chance) => {
    const at = chance.below(bytes.length);
    return Buffer.concat([
      bytes.subarray(0, at),
      Buffer.alloc(chance.below(64), chance.below(256)),
      bytes.subarray(at),
    ]);
  },
  (bytes) => Buffer.concat([Buffer.from("ARROW1\0\0"), bytes]),
  (_, chance) => Buffer.from(Array.from({ length: chance.below(300) }, () => chance.below(256))),
  () => Buffer.alloc(0),
  (_, chance) => withMetadata(chance),
  (_, chance) => manyColumns(chance),
  (_, chance) => deepColumns(chance),
  (_, chance) => strangeNames(chance),
];

export function mutatedStream(chance: Chance, bytes: Buffer): Buffer {
  return chance.pick(mutations)(bytes, chance);
}

function flipped(bytes: Buffer, chance: Chance, times: number): Buffer {
  const copy = Buffer.from(bytes);
  for (let time = 0; time < times; time++) {
    const at = chance.below(copy.length);
    copy[at] = copy[at]! ^ (1 << chance.below(8));
  }
  return copy;
}

/** With one number of the first `within` bytes replaced by one that no reader expects. */
function overwritten(bytes: Buffer, chance: Chance, within: number): Buffer {
  const copy = Buffer.from(bytes);
  const at = 4 * chance.below(Math.floor(within / 4));
  if (at + 4 <= copy.length) copy.writeInt32LE(chance.pick(hostileNumbers), at);
  return copy;
}

function emptyStream(given: readonly InstanceType<typeof Field>[], metadata?: Map<string, string>): Buffer {
  return Buffer.from(arrow.tableToIPC(new arrow.Table(new arrow.Schema([...given], metadata)), "stream"));
}

function withMetadata(chance: Chance): Buffer {
  const entries = Array.from({ length: chance.pick([1, 10_000]) }, (_, place) => [`key ${place}`, "v"] as const);
  const large = ["x".repeat(chance.pick([1, 1_000_000])), "y".repeat(chance.pick([0, 1_000_000]))] as const;
  return emptyStream([fields.id], new Map([...entries, large]));
}

function manyColumns(chance: Chance): Buffer {
  const count = chance.pick([200, 3_000]);
  return emptyStream(Array.from({ length: count }, (_, place) => new Field(`c${place}`, new Int32(), true)));
}

function deepColumns(chance: Chance): Buffer {
  let field: InstanceType<typeof Field> = new Field("leaf", new Int32(), true);
  for (let depth = chance.pick([5, 60, 400]); depth > 0; depth--)
    field = new Field("s", chance.happens(0.5) ? new Struct([field]) : (new List(field) as never), true);
  return emptyStream([field]);
}

function strangeNames(chance: Chance): Buffer {
  const name = chance.pick([
    "",
    " ",
    "a.b",
    "`",
    '"',
    "\0",
    "a\nb",
    "__proto__",
    "_rowid",
    "id",
    "ID",
    "x".repeat(100_000),
  ]);
  return emptyStream([fields.id, new Field(name, new Utf8(), true)]);
}
