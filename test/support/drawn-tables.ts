/** Types and tables drawn by fast-check: what a migration file may hold, and what no known crash of the engine forbids. */
import * as fc from "./fast-check.ts";
import { itemName, type Column, type DataType } from "../../src/schema/data-type.ts";
import { dataType } from "../../src/schema/declare/validate.ts";

const integers = fc.constantFrom("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64");
const floats = fc.constantFrom("float16", "float32", "float64");
const texts = fc.constantFrom("utf8", "largeUtf8");
const binaries = fc.constantFrom("binary", "largeBinary");
const units = fc.constantFrom("s", "ms", "us", "ns");
const zones = fc.constantFrom(undefined, "UTC", "Europe/Berlin", "America/New_York");

const kinds = (kind: fc.Arbitrary<string>) => fc.record({ kind });

/** Each family is a set of types that the engine may cast among each other. */
const families: readonly fc.Arbitrary<unknown>[] = [
  kinds(integers),
  kinds(floats),
  kinds(texts),
  kinds(binaries),
  kinds(fc.constant("bool")),
  kinds(fc.constant("null")),
  fc.record({ kind: fc.constant("fixedSizeBinary"), length: fc.integer({ min: 1, max: 3 }) }),
  fc
    .tuple(fc.integer({ min: 1, max: 38 }), fc.nat({ max: 38 }))
    .map(([precision, scale]) => ({ kind: "decimal128", precision, scale: Math.min(precision, scale) })),
  fc.oneof(
    fc.record({ kind: fc.constantFrom("date32", "date64") }),
    fc.record({ kind: fc.constant("timestamp"), unit: units, zone: zones }),
  ),
  fc.constantFrom(
    { kind: "time32", unit: "s" },
    { kind: "time32", unit: "ms" },
    { kind: "time64", unit: "us" },
    { kind: "time64", unit: "ns" },
  ),
  fc.record({ kind: fc.constant("duration"), unit: units }),
];

const dictionaryValues = fc.oneof(
  kinds(integers),
  kinds(floats),
  kinds(texts),
  kinds(binaries),
  kinds(fc.constant("bool")),
);

function itemOf(type: fc.Arbitrary<DataType>): fc.Arbitrary<Column> {
  return fc.record({
    name: fc.constant(itemName),
    type,
    nullable: fc.boolean(),
  });
}

/** Keeps what zod lets into a step and hands back what it makes of it. */
function valid(type: fc.Arbitrary<unknown>): fc.Arbitrary<DataType> {
  return type.filter((one) => dataType.safeParse(one).success).map((one) => dataType.parse(one));
}

export const leafType: fc.Arbitrary<DataType> = valid(fc.oneof(...families));

const dictionaryType = valid(
  fc.record({ kind: fc.constant("dictionary"), index: kinds(integers), value: dictionaryValues }),
);

function nestedType(depth: number): fc.Arbitrary<DataType> {
  if (depth === 0) return leafType;
  const inner = nestedType(depth - 1);
  return fc.oneof(
    { weight: 4, arbitrary: leafType },
    { weight: 1, arbitrary: dictionaryType },
    {
      weight: 3,
      arbitrary: valid(fc.record({ kind: fc.constantFrom("list", "largeList"), item: itemOf(inner) })),
    },
    {
      weight: 2,
      arbitrary: valid(
        fc.record({ kind: fc.constant("fixedSizeList"), item: itemOf(inner), length: fc.integer({ min: 1, max: 3 }) }),
      ),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("struct" as const), fields: columns(inner) }) },
  );
}

/** Names that differ in more than case; some need no quoting and still look odd. */
export const columnName = fc.constantFrom("a", "b", "c", "d", "e", "items", "Größe", "with space", "_x", "1st", "'");

function columns(type: fc.Arbitrary<DataType>): fc.Arbitrary<readonly Column[]> {
  return fc.uniqueArray(
    fc
      .record({ name: columnName, type, nullable: fc.boolean() })
      .map((column) => (column.type.kind === "null" ? { ...column, nullable: true } : column)),
    { minLength: 1, maxLength: 4, selector: ({ name }) => name.toLowerCase() },
  );
}

/** Any type that a step may name. */
export const anyType: fc.Arbitrary<DataType> = nestedType(3);

/** The columns of any table that a step may create. */
export const anyColumns: fc.Arbitrary<readonly Column[]> = columns(nestedType(2));

/** A type near another: of the same family, in the same or a neighbouring shape, so that many casts are allowed. */
export function typeNear(type: DataType): fc.Arbitrary<DataType> {
  switch (type.kind) {
    case "list":
    case "largeList":
    case "fixedSizeList":
      return valid(
        fc
          .record({
            kind: fc.constantFrom("list", "largeList", "fixedSizeList"),
            item: fc.record({ name: fc.constant(itemName), type: typeNear(type.item.type), nullable: fc.boolean() }),
            length: fc.constantFrom(type.kind === "fixedSizeList" ? type.length : 2, 2),
          })
          .map(({ kind, item, length }) => (kind === "fixedSizeList" ? { kind, item, length } : { kind, item })),
      );
    case "dictionary":
      return fc.oneof(
        typeNear(type.value),
        valid(fc.record({ kind: fc.constant("dictionary"), index: kinds(integers), value: typeNear(type.value) })),
      );
    case "struct":
    case "fixedSizeBinary":
    case "unknown":
      return fc.constant(type);
    default: {
      const own = valid(fc.oneof(...families.filter((family) => holds(family, type))));
      const dictionary = valid(fc.record({ kind: fc.constant("dictionary"), index: kinds(integers), value: own }));
      // Without a valid value the filter of a dictionary would never find one.
      return dictionaryKinds.test(type.kind)
        ? fc.oneof({ weight: 4, arbitrary: own }, { weight: 1, arbitrary: dictionary })
        : own;
    }
  }
}

const dictionaryKinds = /^(u?int|float|utf8|largeUtf8|binary|largeBinary|bool)/;

const familyKinds: ReadonlyMap<fc.Arbitrary<unknown>, ReadonlySet<string>> = new Map(
  families.map((family) => [
    family,
    new Set(fc.sample(family, { numRuns: 200, seed: 1 }).map((type) => (type as { kind: string }).kind)),
  ]),
);

function holds(family: fc.Arbitrary<unknown>, type: DataType): boolean {
  return familyKinds.get(family)!.has(type.kind);
}
