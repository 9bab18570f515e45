/** Which keys of metadata break a table on the engine, against those that are refused. */
import { expect, test } from "vitest";
import { connect } from "../../src/engine/engine.ts";
import { columnsOf, int32, largeBinary, list, struct, utf8, vector } from "../../src/schema/declare/type-builders.ts";
import { reservedProblem } from "../../src/schema/reserved-metadata.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../support/project.ts";

const types = {
  int32: [int32(), 1],
  largeBinary: [largeBinary(), Buffer.from("x")],
  list: [list(int32()), [1, 2]],
  struct: [struct({ a: int32(), b: utf8() }), { a: 1, b: "x" }],
  utf8: [utf8(), "x"],
  vector: [vector(2), [1, 2]],
} as const;

/** What the engine can't do any more with a column of one of the types, once the key has that value. */
async function broken(key: string, value: string): Promise<readonly string[]> {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const problems: string[] = [];
  for (const [table, [type, one]] of Object.entries(types)) {
    await target.execute({ kind: "createTable", table, columns: columnsOf({ c: type }) }, undefined);
    const db = await connect({ uri: folder });
    await (await db.openTable(table)).add([{ c: one }]);
    const works = [
      async () => await (await db.openTable(table)).updateFieldMetadata([{ path: "c", metadata: { [key]: value } }]),
      async () => await (await db.openTable(table)).query().toArray(),
      async () => await (await db.openTable(table)).add([{ c: one }]),
    ];
    for (const [at, work] of works.entries())
      await work().catch(() => void problems.push(`${table}: ${["set", "read", "add"][at]!}`));
    db.close();
  }
  await target.close();
  return problems;
}

test.each([
  ["ARROW:extension:name", "lance.blob.v2"],
  ["ARROW:extension:name", "arrow.json"],
  ["ARROW:extension:name", "lance.json"],
  ["lance-encoding:blob", "true"],
  ["lance-encoding:blob", "false"],
  ["lance-encoding:packed", "true"],
  ["packed", "true"],
  ["lance-encoding:structural-encoding", "sparse"],
  ["computed_column", "true"],
])("%s = %s breaks a table, and is refused", async (key, value) => {
  expect(await broken(key, value)).not.toEqual([]);
  expect(reservedProblem(key, value)).toContain(key);
});

test.each([
  ["ARROW:extension:name", "arrow.uuid"],
  ["ARROW:extension:metadata", "{}"],
  ["lance-encoding:structural-encoding", "fullzip"],
  ["lance-encoding:compression", "zstd"],
  ["model", "e5-large"],
])("%s = %s breaks nothing, and is not refused", async (key, value) => {
  expect(await broken(key, value)).toEqual([]);
  expect(reservedProblem(key, value)).toBeUndefined();
});
