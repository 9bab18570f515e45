/** Types and values that rows of migrations can hold, drawn by fast-check. */
import type { Column, DataType, TimeUnit } from "../../src/schema/data-type.ts";
import { dateOf, timeOf } from "../../src/time/iso-time.ts";
import { problemOfValue, type RowValue, type RowValues } from "../../src/schema/row-values.ts";
import * as fc from "../support/fast-check.ts";

const units = fc.constantFrom<TimeUnit>("s", "ms", "us", "ns");
const plain: fc.Arbitrary<DataType> = fc.oneof(
  fc
    .constantFrom(
      ...(["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const),
      ...(["float16", "float32", "float64", "utf8", "largeUtf8", "date32"] as const),
    )
    .map((kind) => ({ kind })),
  units.map((unit) => ({ kind: "timestamp", unit }) as const),
  units.map((unit) => ({ kind: "timestamp", unit, zone: "Europe/Berlin" }) as const),
);

/** `\ufeff` is a byte order mark. */
const names = ["id", "\ufeffid", "Größe", "a b", "__proto__"];

function columnsOf(types: readonly DataType[], nullable: readonly boolean[]): readonly Column[] {
  return types.map((type, at) => ({ name: names[at]!, type, nullable: nullable[at]! }));
}

function drawnType(depth: number): fc.Arbitrary<DataType> {
  if (depth === 0) return plain;
  const item = drawnType(depth - 1).map((type) => ({ name: "item", type, nullable: true }));
  return fc.oneof(
    { weight: 3, arbitrary: plain },
    { weight: 1, arbitrary: item.map((one) => ({ kind: "list", item: one }) as const) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(item, fc.integer({ min: 1, max: 4 }))
        .map(([one, length]) => ({ kind: "fixedSizeList", item: one, length }) as const),
    },
    { weight: 1, arbitrary: drawnColumns(depth - 1).map((fields) => ({ kind: "struct", fields }) as const) },
  );
}

export function drawnColumns(depth = 3): fc.Arbitrary<readonly Column[]> {
  return fc
    .array(fc.tuple(drawnType(depth), fc.boolean()), { minLength: 1, maxLength: names.length })
    .map((drawn) => columnsOf(...([drawn.map(([type]) => type), drawn.map(([, nullable]) => nullable)] as const)));
}

export function drawnRow(columns: readonly Column[]): fc.Arbitrary<RowValues> {
  return fc
    .tuple(...columns.map(drawnCell))
    .map((values) => Object.fromEntries(columns.map(({ name }, at) => [name, values[at]!])));
}

function drawnCell(column: Column): fc.Arbitrary<RowValue> {
  const value = drawnValue(column.type).filter((one) => problemOfValue(one, column) === undefined);
  return column.nullable ? fc.option(value, { freq: 4 }) : value;
}

function drawnValue(type: DataType): fc.Arbitrary<RowValue> {
  switch (type.kind) {
    case "bool":
      return fc.boolean();
    case "utf8":
    case "largeUtf8":
      return fc.string({
        unit: fc.oneof(fc.constantFrom("\ufeff", "\0", "é", "😀"), fc.string({ unit: "binary", maxLength: 3 })),
      });
    case "float16":
      return fc.oneof(
        fc.double({ min: -65_519, max: 65_519, noNaN: true }),
        fc.double({ min: -1e-4, max: 1e-4, noNaN: true }),
      );
    case "float32":
      return fc.oneof(
        fc.double({ min: -3.4028235e38, max: 3.4028235e38, noNaN: true }),
        fc.double({ min: -1, max: 1, noNaN: true }),
      );
    case "float64":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "date32":
      return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }).map(dateOf);
    case "timestamp":
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((ticks) => timeOf(ticks, type.unit));
    case "list":
      return fc.array(drawnCell(type.item), { maxLength: 4 });
    case "fixedSizeList":
      return fc.array(drawnCell(type.item), { minLength: type.length, maxLength: type.length });
    case "struct":
      return drawnRow(type.fields);
    default: {
      const [isSigned, bits] = [!type.kind.startsWith("u"), BigInt(type.kind.replace(/\D+/, ""))];
      const most = 2n ** (isSigned ? bits - 1n : bits) - 1n;
      return fc
        .bigInt({ min: isSigned ? -most - 1n : 0n, max: most })
        .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)));
    }
  }
}
