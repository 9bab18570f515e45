/** JSON and blob columns: pylance and the clients read what steps write, and can add rows afterwards. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { connect } from "@lancedb/lancedb";
import { createRequire } from "node:module";
import type { RowValues } from "../../src/schema/row-values.ts";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { aProjectOn, key, type Way } from "../e2e/support/project-on.ts";
import { lacks } from "../support/needs.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";
import { startJudge } from "./judge.ts";

const require = createRequire(import.meta.url);
const arrow = require("apache-arrow") as typeof import("apache-arrow");

const ways = ["lance", "namespace"] as const;
/** For each commit, each test is on the way on which the other one is not. */
const inTurn = (all: readonly Way[]) => ofThisCommit(all, 2);

test.skipIf(lacks("python")).each(inTurn(ways))("JSON of rows is stored as JSON, on %s", async (way) => {
  await using judge = startJudge();
  const { data, migrate, migration } = await aProjectOn(way);
  const rows: readonly RowValues[] = [
    { id: 1, j: '{"a":[1,2.5,null,"é"],"b":true}' },
    { id: 2, j: null },
    { id: 3, j: '"text"' },
  ];
  const more = { id: 4, j: "[]" };
  migration("0001_t.ts", `m.createTable("t", { id: m.int32(), j: m.json() }, { rows: ${JSON.stringify(rows)} }),`);
  migration("0002_more.ts", `m.insertRows("t", ${JSON.stringify([more])}, { key: "id" }),`);
  expect(await migrate(["up"], key)).toMatchObject({ code: 0 });
  expect(await judge.difference(join(data, "t.lance"), [...rows, more])).toBeNull();
  const table = await (await lancedb.connect(data)).openTable("t");
  expect(await table.countRows("json_extract(j, '$.b') = 'true'")).toBe(1);
  expect(await migrate(["verify"], key)).toMatchObject({ code: 0 });
});

/** Tables of an application, with a JSON and a blob column, and with one of each in a struct. */
async function tablesOfApplication(data: string) {
  const json = (name: string) =>
    new arrow.Field(
      name,
      new arrow.Utf8(),
      true,
      new Map(Object.entries({ "ARROW:extension:name": "arrow.json", "ARROW:extension:metadata": "" })),
    );
  const struct = new arrow.Struct([json("doc"), lancedb.blob("raw")] as never);
  const id = new arrow.Field("id", new arrow.Int32());
  const db = await lancedb.connect(data);
  await db.createEmptyTable("t", new arrow.Schema([id, json("j"), lancedb.blob("b") as never]));
  await db.createEmptyTable("nested", new arrow.Schema([id, new arrow.Field("s", struct)]));
}

/** What the application adds and reads, in Python. */
const python = `
import json, sys, lance, lancedb, pyarrow as pa
sys.path.insert(0, sys.argv[2])
import models
t = lancedb.connect(sys.argv[1]).open_table("t")
t.add([{"id": 1, "j": {"a": 1}, "b": b"one"}])
t.add([{"id": 2, "j": '{"a":2}', "b": None}])
t.add(pa.table({"id": pa.array([3], pa.int32()), "j": pa.array(['{"a":3}'], pa.json_()), "b": lance.blob.blob_array([b"three"])}))
t.add([models.T(id=4, j='{"a":4}', b={"data": b"four"})])
nested = lancedb.connect(sys.argv[1]).open_table("nested")
inside = {"doc": "[7]", "raw": {"data": b"in", "uri": None, "position": None, "size": None}}
nested.add([{"id": 1, "s": inside}])
assert nested.schema.field("s").type.field("raw").type == models.nested_schema.field("s").type.field("raw").type
assert nested.search().to_list()[0]["s"]["doc"] == "[7]"
assert [one.readall() for one in lance.dataset(f"{sys.argv[1]}/nested.lance").take_blobs("s.raw", indices=[0])] == [b"in"]
ds = lance.dataset(f"{sys.argv[1]}/t.lance")
rows = ds.to_table(columns=["id", "j"]).to_pylist()
blobs = [one and one.readall() for one in ds.take_blobs("b", indices=range(4))]
print(json.dumps([[row["id"], json.loads(row["j"]), b and b.decode()] for row, b in zip(rows, blobs)]))
assert models.T.to_arrow_schema().field("b").type == t.schema.field("b").type
found = t.search().limit(9).to_pydantic(models.T)
assert [json.loads(one.j) for one in found] == [{"a": n} for n in (1, 2, 3, 4)], found
`;

test.skipIf(lacks("python")).each(inTurn(ways.toReversed()))(
  "pull knows JSON and blobs, and a new table takes what applications add, on %s",
  async (way: Way) => {
    const old = await aProjectOn(way);
    await tablesOfApplication(old.data);
    expect(await old.migrate(["pull"], key)).toMatchObject({ code: 0, stderr: expect.not.stringContaining("ARROW") });
    const pulled = readFileSync(join(old.folder, "migrations/0001_adopt.ts"), "utf8");
    expect(pulled).not.toContain("setMetadata");
    expect(pulled).toContain("s: struct({ doc: json(), raw: blob() })");
    expect(await old.migrate(["baseline"], key)).toMatchObject({ code: 0 });
    expect(await old.migrate(["verify"], key)).toMatchObject({ code: 0 });
    expect(await old.migrate(["generate"], key)).toMatchObject({ code: 0 });

    const { data, folder, migrate, write } = await aProjectOn(way);
    write("migrations/0001_adopt.ts", pulled);
    expect(await migrate(["up"], key)).toMatchObject({ code: 0 });
    expect(await migrate(["verify"], key)).toMatchObject({ code: 0 });
    expect(await migrate(["types", "--out", "models.py"])).toMatchObject({ code: 0 });
    const printed = execFileSync(pythonWith(...officialPackages), ["-c", python, data, folder], { encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual([
      [1, { a: 1 }, "one"],
      [2, { a: 2 }, null],
      [3, { a: 3 }, "three"],
      [4, { a: 4 }, "four"],
    ]);
    const table = await (await connect(data)).openTable("t");
    await table.add([{ id: 5, j: '{"a":5}', b: Buffer.from("five") }]);
    const [row] = await table.query().where("id = 5").withRowId().toArray();
    expect(row.j).toBe('{"a":5}');
    expect((await table.fetchBlobs("b", [row._rowid as bigint])).map(String)).toEqual(["five"]);
    expect(await migrate(["verify"], key)).toMatchObject({ code: 0 });
  },
);
