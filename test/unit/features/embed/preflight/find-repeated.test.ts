import * as fc from "../../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { findRepeated } from "../../../../../src/features/embed/preflight/find-repeated.ts";

test("a key of wanted rows that another row has too is found, among any keys, and none where there is none", async () => {
  const rowsOf = fc.array(
    fc.record({ key: fc.option(fc.integer({ min: 0, max: 60 }).map(String)), isWanted: fc.boolean() }),
    { maxLength: 40 },
  );
  // So few bits that most keys are suspects, or as many as usual.
  const given = fc.tuple(rowsOf, fc.constantFrom(1, 1_000), fc.boolean());
  await fc.assert(
    fc.asyncProperty(given, async ([rows, total, isAll]) => {
      async function* batches(_table: string, { where }: { readonly where?: string | undefined }) {
        const those = rows.filter(({ isWanted }) => isAll || isWanted || where === undefined);
        for (let next = 0; next < those.length; next += 3) yield those.slice(next, next + 3);
      }
      const where = isAll ? undefined : "wanted";
      const found = await findRepeated({ rows: { batches }, table: "t", where, key: "key", total });
      const hasTwice = (key: string) => rows.filter((row) => row.key === key).length > 1;
      const repeated = rows.flatMap(({ key, isWanted }) =>
        key !== null && (isAll || isWanted) && hasTwice(key) ? [key] : [],
      );
      if (found === undefined) expect(repeated).toEqual([]);
      else expect(repeated).toContain(found.key);
    }),
  );
});

test("a row that ceases to be wanted between two queries is not taken for two rows, and the predicate is evaluated once", async () => {
  // In few bits, so that most keys are suspects.
  const all = Array.from({ length: 40 }, (_, at) => ({ key: String(at) }));
  const asked: unknown[] = [];
  async function* batches(_table: string, { where }: { readonly where?: string | undefined }) {
    asked.push(where);
    yield where?.startsWith("not") === true ? all.slice(30) : all;
  }
  const given = { rows: { batches }, table: "t", where: "wanted", key: "key", total: 1 };
  expect(await findRepeated(given)).toBeUndefined();
  expect(asked).toEqual(["wanted", undefined, undefined]);
});
