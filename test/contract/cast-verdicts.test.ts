/** What castVerdict says, held against the engine itself. */
import * as fc from "../support/fast-check.ts";
import { expect, test } from "vitest";
import { applyAction } from "../support/fold.ts";
import {
  bool,
  date32,
  date64,
  dictionary,
  float32,
  int8,
  int32,
  largeList,
  list,
  timestamp,
  uint8,
  vector,
} from "../../src/schema/declare/type-builders.ts";
import type { NullableType } from "../../src/schema/typed/shape.ts";
import { castVerdict, type CastVerdict } from "../../src/schema/cast-rules.ts";
import { formatType, isFloat, isInteger, itemName, sameType, type DataType } from "../../src/schema/data-type.ts";
import {
  alterColumns,
  connect,
  createEmptyTable,
  readColumns,
  type Connection,
  type EngineTable,
} from "../../src/engine/engine.ts";
import { engineProblem } from "../../src/engine/problem/engine-problem.ts";
import { anyType, typeNear } from "../support/drawn-tables.ts";
import { temporaryFolder } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";

/** A table of one nullable column c. */
async function aTable(db: Connection, type: DataType): Promise<EngineTable> {
  const name = `t${(await db.tableNames()).length}`;
  await createEmptyTable(db, name, [{ name: "c", type, nullable: true }]);
  return await db.openTable(name);
}

/** Casts c; what the engine says against it, or undefined. */
async function cast(table: EngineTable, to: DataType): Promise<string | undefined> {
  try {
    await alterColumns(table, [{ path: "c", type: to }]);
    return undefined;
  } catch (error) {
    return engineProblem(error);
  }
}

/** What the engine takes on an empty table, but never with a row in it: we refuse it before there is one. */
function failsOnEveryRow(from: DataType, to: DataType): boolean {
  if (to.kind === "dictionary") return to.value.kind === "bool";
  if (!("item" in from && "item" in to)) return false;
  return (from.kind === "fixedSizeList" && !to.item.nullable) || failsOnEveryRow(from.item.type, to.item.type);
}

const pairs = anyType
  .chain((from) =>
    fc.tuple(fc.constant(from), fc.oneof({ weight: 3, arbitrary: typeNear(from) }, { weight: 1, arbitrary: anyType })),
  )
  .filter(([from, to]) => !sameType(from, to))
  // The engine can't create these, which is no question of casts (test/unit/schema/declare/validate.test.ts).
  .filter(([from]) => !/fixedSizeList<fixedSizeList<struct/.test(formatType(from)));

test("on an empty table the engine takes the casts that castVerdict allows, and no others", async () => {
  const db = await connect({ uri: temporaryFolder() });
  await fc.assert(
    fc.asyncProperty(pairs, async ([from, to]) => {
      const table = await aTable(db, from);
      const problem = await cast(table, to);
      const { allowed } = castVerdict(from, to);
      if (allowed !== (problem === undefined) && !(problem === undefined && failsOnEveryRow(from, to)))
        throw new Error(`${formatType(from)} -> ${formatType(to)}: ${allowed ? `allowed, but ${problem}` : "refused"}`);
      if (allowed) {
        const before = new Map([["t", { columns: [{ name: "c", type: from, nullable: true }] }]]);
        const after = applyAction(before, { kind: "alterColumns", table: "t", alterations: [{ path: "c", type: to }] });
        expect(await readColumns(table)).toEqual(after.get("t")!.columns);
      }
      await db.dropTable(table.name);
    }),
    { numRuns: rounds(100, 300) },
  );
});

test.each<[string, NullableType, unknown, NullableType]>([
  ["a vector becomes no list of not null items", vector(2), [1, 2], list(float32().notNull())],
  ["a vector becomes no large list of not null items", vector(2), [1, 2], largeList(float32().notNull())],
  ["booleans become no dictionary", bool(), true, dictionary(int8(), bool())],
])("%s: the engine refuses it at the first row, and so do we", async (_, from, value, to) => {
  const table = await aTable(await connect({ uri: temporaryFolder() }), from.type);
  await table.add([{ c: value }]);
  expect(castVerdict(from.type, to.type).allowed).toBe(false);
  expect(failsOnEveryRow(from.type, to.type)).toBe(true);
  expect(await cast(table, to.type)).toBeDefined();
});

test("more values than a dictionary's index can count fail, and nothing changes", async () => {
  const [from, to] = [int32(), dictionary(uint8(), int32())];
  const table = await aTable(await connect({ uri: temporaryFolder() }), from.type);
  await table.add(Array.from({ length: 300 }, (_, c) => ({ c })));
  expect(await cast(table, to.type)).toBeDefined();
  expect(castVerdict(from.type, to.type)).toMatchObject({ mayFail: true });
  expect(await readColumns(table)).toEqual([{ name: "c", type: from.type, nullable: true }]);
});

// What can be drawn: a type, and values that it holds exactly.
interface Sample {
  readonly type: DataType;
  readonly value: fc.Arbitrary<unknown>;
}

function integers(bits: number, signed: boolean): Sample {
  const min = signed ? -(2n ** BigInt(bits - 1)) : 0n;
  const max = 2n ** BigInt(signed ? bits - 1 : bits) - 1n;
  const value = fc.bigInt({ min, max });
  return {
    type: { kind: `${signed ? "int" : "uint"}${bits}` as "int8" },
    value: bits === 64 ? value : value.map(Number),
  };
}

const samples: readonly (readonly Sample[])[] = [
  [8, 16, 32, 64].flatMap((bits) => [integers(bits, true), integers(bits, false)]),
  [
    { type: { kind: "float16" }, value: fc.integer({ min: -2048, max: 2048 }).map((whole) => whole / 16) },
    { type: { kind: "float32" }, value: fc.float({ noNaN: true }) },
    { type: { kind: "float64" }, value: fc.double({ noNaN: true }) },
  ],
  [
    { type: { kind: "utf8" }, value: fc.string({ unit: "grapheme" }) },
    { type: { kind: "largeUtf8" }, value: fc.string({ unit: "grapheme" }) },
  ],
  [
    { type: { kind: "binary" }, value: fc.uint8Array() },
    { type: { kind: "largeBinary" }, value: fc.uint8Array() },
  ],
  [{ type: { kind: "fixedSizeBinary", length: 3 }, value: fc.uint8Array({ minLength: 3, maxLength: 3 }) }],
  [{ type: { kind: "bool" }, value: fc.boolean() }],
];

/** A value's type, rows of it, and a type of the same family; plain, in lists, in vectors, as dictionaries. */
const drawn = fc.constantFrom(...samples).chain((family) =>
  fc
    .tuple(
      fc.constantFrom(...family),
      fc.constantFrom(...family),
      fc.constantFrom("plain", "list", "largeList", "vector", "list of a vector", "dictionary"),
    )
    .chain(([from, to, shape]) => {
      const isPlain = isInteger(from.type) || isFloat(from.type);
      const [fromType, toType, value] = inShape(isPlain ? shape : shape.replace(/.*vector/, "list"), from, to.type);
      return fc.record({
        from: fc.constant(fromType),
        to: fc.constant(toType),
        // apache-arrow can't write a null among vectors when there is nothing but nulls.
        rows: fc.array(shape.endsWith("vector") ? value : fc.option(value), { minLength: 1, maxLength: 6 }),
      });
    }),
);

function inShape(shape: string, { type, value }: Sample, to: DataType): [DataType, DataType, fc.Arbitrary<unknown>] {
  const item = (type: DataType) => ({ name: itemName, type, nullable: true });
  if (shape === "list")
    return [{ kind: "list", item: item(type) }, { kind: "list", item: item(to) }, fc.array(fc.option(value))];
  if (shape === "largeList")
    return [{ kind: "list", item: item(type) }, { kind: "largeList", item: item(to) }, fc.array(fc.option(value))];
  if (shape.endsWith("vector"))
    return [
      { kind: "fixedSizeList", item: item(type), length: 2 },
      shape === "vector" ? { kind: "fixedSizeList", item: item(to), length: 2 } : { kind: "list", item: item(to) },
      fc.array(value, { minLength: 2, maxLength: 2 }),
    ];
  if (shape === "dictionary") return [type, { kind: "dictionary", index: { kind: "uint8" }, value: to }, value];
  return [type, to, value];
}

async function valuesOf(table: EngineTable): Promise<readonly unknown[]> {
  const result = await table.query().toArrow();
  return result.numRows === 0
    ? []
    : Array.from({ length: result.numRows }, (_, row) => plain(result.getChildAt(0)!.get(row)));
}

/** Numbers of any width as text, lists as arrays. */
function plain(value: unknown): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" || typeof value === "bigint") return `${value}`;
  return Array.from(value as Iterable<unknown>, plain);
}

/** apache-arrow leaves out the bits of booleans that are all null, which the engine refuses to read. */
function isWritable(type: DataType, rows: readonly unknown[]): boolean {
  if ("item" in type)
    return isWritable(
      type.item.type,
      rows.filter((row) => row !== null).flatMap((row) => row as unknown[]),
    );
  return type.kind !== "bool" || rows.length === 0 || rows.some((value) => value !== null);
}

test("a cast changes, refuses and keeps values as its verdict says", async () => {
  const db = await connect({ uri: temporaryFolder() });
  await fc.assert(
    fc.asyncProperty(
      drawn
        .filter(({ from, to }) => !sameType(from, to))
        .filter(({ from, to }) => !failsOnEveryRow(from, to))
        .filter(({ from, rows }) => isWritable(from, rows)),
      async ({ from, to, rows }) => {
        const table = await aTable(db, from);
        await table.add(rows.map((c) => ({ c })));
        const before = await valuesOf(table);
        const columns = await readColumns(table);
        const problem = await cast(table, to);
        // Apache Arrow's JavaScript reads no large lists.
        if (problem === undefined && to.kind === "largeList") await cast(table, { ...to, kind: "list" });
        const verdict = castVerdict(from, to);
        if (!verdict.allowed) expect(problem).toBeDefined();
        else if (problem !== undefined) {
          expect({ problem, mayFail: verdict.mayFail }).toEqual({ problem, mayFail: true });
        } else if (!verdict.mayLose) expect(await valuesOf(table)).toEqual(before);
        if (problem !== undefined) {
          expect(await readColumns(table)).toEqual(columns);
          expect(await valuesOf(table)).toEqual(before);
        }
        await db.dropTable(table.name);
      },
    ),
    { numRuns: rounds(70, 200) },
  );
});

const skipped = new Date("2024-03-10T02:30:00Z");
const skippedMidnight = new Date("2017-10-15T00:00:00Z");
const locals: readonly [NullableType, Date, string][] = [
  [date32(), skippedMidnight, "America/Sao_Paulo"],
  [date64(), skippedMidnight, "America/Sao_Paulo"],
  [timestamp("s"), skipped, "America/New_York"],
  [timestamp("ms"), skipped, "America/New_York"],
  [timestamp("us"), skipped, "America/New_York"],
  [timestamp("ns"), skipped, "America/New_York"],
];

test.each(
  locals.flatMap(([from, value, zone]) =>
    (["s", "ms", "us", "ns"] as const).map((unit) => [formatType(from.type), unit, zone, from, value] as const),
  ),
)("a %s cast to timestamp(%s, %s) fails on a time that the zone's clocks skip", async (_, unit, zone, from, value) => {
  const to = timestamp(unit, zone);
  const table = await aTable(await connect({ uri: temporaryFolder() }), from.type);
  await table.add([{ c: value }]);
  expect(await cast(table, to.type)).toMatch(/Cannot cast timezone/);
  expect(castVerdict(from.type, to.type)).toMatchObject({ allowed: true, mayFail: true });
});

test("decimals change, refuse and keep values as the verdict says", async () => {
  const db = await connect({ uri: temporaryFolder() });
  const decimal = fc
    .tuple(fc.integer({ min: 1, max: 38 }), fc.nat({ max: 38 }))
    .map(([precision, scale]) => ({ kind: "decimal128", precision, scale: Math.min(precision, scale) }) as const);
  const cases = fc.tuple(decimal, decimal).chain(([from, to]) => {
    const max = 10n ** BigInt(from.precision) - 1n;
    return fc.record({
      from: fc.constant(from),
      to: fc.constant(to),
      digits: fc.array(fc.bigInt({ min: -max, max }), { minLength: 1, maxLength: 5 }),
    });
  });
  await fc.assert(
    fc.asyncProperty(
      cases.filter(({ from, to }) => !sameType(from, to)),
      async ({ from, to, digits }) => {
        const table = await aTable(db, from);
        await table.add(digits.map((value) => ({ c: words(value) })));
        expect(await digitsOf(table)).toEqual(digits);
        const problem = await cast(table, to);
        const verdict = castVerdict(from, to) as Extract<CastVerdict, { allowed: true }>;
        if (problem !== undefined) {
          expect({ problem, mayFail: verdict.mayFail }).toEqual({ problem, mayFail: true });
          expect(await digitsOf(table)).toEqual(digits);
        } else if (!verdict.mayLose)
          expect(await digitsOf(table)).toEqual(digits.map((value) => value * 10n ** BigInt(to.scale - from.scale)));
        await db.dropTable(table.name);
      },
    ),
    { numRuns: rounds(40, 100) },
  );
});

/** A whole number as the four words of a 128-bit integer, lowest first. */
function words(value: bigint): Uint32Array {
  return Uint32Array.from([0n, 32n, 64n, 96n], (shift) => Number((value >> shift) & 0xffff_ffffn));
}

async function digitsOf(table: EngineTable): Promise<readonly bigint[]> {
  const result = await table.query().toArrow();
  return Array.from({ length: result.numRows }, (_, row) => {
    const value = result.getChildAt(0)!.get(row) as Uint32Array;
    const unsigned = value.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
    return BigInt.asIntN(128, unsigned);
  });
}
