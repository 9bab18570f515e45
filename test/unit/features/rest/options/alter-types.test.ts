/** Against ../shared/facts/wire.md, section 3: three vocabularies share one form. */
import { describe, expect, test } from "vitest";
import { bool } from "../../../../../src/index.ts";
import type { Column, DataType } from "../../../../../src/schema/data-type.ts";
import { withWholeStructs } from "../../../../../src/actions/rewrite/retype-whole-structs.ts";
import { toWire, unwritable, type Vocabulary } from "../../../../../src/features/rest/options/alter-types.ts";

const field = (name: string, type: DataType, nullable = true): Column => ({ name, type, nullable });
const item = (type: DataType, nullable = true) => field("item", type, nullable);
const of = (type: unknown, nullable = true) => [{ name: "item", type, nullable }];
const plain = (kind: "int32" | "int64" | "float16" | "float32" | "utf8"): DataType => ({ kind });

/** A type in each vocabulary that has a name which keeps all of it. */
type Row = readonly [title: string, type: DataType, lance: unknown, arrow?: unknown, string?: string];

const same = (kind: "int8" | "bool") => [{ kind }, { type: kind }, { type: kind }, kind] as const;
const rows: readonly Row[] = [
  ...(
    ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "null", "binary"] as const
  ).map((kind): Row => [kind, ...same(kind as "int8")]),
  ["float16", { kind: "float16" }, { type: "halffloat" }, { type: "float16" }, "float16"],
  ["float32", { kind: "float32" }, { type: "float" }, { type: "float32" }, "float32"],
  ["float64", { kind: "float64" }, { type: "double" }, { type: "float64" }, "float64"],
  ["utf8", { kind: "utf8" }, { type: "string" }, { type: "utf8" }, "utf8"],
  ["large utf8", { kind: "largeUtf8" }, { type: "large_string" }, { type: "large_utf8" }, "large_utf8"],
  ["large binary", { kind: "largeBinary" }, { type: "large_binary" }, { type: "large_binary" }, "large_binary"],
  [
    "fixed size binary",
    { kind: "fixedSizeBinary", length: 16 },
    { type: "fixed_size_binary", length: 16 },
    { type: "fixed_size_binary", length: 16 },
  ],
  ["date32", { kind: "date32" }, { type: "date32:day" }, { type: "date32" }, "date32"],
  ["date64", { kind: "date64" }, { type: "date64:ms" }, { type: "date64" }, "date64"],
  ["time32 s", { kind: "time32", unit: "s" }, { type: "time32:s" }],
  ["time32 ms", { kind: "time32", unit: "ms" }, { type: "time32:ms" }],
  ["time64 us", { kind: "time64", unit: "us" }, { type: "time64:us" }],
  ["time64 ns", { kind: "time64", unit: "ns" }, { type: "time64:ns" }],
  ["timestamp us", { kind: "timestamp", unit: "us" }, { type: "timestamp:us:-" }, { type: "timestamp" }, "timestamp"],
  ...(["s", "ms", "ns"] as const).map((unit): Row => [
    `timestamp ${unit}`,
    { kind: "timestamp", unit },
    { type: `timestamp:${unit}:-` },
  ]),
  ["timestamp with a zone", { kind: "timestamp", unit: "us", zone: "UTC" }, { type: "timestamp:us:UTC" }],
  [
    "timestamp with a zone's long name",
    { kind: "timestamp", unit: "ns", zone: "Europe/Berlin" },
    { type: "timestamp:ns:Europe/Berlin" },
  ],
  ["duration us", { kind: "duration", unit: "us" }, { type: "duration:us" }, { type: "duration" }, "duration"],
  ...(["s", "ms", "ns"] as const).map((unit): Row => [
    `duration ${unit}`,
    { kind: "duration", unit },
    { type: `duration:${unit}` },
  ]),
  [
    "decimal",
    { kind: "decimal128", precision: 38, scale: 10 },
    { type: "decimal:128:38:10" },
    { type: "decimal128", length: 38010 },
  ],
  ["decimal with a negative scale", { kind: "decimal128", precision: 10, scale: -2 }, { type: "decimal:128:10:-2" }],
  [
    "decimal without a scale",
    { kind: "decimal128", precision: 9, scale: 0 },
    { type: "decimal:128:9:0" },
    { type: "decimal128", length: 9000 },
  ],
  [
    "dictionary",
    { kind: "dictionary", index: { kind: "int32" }, value: { kind: "utf8" } },
    { type: "dict:string:int32:false" },
  ],
  [
    "dictionary of large binaries",
    { kind: "dictionary", index: { kind: "uint8" }, value: { kind: "largeBinary" } },
    { type: "dict:large_binary:uint8:false" },
  ],
  [
    "vector",
    { kind: "fixedSizeList", item: item(plain("float32")), length: 768 },
    { type: "fixed_size_list", length: 768, fields: of({ type: "float" }) },
    { type: "fixed_size_list", length: 768, fields: of({ type: "float32" }) },
  ],
  [
    "vector of half floats",
    { kind: "fixedSizeList", item: item(plain("float16")), length: 8 },
    { type: "fixed_size_list", length: 8, fields: of({ type: "halffloat" }) },
    { type: "fixed_size_list", length: 8, fields: of({ type: "float16" }) },
  ],
  [
    "vector of vectors",
    {
      kind: "fixedSizeList",
      item: item({ kind: "fixedSizeList", item: item(plain("float32")), length: 3 }),
      length: 2,
    },
    {
      type: "fixed_size_list",
      length: 2,
      fields: of({ type: "fixed_size_list", length: 3, fields: of({ type: "float" }) }),
    },
    {
      type: "fixed_size_list",
      length: 2,
      fields: of({ type: "fixed_size_list", length: 3, fields: of({ type: "float32" }) }),
    },
  ],
  [
    "list of what has no name",
    { kind: "list", item: item({ kind: "time32", unit: "s" }) },
    { type: "list", fields: of({ type: "time32:s" }) },
  ],
  [
    "struct",
    { kind: "struct", fields: [field("a", plain("int32"), false), field("b", plain("utf8"))] },
    {
      type: "struct",
      fields: [
        { name: "a", type: { type: "int32" }, nullable: false },
        { name: "b", type: { type: "string" }, nullable: true },
      ],
    },
    {
      type: "struct",
      fields: [
        { name: "a", type: { type: "int32" }, nullable: false },
        { name: "b", type: { type: "utf8" }, nullable: true },
      ],
    },
  ],
  [
    "struct that holds what has no name",
    { kind: "struct", fields: [field("a", plain("int32")), field("b", { kind: "timestamp", unit: "ns" })] },
    {
      type: "struct",
      fields: [
        { name: "a", type: { type: "int32" }, nullable: true },
        { name: "b", type: { type: "timestamp:ns:-" }, nullable: true },
      ],
    },
  ],
];

const vocabularies: readonly Vocabulary[] = ["lance", "arrow", "string"];
const cases = rows.flatMap(([title, type, ...wire]) =>
  vocabularies.map((vocabulary, index) => ({ title, type, vocabulary, wire: wire[index] })),
);

describe("a retype names the type of", () => {
  const named = cases.filter(({ wire }) => wire !== undefined);
  test.each(named)("$title in $vocabulary's words", ({ type, vocabulary, wire }) => {
    expect(unwritable({ path: "a", type }, vocabulary)).toBeUndefined();
    expect(toWire({ path: "a", type }, vocabulary, [field("a", plain("int64"))])).toEqual({
      path: "a",
      data_type: wire,
    });
  });

  const unnamed = cases.filter(({ wire }) => wire === undefined);
  test.each(unnamed)("$title nowhere, because $vocabulary has no word for it", ({ type, vocabulary }) => {
    const reason = unwritable({ path: "a.b", type }, vocabulary);
    expect(reason).toMatch(
      new RegExp(`^its service has no name for .+ \\(types: "${vocabulary}"\\), so a\\.b can't be retyped to it$`),
    );
    expect(reason).not.toMatch(/undefined|\[object/);
  });
});

describe("an alteration without a type", () => {
  test.each([
    [{ path: "a", rename: "b" }],
    [{ path: "a", nullable: false }],
    [{ path: "a", nullable: true }],
    [{ path: "`a.b`.c", rename: "d", nullable: true }],
  ])("%j is written as it is in every vocabulary", (alteration) => {
    for (const vocabulary of vocabularies) {
      expect(unwritable(alteration, vocabulary)).toBeUndefined();
      // What is not set is left out of the body, never null.
      expect(JSON.parse(JSON.stringify(toWire(alteration, vocabulary, [])))).toEqual(alteration);
    }
  });
});

describe("lists", () => {
  const list = (type: DataType, kind: "list" | "largeList" = "list"): DataType => ({ kind, item: item(type, false) });

  test.each([
    ["lance", { type: "list", fields: of({ type: "int64" }, false) }],
    ["arrow", { type: "list", fields: of({ type: "int64" }, false) }],
  ] as const)("have their item inside in %s's words", (vocabulary, data_type) => {
    expect(toWire({ path: "l", type: list(plain("int64")) }, vocabulary, [])).toEqual({ path: "l", data_type });
  });

  test.each([
    ["lance", { type: "large_list", fields: of({ type: "string" }, false) }],
    ["arrow", { type: "large_list", fields: of({ type: "utf8" }, false) }],
  ] as const)("that are large do too in %s's words", (vocabulary, data_type) => {
    expect(toWire({ path: "l", type: list(plain("utf8"), "largeList") }, vocabulary, [])).toEqual({
      path: "l",
      data_type,
    });
  });

  test.each(["list", "largeList"] as const)("as plain strings are retyped by the path of the item (%s)", (kind) => {
    const columns = [field("l", list(plain("int32"), kind))];
    expect(unwritable({ path: "l", type: list(plain("int64"), kind) }, "string")).toBeUndefined();
    expect(toWire({ path: "l", type: list(plain("int64"), kind) }, "string", columns)).toEqual({
      path: "l.item",
      data_type: "int64",
    });
  });

  test.each<readonly [string, { rename?: string; nullable?: boolean }, DataType]>([
    ["a rename", { rename: "m" }, list(plain("int32"))],
    ["a nullability", { nullable: true }, list(plain("int32"))],
    ["another kind of list before", {}, list(plain("int32"), "largeList")],
  ])("as plain strings with %s are refused and not half written", (_, more, was) => {
    const alteration = { path: "l", type: list(plain("int64")), ...more };
    expect(() => toWire(alteration, "string", [field("l", was)])).toThrow("as plain strings");
  });
});

describe("a field of a struct", () => {
  // The engine loses rows from sight unless the others are cast too, so those need names as well (whole-structs.ts).
  const columns = [
    field("s", {
      kind: "struct",
      fields: [
        field("a", plain("int32")),
        field("at", { kind: "timestamp", unit: "ns" }),
        field("l", { kind: "list", item: item({ kind: "timestamp", unit: "ns" }) }),
      ],
    }),
  ];
  const retype = { path: "s.a", type: plain("int64") };

  test.each(["arrow", "string"] as const)(
    "is never written without the types of the others that %s has no word for",
    (vocabulary) => {
      const write = () => withWholeStructs(columns, [retype]).map((one) => toWire(one, vocabulary, columns));
      let written: readonly unknown[];
      try {
        written = write();
      } catch {
        return;
      }
      // An alteration that alters nothing is none: what was to be cast is not.
      for (const one of JSON.parse(JSON.stringify(written)) as readonly object[])
        expect(Object.keys(one).length).toBeGreaterThan(1);
    },
  );

  test("is written with the others in Lance's words", () => {
    const written = withWholeStructs(columns, [retype]).map((one) => toWire(one, "lance", columns));
    expect(written).toEqual([
      { path: "s.a", data_type: { type: "int64" } },
      { path: "s.at", data_type: { type: "timestamp:ns:-" } },
      { path: "s.l", data_type: { type: "list", fields: of({ type: "timestamp:ns:-" }) } },
    ]);
  });
});

test("the builders' types are those of this table", () => {
  expect(toWire({ path: "a", type: bool().type }, "lance", [])).toEqual({ path: "a", data_type: { type: "bool" } });
});
