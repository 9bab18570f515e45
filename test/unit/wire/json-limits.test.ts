import * as fc from "../../support/fast-check.ts";
import { expect, test } from "vitest";
import { jsonExcess } from "../../../src/wire/json-limits.ts";

const text = fc.string({ unit: fc.constantFrom(...'[]{},"\\ab\n') });
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(text, fc.integer(), fc.constant(null)),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4 }),
  ),
}));

const inner = (json: unknown) => (typeof json === "object" && json !== null ? Object.values(json) : undefined);

function levelsOf(json: unknown): number {
  const values = inner(json);
  return values === undefined ? 0 : 1 + Math.max(0, ...values.map(levelsOf));
}

/** An object or a list counts as one value, and so does what is in it. */
function valuesIn(json: unknown): number {
  const values = inner(json);
  if (values === undefined) return 1;
  return values.length === 0 ? 2 : 1 + values.map(valuesIn).reduce((sum, one) => sum + one, 0);
}

test("levels and values are counted as a parser finds them, whatever texts hold", () => {
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (json, indent) => {
      fc.pre(typeof json === "object" && json !== null);
      const written = JSON.stringify(json, undefined, indent);
      const [levels, values] = [levelsOf(json), valuesIn(json)];
      expect(jsonExcess(written, { levels, values })).toBeUndefined();
      expect(jsonExcess(written, { levels: levels - 1 })).toBe(`is nested deeper than ${levels - 1} levels`);
      expect(jsonExcess(written, { levels, values: values - 1 })).toMatch(/^holds more than \d+ values$/);
    }),
    { numRuns: 500 },
  );
});

test.each(["", "5", '"[[[["', "<html>[[[[", "null"])("the text %j has no levels", (written) => {
  expect(jsonExcess(written, { levels: 0, values: 0 })).toBeUndefined();
});

test.each(['["abc', '["a\\', '["a\\"', '[{"a":[['])(
  "the text %j, which is cut off, is counted to its end",
  (written) => {
    expect(jsonExcess(written, { levels: 4 })).toBeUndefined();
  },
);
