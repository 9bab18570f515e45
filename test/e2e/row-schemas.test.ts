/** The schemas of `migrate types` with the setting `standardSchema`, against what @lancedb/lancedb stores. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as m from "lance-migrate";
import type { DataType } from "../../src/schema/data-type.ts";
import { typeSource } from "../../src/schema/text/typescript-source.ts";
import { layOut } from "../../src/features/shared/print-source.ts";
import { aProject, root, type Project } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import type { Table as LanceTable } from "@lancedb/lancedb";

const moments = [
  0, -1, 1e-320, 1000, 86_400_000, 1_700_000_000_000, 1.5, 1_700_000_000_000.123, 0.0005, 9_223_372_036_855,
];
const dates = [new Date(0), new Date(1500), new Date("2024-02-29"), new Date(8.64e15), new Date("x")];
const numbers = [
  0,
  -0,
  1,
  -1,
  1.5,
  127,
  128,
  300,
  65_504,
  65_536,
  2 ** 31,
  2 ** 53,
  1e6,
  1e-8,
  2 ** -24,
  0.1,
  1e38,
  1e40,
  NaN,
  Infinity,
];
const bigs = [1n, -1n, 300n, 86_400_000_000n, 2n ** 62n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 64n];
const texts = ["", "a", "1", "true", "é\u0000", "\ud800"];
const bytes = [
  new Uint8Array(0),
  new Uint8Array([1, 2]),
  Buffer.from("abcd"),
  new Uint8Array(5),
  new Uint16Array([300]),
];
const decimals = [[150, 0, 0, 0], [2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1, 2 ** 32 - 1], [0, 0, 0, 1], [150]].map(
  (words) => new Uint32Array(words),
);
const lists = [
  [],
  [1, 2],
  [1, 2, 3],
  [1, 2, 3, 4],
  [1, null, 3],
  [1, NaN, 3],
  [1, 2, 1e40],
  ["1", 2, 3],
  [true, false, null, true],
  [1n, 2n],
  ["a", null, "b"],
  [0.1, 1e-8, 0],
  [300, 1],
  [
    [1, 2],
    [3, 4],
  ],
  [[1, 2]],
  [new Date(1500), 0.001],
  [new Uint32Array([1, 0, 0, 0])],
  new Float32Array([1, 2, 3]),
  new Float64Array([1, 2, 3]),
  new Int8Array([1, -2]),
  new BigInt64Array([1n]),
  new Set(["a"]),
  [{ text: "a", at: [1] }, { text: null }],
];
const objects = [
  {},
  { url: "a", size: 1n },
  { url: "a" },
  { url: "a", size: 1, more: { x: ["b"] } },
  { url: 1 },
  { url: "a", other: 1 },
  { flag: true },
  { flag: null },
  new Map([["url", "a"]]),
];
/** Each is tried with each type. */
const values: readonly unknown[] = [
  ...moments,
  ...dates,
  ...numbers,
  ...bigs,
  ...texts,
  ...bytes,
  ...decimals,
  ...lists,
  ...objects,
  true,
  false,
];

const int32 = 2 ** 31 - 1;
const time = 1_700_000_000_000;

/** Types, and values that their schemas have to take. */
const types: readonly (readonly [type: m.ColumnType, ...takes: readonly unknown[]])[] = [
  [m.int8(), -128, 127],
  [m.int16(), -(2 ** 15), 2 ** 15 - 1],
  [m.int32(), -int32 - 1, int32],
  [m.uint8(), 0, 255],
  [m.uint16(), 0, 65_535],
  [m.uint32(), 0, 2 ** 32 - 1],
  [m.int64(), 1, -1n, -(2n ** 63n), 2n ** 63n - 1n],
  [m.uint64(), 1, 0n, 2n ** 64n - 1n],
  [m.float16(), 0.1, -0, 65_519, 2 ** -24, 1e-8, -Infinity, NaN, 0.12498, 7.999, 0.000061027, -1.99976, 2049, 2051],
  [m.float32(), 0.1, -0, 2 ** -149, 3.4028234663852886e38, -Infinity, NaN],
  [m.float64(), 0.1, 5e-324, 1e308, NaN],
  [m.date32(), 86_400_000, new Date("2024-02-29"), -86_400_000],
  [m.date64(), 1, new Date(1500)],
  [m.time32("s"), 0, 86_399],
  [m.time32("ms"), 86_399_999],
  [m.time64("us"), 1, 86_399_999_999n],
  [m.time64("ns"), 1n, 86_399_999_999_999n],
  [m.timestamp("s"), 1000, -1000, new Date(5000)],
  [m.timestamp("ms"), 1, -1, new Date(1500), time],
  [m.timestamp("us"), 0.001, time + 0.123, new Date(1500), -62_135_596_800_000],
  [m.timestamp("us", "UTC"), time, new Date(0)],
  [m.timestamp("ns"), time, 0.000001, new Date(1500)],
  [m.duration("s"), 1, -1n],
  [m.duration("ns"), 2n ** 63n - 1n],
  [m.bool(), true, false],
  [m.utf8(), "", "é\u0000", "😀"],
  [m.largeUtf8(), "a"],
  [m.binary(), new Uint8Array(0), Buffer.from("ab")],
  [m.largeBinary(), new Uint8Array([1])],
  [m.fixedSizeBinary(4), Buffer.from("abcd")],
  [m.json(), "1", '{"a":[1,null]}', '"é"'],
  [m.list(m.json()), ["1", "{}", null]],
  [m.struct({ url: m.json() }), { url: '{"a":1}' }, {}],
  [m.decimal128(10, 2), new Uint32Array([150, 0, 0, 0]), new Uint32Array(4).fill(2 ** 32 - 1)],
  [m.dictionary(m.int32(), m.utf8()), "a", ""],
  [m.dictionary(m.int8(), m.int64()), 1, 2n],
  [m.vector(3), [1, 2, 3], new Float32Array([1, 2, 3])],
  [m.vector(3, m.float16()), [0.1, -2, 3], [31.9965, 0.0312462, 511.95]],
  [m.vector(3, m.float64()), [0.1, -2, 3]],
  [m.fixedSizeList(m.int8(), 2), [1, -2], new Int8Array([1, 2]), [1, null]],
  [m.fixedSizeList(m.bool(), 4), [true, false, null, true]],
  [m.fixedSizeList(m.vector(2), 2), [[1, 2], new Float32Array([3, 4])]],
  [m.list(m.int64()), [], [1, 2n, null], new BigInt64Array([1n])],
  [m.list(m.float32().notNull()), [], [1, 2.5]],
  [m.list(m.utf8()), ["a", null, ""]],
  [m.list(m.timestamp("us")), [new Date(1500), 0.001]],
  [m.list(m.decimal128(10, 2)), [new Uint32Array([1, 0, 0, 0])]],
  [m.list(m.dictionary(m.int32(), m.utf8())), ["a", "b", "a"]],
  [m.list(m.list(m.int8())), [[1], [], null]],
  [m.list(m.struct({ text: m.utf8(), at: m.list(m.int32()) })), [{ text: "a", at: [1] }, { text: null }, {}, null]],
  [
    m.list(m.struct({ k: m.int32(), f: m.bool(), at: m.struct({ f: m.bool() }) })),
    [
      { k: 1, f: true, at: { f: true } },
      { k: 2, f: null },
      { k: 3, at: {} },
    ],
  ],
  [
    m.struct({ url: m.utf8(), size: m.int64(), more: m.struct({ x: m.list(m.utf8()) }) }),
    { url: "a", size: 1 },
    {},
    { more: {} },
  ],
  [m.struct({ flag: m.bool(), url: m.utf8() }), { flag: true }, { flag: false, url: null }],
];

type Result = StandardSchemaV1.Result<Record<string, unknown>>;
type Schemas = Readonly<Record<string, { readonly "~standard": { validate(value: unknown): Result } }>>;

const call = (type: m.ColumnType) => layOut(typeSource(type.type), { indent: 0, used: 0, tail: 0, prefix: "m." });

/** A migrated database, and the schemas of new rows that belong to it. */
async function anApplication(migration: string): Promise<{ readonly project: Project; readonly schemas: Schemas }> {
  const project = aProject();
  project.write("migrate.config.ts", "export default { standardSchema: true };\n");
  project.migration("0001_start.ts", migration);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["types", "--out", "src/db.ts"])).toMatchObject({ code: 0 });
  const schemas = (await import(pathToFileURL(join(project.folder, "src/db.ts")).href)) as Schemas;
  return { project, schemas };
}

test("whatever a schema takes is stored unchanged", async () => {
  const tables = types.map(([type], at) => `m.createTable("t${at}", { id: m.int32().notNull(), x: ${call(type)} }),`);
  const { project, schemas } = await anApplication(tables.join("\n"));
  const db = await lancedb.connect(project.database);
  const wrong: string[] = [];
  let stored = 0;
  for (const [at, [type, ...takes]] of types.entries()) {
    const tried = [...takes, ...values];
    const rows = tried.flatMap((x, id) => {
      const result = schemas[`t${at}Input`]!["~standard"].validate({ id, x });
      if (!result.issues) return [result.value];
      if (id < takes.length) wrong.push(`${call(type)}: ${inspect(x)} is not taken: ${result.issues[0]!.message}`);
      return [];
    });
    const table = await db.openTable(`t${at}`);
    // The client refuses a batch in which all values of a bool are null. Nothing is lost.
    const isOfNulls = (cause: Error) => cause.message.includes("Need at least 1 bytes for bitmap");
    // One by one: next to others, some would be stored as they are by chance.
    for (const row of rows)
      await table
        .add([row])
        .catch(
          (cause: Error) =>
            isOfNulls(cause) || wrong.push(`${call(type)}: ${inspect(row)}: ${cause.message.slice(0, 200)}`),
        );
    const read = (await table.query().toArray()) as readonly { readonly id: number; readonly x: unknown }[];
    for (const { id, x } of read) {
      stored++;
      const [is, was] = [plain(x, type.type), plain(tried[id], type.type)].map((one) => inspect(one, { depth: 9 }));
      if (is !== was) wrong.push(`${call(type)}: ${inspect(tried[id])} is stored as ${is}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(stored).toBeGreaterThan(300);
});

/** A value without what does not matter: how a list or a moment is held, and whether an integer is a bigint. */
function plain(value: unknown, type: DataType): unknown {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.getTime();
  switch (type.kind) {
    case "int64":
    case "uint64":
    case "time64":
    case "duration":
      return BigInt(value as number);
    case "float32":
      return Math.fround(value as number);
    case "float16":
      return new Float16Array([value as number])[0];
    case "dictionary":
      return plain(value, type.value);
    case "list":
    case "fixedSizeList":
      return [...(value as Iterable<unknown>)].map((one) => plain(one, type.item.type));
    case "struct":
      return Object.fromEntries(
        type.fields.map(({ name, type }) => [name, plain((value as Record<string, unknown>)[name], type)]),
      );
    default:
      return ArrayBuffer.isView(value)
        ? [...(value as Uint8Array)]
        : Object.is(value, -0) && type.kind !== "float64"
          ? 0
          : value;
  }
}

test("rows in one batch are stored as they are, or the client refuses them", async () => {
  const tables = types.map(([type], at) => `m.createTable("t${at}", { id: m.int32().notNull(), x: ${call(type)} }),`);
  const { project, schemas } = await anApplication(tables.join("\n"));
  const db = await lancedb.connect(project.database);
  const wrong: string[] = [];
  let stored = 0;
  for (const [at, [type, first, second = first]] of types.entries()) {
    const left = undefined;
    const all = [
      [left, first, second],
      [first, left, second],
      [first, null, second],
      [second, first, left],
      [null, left],
    ];
    for (const values of all) {
      const rows = values.map((x, id) => (x === undefined ? { id } : { id, x }));
      const given = rows.flatMap((row) => {
        const result = schemas[`t${at}Input`]!["~standard"].validate(row);
        return result.issues ? [] : [result.value];
      });
      const table = await db.openTable(`t${at}`);
      await table.delete("true");
      await table.add(given).catch(() => undefined);
      const read = (await table.query().toArray()) as readonly { readonly id: number; readonly x: unknown }[];
      stored += read.length;
      const [is, was] = [read.map(({ x }) => x), read.length === 0 ? [] : values].map((them) =>
        inspect(
          them.map((x) => plain(x, type.type)),
          { depth: 9 },
        ),
      );
      if (is !== was) wrong.push(`${call(type)}: ${inspect(given)} is stored as ${is}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(stored).toBeGreaterThan(500);
});

test("an issue says what is wrong, and where", async () => {
  const { schemas } = await anApplication(`m.createTable("documents", {
    id: m.int64().notNull(),
    text: m.utf8(),
    source: m.struct({ url: m.utf8().notNull() }),
    embedding: m.vector(2).notNull(),
  }),
  m.addComputedColumn("documents", "length", m.int32(), "length(text)"),`);
  const issuesOf = (row: unknown) =>
    schemas["documentsInput"]!["~standard"].validate(row).issues?.map(
      ({ message, path }) => `${path!.join(".")}: ${message}`,
    );
  const row = { id: 1, embedding: [1, 2] };
  expect(issuesOf(row)).toBeUndefined();
  expect(issuesOf({ ...row, text: undefined, length: null, source: null })).toBeUndefined();
  expect(issuesOf({ text: 1, source: { url: null, other: 1 }, length: 3 })).toEqual([
    "length: is not a column of new rows",
    "id: must not be null",
    "text: must be a string without lone surrogates",
    "source.other: is not a column of new rows",
    "source.url: must not be null",
    "embedding: must not be null",
  ]);
  expect(issuesOf({ id: 1, embedding: [1, "2"] })).toEqual(["embedding.1: must be a number that float32 can hold"]);
  expect(issuesOf({ id: 1, embedding: [1] })).toEqual(["embedding: must be 2 numbers"]);
  expect(issuesOf([])).toEqual([": must be a plain object"]);
});

test("a row that was read can be added again", async () => {
  const { project, schemas } = await anApplication(`m.createTable("documents", {
    id: m.int64().notNull(),
    source: m.struct({ url: m.utf8(), tags: m.list(m.utf8()) }),
    embedding: m.vector(2),
  }),`);
  const table = await (await lancedb.connect(project.database)).openTable("documents");
  const add = async (row: unknown) => {
    const result = schemas["documentsInput"]!["~standard"].validate(row);
    if (result.issues) throw new Error(inspect(result.issues));
    await table.add([result.value]);
  };
  await add({ id: 1, source: { url: "a", tags: ["b"] }, embedding: [1, 2] });
  for (const row of (await table.query().toArray()) as readonly unknown[]) await add(row);
  const rows = (await table.query().toArray()) as readonly unknown[];
  expect(
    rows.map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? Number(value) : value))),
  ).toEqual(
    Array.from({ length: 2 }, () => JSON.stringify({ id: 1, source: { url: "a", tags: ["b"] }, embedding: [1, 2] })),
  );
});

function decimal(digits: bigint): Uint32Array {
  return new Uint32Array(new BigInt64Array([digits, digits >> 64n]).buffer);
}

/** Rows of the table in docs/types.md: type, value given, value stored. */
const changed: readonly (readonly [column: string, type: m.ColumnType, given: unknown, stored: unknown])[] = [
  ["`int8` | `128` | `-128`", m.int8(), 128, -128],
  ['`int32` | `"x"` | `0`', m.int32(), "x", 0],
  ["`float16` | `7.999` | `4`", m.float16(), 7.999, 4],
  ["`vector(3)` | `[1, 2]` | `[1, 2, null]`", m.vector(3), [1, 2], [1, 2, null]],
  ["`vector(3)` | `[1, 2, 3, 4]` | `[1, 2, 3]`", m.vector(3), [1, 2, 3, 4], [1, 2, 3]],
  ["`date32` | `1500` | `0`", m.date32(), 1500, 0],
  [
    '`timestamp("ns")` | `new Date("2300-01-01")` | a moment in 1715',
    m.timestamp("ns"),
    new Date("2300-01-01"),
    new Date("1715"),
  ],
  ['`bool` | `"true"` | `false`', m.bool(), "true", false],
  [
    "`decimal128(10, 2)` | `new Uint8Array([1, 2, 0, 0])` | 85899345.93",
    m.decimal128(10, 2),
    new Uint8Array([1, 2, 0, 0]),
    decimal(8_589_934_593n),
  ],
];

test("the client stores other values than the documentation's, and the schemas refuse these", async () => {
  const tables = changed.map(
    ([, type], at) => `m.createTable("t${at}", { id: m.int32().notNull(), x: ${call(type)} }),`,
  );
  const { project, schemas } = await anApplication(tables.join("\n"));
  const db = await lancedb.connect(project.database);
  const page = readFileSync(join(root, "docs/types.md"), "utf8");
  for (const [at, [line, type, x, stored]] of changed.entries()) {
    expect(page).toContain(`\n| ${line} |\n`);
    const result = schemas[`t${at}Input`]!["~standard"].validate({ id: 1, x });
    // A float16 is rounded as it should be.
    if (type.type.kind === "float16") expect(result).toMatchObject({ value: { x: 8 } });
    else expect(result.issues).toHaveLength(1);
    const table = await db.openTable(`t${at}`);
    await table.add([{ id: 1, x }]);
    const [row] = (await table.query().toArray()) as readonly { readonly x: unknown }[];
    const read = plain(row!.x, type.type);
    if (stored instanceof Date) expect(new Date(read as number).getUTCFullYear()).toBe(stored.getUTCFullYear());
    else expect(read, line).toEqual(plain(stored, type.type));
  }
});

test("the client refuses decimals in other forms, but not those with too many digits", async () => {
  const { project, schemas } = await anApplication(
    `m.createTable("prices", { id: m.int32().notNull(), price: m.decimal128(4, 2) }),`,
  );
  const table = await (await lancedb.connect(project.database)).openTable("prices");
  for (const price of ["12.34", 12.34, 1234, 1234n, [1234, 0, 0, 0]]) {
    await expect(table.add([{ id: 1, price }])).rejects.toThrow("value.subarray is not a function");
    expect(schemas["pricesInput"]!["~standard"].validate({ id: 1, price }).issues).toHaveLength(1);
  }
  const price = decimal(1_234_567n);
  expect(schemas["pricesInput"]!["~standard"].validate({ id: 1, price }).issues).toHaveLength(1);
  await table.add([{ id: 1, price }]);
  const [row] = (await table.query().toArray()) as readonly { readonly price: Uint32Array }[];
  expect(String(row!.price)).toBe("1234567");
  // A number without a cast is no decimal to the engine.
  await expect(table.countRows("price < 0.5")).rejects.toThrow("could not convert to literal of type 'Decimal128");
});

/** From 2 to the power of 61 nanoseconds on, which is in 2043, the next floating-point number is twice as far. */
const eras: readonly (readonly [from: string, to: string, within: bigint])[] = [
  ["1970-06-01", "2043-01-01", 128n],
  ["2043-02-01", "2262-01-01", 512n],
];

test("moments in nanoseconds are stored as closely as the documentation states", async () => {
  const { project, schemas } = await anApplication(
    `m.createTable("logs", { id: m.int32().notNull(), at: m.timestamp("ns").notNull() }),`,
  );
  const table = await (await lancedb.connect(project.database)).openTable("logs");
  const page = readFileSync(join(root, "docs/types.md"), "utf8");
  expect(page).toContain("is stored within 128 nanoseconds until 2043, and within 512 nanoseconds from then on");
  for (const [from, to, within] of eras) {
    const [first, last] = [Date.parse(from), Date.parse(to)];
    const given = Array.from({ length: 2000 }, (_, id) => first + (last - first) * ((id * Math.SQRT2) % 1));
    const rows = given.map((at, id) => schemas["logsInput"]!["~standard"].validate({ id, at }));
    await table.delete("true");
    await table.add(rows.map((result) => (result as { value: Record<string, unknown> }).value));
    const batch = await table.query().select({ id: "id", at: "cast(at as bigint)" }).toArrow();
    const off = [...batch].map(({ id, at }: { id: number; at: bigint }) => {
      // Exact: these numbers have fewer binary places.
      const wanted = (BigInt(given[id]! * 2 ** 24) * 1_000_000n) >> 24n;
      return at > wanted ? at - wanted : wanted - at;
    });
    const most = off.reduce((one, other) => (one > other ? one : other));
    expect(off).toHaveLength(2000);
    expect(most).toBeLessThanOrEqual(within);
    expect(most).toBeGreaterThan(within / 2n);
  }
});

test("columns that no row can be given are not in the schema", async () => {
  const { project, schemas } = await anApplication(`m.createTable("documents", {
    id: m.int32().notNull(),
    text: m.utf8(),
    nothing: m.list(m.nullType()),
    words: m.list(m.dictionary(m.int64(), m.utf8())),
  }),
  m.addComputedColumn("documents", "loud", m.dictionary(m.int32(), m.utf8()), "upper(text)"),`);
  const table = await (await lancedb.connect(project.database)).openTable("documents");
  const result = schemas["documentsInput"]!["~standard"].validate({ id: 1, text: "a" });
  await table.add([(result as { value: Record<string, unknown> }).value]);
  expect(await table.countRows()).toBe(1);
  for (const more of [{ loud: "A" }, { words: ["a"] }, { nothing: [null] }])
    expect(schemas["documentsInput"]!["~standard"].validate({ id: 1, ...more }).issues).toHaveLength(1);
});

test("a column that is left out stays so, because a merge does not change it then", async () => {
  const { project, schemas } = await anApplication(`m.createTable("documents", {
    id: m.int32().notNull(), n: m.int32(), flag: m.bool(), s: m.struct({ a: m.int32(), flag: m.bool() }), v: m.vector(2),
  }),`);
  const table = await (await lancedb.connect(project.database)).openTable("documents");
  const valueOf = (row: unknown) =>
    (schemas["documentsInput"]!["~standard"].validate(row) as { value: Record<string, unknown> }).value;
  const whole = { id: 1, n: 2, flag: true, s: { a: 3, flag: true }, v: [1, 2] };
  await table.add([valueOf(whole)]);
  const merge = async (row: unknown) =>
    await table
      .mergeInsert("id")
      .whenMatchedUpdateAll()
      .whenNotMatchedInsertAll()
      .execute([valueOf(row)]);
  const read = async () => JSON.parse(JSON.stringify(await table.query().toArray())) as unknown;
  const { s } = whole;
  await merge({ id: 1, n: 5, s });
  expect(await read()).toEqual([{ ...whole, n: 5 }]);
  await merge({ id: 1, n: null, s });
  expect(await read()).toEqual([{ ...whole, n: null }]);
  // The client refuses this, and keeps the value.
  await expect(merge({ id: 1, flag: null, s })).rejects.toThrow("bitmap");
  expect(await read()).toEqual([{ ...whole, n: null }]);
  await table.add([valueOf({ id: 2, s })]);
  expect(await read()).toContainEqual({ id: 2, n: null, flag: null, s, v: null });
  // A struct is written whole.
  expect(valueOf({ id: 3, s: {} })).toEqual({ id: 3, s: { a: null, flag: null } });
  expect(valueOf({ id: 3, s: { a: 1 } })).toEqual({ id: 3, s: { a: 1, flag: null } });
  expect(valueOf({ id: 3 })).toEqual({ id: 3, s: null });
});

class Point {
  readonly x = 1;
}

test("what would be stored without its values is refused", async () => {
  const { schemas } = await anApplication(`m.createTable("documents", {
    x: m.int32(), tags: m.list(m.utf8()), s: m.struct({ x: m.int32() }),
    odd: m.struct([["constructor", m.bool()], ["toString", m.utf8()]]),
  }),`);
  const result = (row: unknown) => schemas["documentsInput"]!["~standard"].validate(row);
  const hidden = [
    Promise.resolve({ x: 1 }),
    new Point(),
    new Error("x"),
    Object(5),
    new URL("a:b"),
    new Date(0),
    () => 1,
  ];
  for (const one of [...hidden, Object.create({ x: 1 })]) {
    expect(result(one).issues).toEqual([{ message: "must be a plain object", path: [] }]);
    expect(result({ s: one }).issues).toEqual([{ message: "must be a plain object", path: ["s"] }]);
  }
  for (const tags of [Object("abc"), new Set(["a"]), "abc", { length: 1, 0: "a" }, { [Symbol.iterator]: 5 }])
    expect(result({ tags }).issues).toEqual([{ message: "must be a list", path: ["tags"] }]);
  const thrower = {
    get x() {
      throw new Error("no value");
    },
  };
  expect(result(thrower).issues).toEqual([{ message: "can't be read: Error: no value", path: [] }]);
  expect(result({ tags: Array.from({ length: 1_000 }, () => 1) }).issues).toHaveLength(100);
  // Every object has these names, and the client would take what they have.
  expect(result({ x: 1, odd: { toString: "a" } })).toEqual({
    value: { x: 1, s: null, odd: { constructor: null, toString: "a" } },
  });
});

/** Rows that the engine can't read from one file (docs/internals/engine.md, "Lists in structs"), and a change with which it can. */
const unreadable: readonly (readonly [what: string, item: m.ColumnType, list: readonly unknown[]])[] = [
  ["texts", m.utf8(), ["x".repeat(256), null, "y"]],
  ["binaries", m.binary(), [Buffer.alloc(256, 1), null, Buffer.alloc(1)]],
  ["vectors", m.vector(64), [Array.from({ length: 64 }, () => 1)]],
];

test.each(unreadable)(
  "long %s in a list, with a null list and a null struct, can't be read from one file",
  async (_, item, list) => {
    const struct = `m.struct({ items: m.list(${call(item)}) })`;
    const columns = (type: string) => `{ id: m.int32().notNull(), s: ${type} }`;
    const { project, schemas } = await anApplication(
      `m.createTable("t", ${columns(struct)}), m.createTable("u", ${columns(`${struct}.notNull()`)}),`,
    );
    const db = await lancedb.connect(project.database);
    const [t, u] = await Promise.all(["t", "u"].map((name) => db.openTable(name)));
    const rows = [{ items: list }, { items: null }, null].map((s, id) => {
      const result = schemas["tInput"]!["~standard"].validate({ id, s });
      return (result as { value: Record<string, unknown> }).value;
    });
    const readsAfter = async (table: LanceTable, ...batches: (readonly Record<string, unknown>[])[]) => {
      await table.delete("true");
      for (const batch of batches) await table.add([...batch]);
      return async () => (await table.query().toArray()).length as number;
    };
    await expect((await readsAfter(t!, rows))()).rejects.toThrow();
    const read = await readsAfter(t!, rows.slice(0, 2), rows.slice(2));
    expect(await read()).toBe(3);
    const { version } = (await t!.listVersions()).at(-1)!;
    await t!.optimize();
    await expect(read()).rejects.toThrow();
    await t!.checkout(version);
    await t!.restore();
    expect(await read()).toBe(3);
    // What the documentation recommends.
    const empty = { id: 1, s: { items: [] } };
    expect(await (await readsAfter(t!, [rows[0]!, empty, rows[2]!]))()).toBe(3);
    expect(await (await readsAfter(u!, [rows[0]!, rows[1]!, empty]))()).toBe(3);
  },
);
