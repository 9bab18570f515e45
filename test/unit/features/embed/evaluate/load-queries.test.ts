import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadQueries } from "../../../../../src/features/embed/evaluate/load-queries.ts";
import { temporaryFolder } from "../../../../support/project.ts";

async function load(code: string, from: readonly string[] = ["text"]) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "queries.mjs"), code);
  return await loadQueries("./queries.mjs", folder, from);
}

test("queries come from a list or a function, with texts or the columns that the code reads", async () => {
  const list = `[{ query: "a", expected: [1, "x", 2n, 1] }, { query: { text: "b" }, old: [1], new: new Float32Array([2, 3]) }]`;
  const queries = [
    { text: "a", sources: { text: "a" }, expected: ["1", "x", "2"], old: undefined, new: undefined },
    { text: '{"text":"b"}', sources: { text: "b" }, expected: undefined, old: [1], new: [2, 3] },
  ];
  expect(await load(`export default ${list};`)).toEqual(queries);
  expect(await load(`export default async () => ${list};`)).toEqual(queries);
  expect(await load(`export default [{ query: { a: "1", b: null } }];`, ["a", "b"])).toMatchObject([
    { sources: { a: "1", b: null } },
  ]);
});

test.for<[string, string, string[]?]>([
  [`export const queries = [];`, "its default export is no list of queries, nor a function of one"],
  [`export default [];`, "it has no queries"],
  [`export default () => { throw new Error("no database"); };`, "no database"],
  [`export default [`, "Unexpected end of input"],
  [`export default ["a"];`, "query 1 is no object"],
  [`export default [{ query: "a" }, { text: "a" }];`, "query 2 has no `query`, a text or an object"],
  [
    `export default [{ query: "a" }];`,
    "query 1 is a text, and the step computes from title, body: give `query` an object with these columns",
    ["title", "body"],
  ],
  [`export default [{ query: { texts: "a" } }];`, "query 1 has texts, which is not one of the columns in `from`: text"],
  [`export default [{ query: "a", expected: [] }];`, "query 1 needs a list of keys as `expected`, or none"],
  [`export default [{ query: "a", expected: [null] }];`, "query 1 needs a list of keys as `expected`, or none"],
  [`export default [{ query: "a", old: "1" }];`, "query 1 needs vectors as `old` and `new`, or none"],
  [`export default [{ query: "a", new: [NaN] }];`, "query 1 needs vectors as `old` and `new`, or none"],
])("%s is refused", async ([code, problem, from]) => {
  await expect(load(code, from)).rejects.toThrow(`./queries.mjs: ${problem}`);
});
