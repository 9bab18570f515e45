/** What castVerdict says of dates, times and durations, held against the engine with drawn values, as they are stored. */
import * as arrow from "apache-arrow";
import * as fc from "../support/fast-check.ts";
import { expect, test } from "vitest";
import { alterColumns, connect, createEmptyTable, readColumns, type EngineTable } from "../../src/engine/engine.ts";
import { engineProblem } from "../../src/engine/problem/engine-problem.ts";
import { addRows } from "../../src/engine/write-rows.ts";
import { castVerdict } from "../../src/schema/cast-rules.ts";
import { formatType, timeUnits, type DataType, type TimeUnit } from "../../src/schema/data-type.ts";
import { temporaryFolder } from "../support/project.ts";
import { rounds } from "../support/rounds.ts";

const zones = [undefined, "UTC", "Europe/Berlin"];
const points: readonly DataType[] = [
  { kind: "date32" },
  { kind: "date64" },
  ...timeUnits.flatMap((unit) => zones.map((zone): DataType => ({ kind: "timestamp", unit, ...(zone && { zone }) }))),
];
const times: readonly DataType[] = [
  { kind: "time32", unit: "s" },
  { kind: "time32", unit: "ms" },
  { kind: "time64", unit: "us" },
  { kind: "time64", unit: "ns" },
];
const durations: readonly DataType[] = timeUnits.map((unit) => ({ kind: "duration", unit }));

const pairs = fc
  .oneof(
    fc.tuple(fc.constantFrom(...points), fc.constantFrom(...points, ...times)),
    fc.tuple(fc.constantFrom(...times), fc.constantFrom(...times)),
    fc.tuple(fc.constantFrom(...durations), fc.constantFrom(...durations)),
  )
  .filter(([from, to]) => formatType(from) !== formatType(to) && castVerdict(from, to).allowed);

const day = 86_400_000_000_000n;
const nanoseconds: Readonly<Record<TimeUnit, bigint>> = { s: 1_000_000_000n, ms: 1_000_000n, us: 1000n, ns: 1n };

/** Nanoseconds in one tick of a type. */
function tick(type: DataType): bigint {
  if (type.kind === "date32") return day;
  return nanoseconds["unit" in type ? type.unit : "ms"];
}

function isNarrow({ kind }: DataType): boolean {
  return kind === "date32" || kind === "time32";
}

function valuesOf(type: DataType): fc.Arbitrary<bigint> {
  if (times.includes(type)) {
    const last = day / tick(type) - 1n;
    return fc.oneof(fc.constantFrom(0n, 1n, last), fc.bigInt({ min: 0n, max: last }));
  }
  const max = 2n ** (isNarrow(type) ? 31n : 63n) - 1n;
  const edges = [0n, 1n, -1n, max, -max, max / 1000n, max / 1000n + 1n, -max / 1_000_000n, max / 86_400n];
  // Around what people use, whole days and seconds among them.
  const now = 1_795_178_096_789_000_000n / tick(type);
  const usual = fc.bigInt({ min: -now, max: 2n * now });
  return fc.oneof(
    fc.constantFrom(...edges),
    fc.bigInt({ min: -max, max }),
    usual,
    usual.map((value) => value - (value % (day / tick(type)))),
  );
}

const cases = pairs.chain(([from, to]) =>
  fc.record({
    from: fc.constant(from),
    to: fc.constant(to),
    values: fc.array(valuesOf(from), { minLength: 1, maxLength: 5 }),
  }),
);

const arrowUnits = {
  s: arrow.TimeUnit.SECOND,
  ms: arrow.TimeUnit.MILLISECOND,
  us: arrow.TimeUnit.MICROSECOND,
  ns: arrow.TimeUnit.NANOSECOND,
};

function toArrow(type: DataType): arrow.DataType {
  switch (type.kind) {
    case "date32":
      return new arrow.DateDay();
    case "date64":
      return new arrow.DateMillisecond();
    case "timestamp":
      return new arrow.Timestamp(arrowUnits[type.unit], type.zone);
    case "time32":
      return new arrow.Time(arrowUnits[type.unit] as arrow.TimeUnit.SECOND, 32);
    case "time64":
      return new arrow.Time(arrowUnits[type.unit] as arrow.TimeUnit.MICROSECOND, 64);
    default:
      return new arrow.Duration(arrowUnits[(type as { unit: TimeUnit }).unit]);
  }
}

/** The stored integers, which the package's own builders would round. */
function fileOf(type: DataType, values: readonly bigint[]): Buffer {
  const field = new arrow.Field("c", toArrow(type), true);
  const stored = isNarrow(type)
    ? arrow.makeData({ type: new arrow.Int32(), data: Int32Array.from(values, Number) })
    : arrow.makeData({ type: new arrow.Int64(), data: BigInt64Array.from(values) });
  const struct = new arrow.Struct([field]);
  const data = arrow.makeData({ type: struct, length: values.length, nullCount: 0, children: [stored] });
  return Buffer.from(
    arrow.tableToIPC(new arrow.Table([new arrow.RecordBatch(new arrow.Schema([field]), data)]), "file"),
  );
}

async function storedIn(table: EngineTable): Promise<readonly bigint[]> {
  const column = (await table.query().toArrow()).getChildAt(0)!;
  return column.data.flatMap(({ values, length }) => {
    const bytes = values as Int32Array | BigInt64Array;
    const wide = bytes.length === length ? bytes : new BigInt64Array(bytes.buffer, bytes.byteOffset, length);
    return Array.from(wide as Iterable<number | bigint>, BigInt);
  });
}

/** Whether the same time is stored; a zone's clock decides what a time without a zone is in one. */
function isSame(value: bigint, from: DataType, found: bigint, to: DataType): boolean {
  const zonesOf = new Set([from, to].map((type) => (type.kind === "timestamp" ? type.zone : undefined)));
  if (zonesOf.has("Europe/Berlin") && zonesOf.has(undefined)) return true;
  return value * tick(from) === found * tick(to);
}

test("a cast changes, refuses and keeps points in time, times of day and durations as its verdict says", async () => {
  const db = await connect({ uri: temporaryFolder() });
  let tables = 0;
  const seen = { failed: 0, kept: 0 };
  await fc.assert(
    fc.asyncProperty(cases, async ({ from, to, values }) => {
      const name = `t${tables++}`;
      await createEmptyTable(db, name, [{ name: "c", type: from, nullable: true }]);
      const table = await db.openTable(name);
      await addRows(table, fileOf(from, values), "append");
      expect(await storedIn(table)).toEqual(values);
      const problem = await alterColumns(table, [{ path: "c", type: to }]).then(() => undefined, engineProblem);
      const verdict = castVerdict(from, to);
      if (!verdict.allowed) throw new Error("drawn from what is allowed");
      const what = `${formatType(from)} -> ${formatType(to)}`;
      if (problem !== undefined) {
        seen.failed++;
        expect({ what, problem, ...verdict }).toMatchObject({ mayFail: true });
        expect(await readColumns(table)).toEqual([{ name: "c", type: from, nullable: true }]);
        expect(await storedIn(table)).toEqual(values);
      } else if (!verdict.mayLose) {
        seen.kept++;
        const found = await storedIn(table);
        const others = values.filter((value, at) => !isSame(value, from, found[at]!, to));
        expect({ what, others }).toEqual({ what, others: [] });
      }
      await db.dropTable(name);
    }),
    { numRuns: rounds(200, 1_500) },
  );
  expect(Math.min(seen.failed, seen.kept)).toBeGreaterThan(20);
});
