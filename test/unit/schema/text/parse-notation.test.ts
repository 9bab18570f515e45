import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { formatType, type DataType } from "../../../../src/schema/data-type.ts";
import { notationOf } from "../../../../src/schema/text/parse-notation.ts";
import { rounds } from "../../../support/rounds.ts";

const read = (text: string) => notationOf(text, "flag", "FORM");

const plain = fc.constantFrom<DataType>(
  { kind: "int8" },
  { kind: "uint64" },
  { kind: "largeUtf8" },
  { kind: "null" },
  { kind: "date64" },
  { kind: "decimal128", precision: 10, scale: 2 },
  { kind: "fixedSizeBinary", length: 16 },
  { kind: "time64", unit: "ns" },
  { kind: "duration", unit: "s" },
  { kind: "timestamp", unit: "us" },
  { kind: "timestamp", unit: "ns", zone: "America/Argentina/Buenos_Aires" },
  { kind: "dictionary", index: { kind: "int8" }, value: { kind: "utf8" } },
);

const name = fc.constantFrom("a", "größe", "not_null", "list", "int32", "_x", "名", "a-b", "1");

const { type } = fc.letrec<{ type: DataType }>((tie) => {
  const child = fc.record({ type: tie("type"), nullable: fc.boolean() });
  const item = child.map((column) => ({ name: "item", ...column }));
  const fields = fc.uniqueArray(fc.tuple(name, child), { minLength: 1, maxLength: 3, selector: ([own]) => own });
  return {
    type: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      plain,
      fc.record({ kind: fc.constantFrom("list" as const, "largeList" as const), item }),
      fc.record({ kind: fc.constant("fixedSizeList" as const), item, length: fc.integer({ min: 1, max: 4096 }) }),
      fields.map((pairs): DataType => ({
        kind: "struct",
        fields: pairs.map(([own, column]) => ({ name: own, ...column })),
      })),
    ),
  };
});

test("a type is read as it is printed, in either kind of brackets and any spaces and letters", () => {
  fc.assert(
    fc.property(type, fc.boolean(), (one, nullable) => {
      const text = `${formatType(one)}${nullable ? "" : " not null"}`;
      const round = text.replaceAll("<", "(").replaceAll(">", ")");
      for (const written of [text, round, text.replaceAll(", ", " ,  "), text.replace("not null", "NOT  NULL")]) {
        const notation = read(written);
        expect(notation.type()).toEqual({ type: one, nullable });
        notation.end();
      }
    }),
    { numRuns: rounds(300, 1_000) },
  );
});

test("any name is read in backticks and in double quotes", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: "binary" }), (own) => {
      expect(read(`\`${own.replaceAll("`", "``")}\``).name()).toBe(own);
      expect(read(`"${own.replaceAll('"', '""')}"`).name()).toBe(own);
    }),
  );
});

test("whatever is typed ends in a value or in a sentence", () => {
  const reads = ["type", "column", "columns", "index", "json", "sql", "name", "end"] as const;
  fc.assert(
    fc.property(
      fc.constantFrom(...reads),
      fc.oneof(
        fc.string(),
        fc.string().map((rest) => `struct<a: list<${rest}`),
      ),
      (what, text) => {
        try {
          read(text)[what]();
        } catch (error) {
          expect(error).toMatchObject({ code: "ERR_NOTATION" });
        }
      },
    ),
    { numRuns: rounds(600, 2_000) },
  );
});

test.each([
  ["t.c", 'expected ":" and the type of t.c, such as utf8, at its end'],
  ["t.c utf8", 'expected ":" and the type of t.c, such as utf8, where "utf8" stands'],
  ["t.s.f:", "expected the type of t.s.f, such as utf8, at its end"],
  ["t.c:list<>", 'expected the type of its items where ">" stands'],
])("the type of a column is asked for by the column's name: %s", (text, words) => {
  const notation = read(text);
  notation.column();
  expect(() => notation.columnType()).toThrow(`: ${words}; it is written`);
});

test("so is the type of a column of a new table", () => {
  expect(() => read("(id int64, title)").columns()).toThrow(
    'expected the type of title, such as utf8, where ")" stands',
  );
});

test.each([
  ["double", "there is no type double; did you mean float64?"],
  ["struct<>", 'expected a name where ">" stands'],
  ["vector(768", 'expected ")" at its end'],
  [
    'timestamp("us","UTC")',
    "the units are s, ms, us and ns, and are written without quotes, as is the time zone: timestamp(us, UTC)",
  ],
  ["timestamp", 'expected "<" or "(" at its end'],
  ["decimal128(10)", 'expected "," where ")" stands'],
])("%s is refused in words", (text, words) => {
  expect(() => read(text).type()).toThrow(`--flag ${JSON.stringify(text)}: ${words}; it is written --flag "FORM"`);
});
