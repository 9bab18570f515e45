/** Queries through the service return what they return on the folder, also where both protocols make it hard. */
import { expect, test } from "vitest";
import { lancedb } from "../support/tables.ts";
import { aService, apiKey, arrow, type Served, type Table } from "./served.ts";

async function aServiceOfRows() {
  const served = await aService();
  const near = await served.local.createTable("t", [
    { id: 1, n: 5, text: "a", vector: [0, 1] },
    { id: 2, n: 7, text: "a b", vector: [1, 1] },
  ]);
  return { ...served, near, far: await served.remote.openTable("t") };
}

async function ask({ service }: Served, body: object) {
  const answer = await fetch(`${service.url}/v1/table/t/query`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ vector: [], k: 5, ...body }),
  });
  if (!answer.ok) return [answer.status, ((await answer.json()) as { error: string }).error] as const;
  const table = arrow.tableFromIPC(await answer.bytes());
  return [answer.status, table.schema.fields.map(({ name }) => name)] as const;
}

test("columns whose names are whole numbers come in the order in which the client sent them", async () => {
  const { far, near } = await aServiceOfRows();
  // The client sends them sorted.
  const columns = new Map(["10", "2", "a"].map((name) => [name, "id"]));
  const [here, there] = [await near.query().select(columns).toArrow(), await far.query().select(columns).toArrow()];
  expect(there.schema.names).toEqual(["10", "2", "a"]);
  expect(there.schema.names).toEqual(here.schema.names);
});

test("columns with names of other kinds come in the order in which they were sent", async () => {
  const served = await aServiceOfRows();
  expect(await ask(served, { columns: { b: "id", "1x": "id", a: "n" } })).toEqual([200, ["b", "1x", "a"]]);
  expect(await ask(served, { columns: { column_aliases: { b: "id", a: "n" } } })).toEqual([200, ["b", "a"]]);
});

test("an empty filter is refused, as the engine refuses it", async () => {
  const { far, near } = await aServiceOfRows();
  await expect(near.query().where("").toArray()).rejects.toThrow("Expected: an expression");
  await expect(far.query().where("").toArray()).rejects.toThrow("Expected: an expression");
});

test("an empty vector is refused where a search by vector was meant", async () => {
  const served = await aServiceOfRows();
  await expect(served.near.query().nearestTo([]).toArray()).rejects.toThrow("dimension: 0");
  await expect(served.far.query().nearestTo([]).toArray()).rejects.toThrow("vector is empty");
  const sentence = (name: string) => `vector is empty, and ${name} is only for a search by vector`;
  expect(await ask(served, { vector_column: "vector" })).toEqual([400, sentence("vector_column")]);
  expect(await ask(served, { vector: null, bypass_vector_index: true })).toEqual([
    400,
    sentence("bypass_vector_index"),
  ]);
  // What means nothing may be sent.
  expect(await ask(served, { bypass_vector_index: false, ef: null, prefilter: false })).toEqual([
    200,
    ["id", "n", "text", "vector"],
  ]);
});

test("what the engine gives up on is refused as a request, not reported as a failure of the service", async () => {
  const { near, far } = await aServiceOfRows();
  await near.createIndex("id");
  const count = (table: Table) => table.countRows("_rowid = 1");
  await expect(count(near)).rejects.toThrow("a bug in DataFusion");
  await expect(count(far)).rejects.toThrow(/400 .*the engine gave up on this request/);
  await near.createIndex("text", { config: lancedb.Index.fts() });
  await near.add([{ id: 3, n: 1, text: "a", vector: [0, 0] }]);
  const nothing = (table: Table) => table.query().fullTextSearch("a").limit(0).toArray();
  await expect(nothing(near)).rejects.toThrow("assertion failed");
  await expect(nothing(far)).rejects.toThrow(/400 .*the engine gave up on this request/);
});
