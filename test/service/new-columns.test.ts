/** Columns that the engine would add or create, and that clients or the engine could not read afterwards. */
import { expect, test } from "vitest";
import type { DataType, Field } from "apache-arrow";
import { columnKinds } from "../clients/columns/javascript.ts";
import { streamType } from "../../src/wire/content-types.ts";
import { send } from "./raw.ts";
import { aService, apiKey, arrow, type Served } from "./served.ts";

async function aTable(): Promise<Served> {
  const served = await aService();
  const { field, values } = columnKinds["Int32"]!();
  const schema = new arrow.Schema([new arrow.Field("id", new arrow.Int32()), field]);
  const rows = new arrow.Table(schema, { id: arrow.vectorFromArray([1, 2], new arrow.Int32()), c: values } as never);
  await served.remote.createTable("t", rows as never);
  return served;
}

/** The status and the sentence of the refusal, after which the table must be as before. */
async function refusal({ service, remote }: Served, path: string, body: unknown) {
  const isArrow = body instanceof Uint8Array;
  const { status, body: bytes } = await send(service.url, {
    path,
    headers: { "x-api-key": apiKey, "content-type": isArrow ? streamType : "application/json" },
    body: isArrow ? body : JSON.stringify(body),
  });
  expect(await remote.tableNames()).toEqual(["t"]);
  expect(await (await remote.openTable("t")).version()).toBe(1);
  return [status, (JSON.parse(bytes.toString("utf8")) as { readonly error: string }).error];
}

const noMap = (place: string) => [
  501,
  `this service has no maps, as column ${place} has: LanceDB's clients could not open the table`,
];

test.each([
  ["map(['a'], [1])", "m"],
  ["named_struct('inside', map(['a'], [1]))", "m.inside"],
  ["make_array(map(['a'], [1]))", "m.item"],
])("no column is a map, not by %s either", async (expression, place) => {
  const served = await aTable();
  const added = { new_columns: [{ name: "m", expression }] };
  expect(await refusal(served, "/v1/table/t/add_columns", added)).toEqual(noMap(place));
});

test("columns of constants are added", async () => {
  const { remote } = await aTable();
  const table = await remote.openTable("t");
  await table.addColumns([
    { name: "zero", valueSql: "0" },
    { name: "nothing", valueSql: "cast(null as string)" },
  ]);
  expect((await table.query().toArray()).map((row) => row.toJSON())).toEqual([
    { id: 1, c: -(2 ** 31), zero: 0n, nothing: null },
    { id: 2, c: null, zero: 0n, nothing: null },
  ]);
});

/** A stream with a column of that type alone. */
function streamOf(type: DataType, metadata: Readonly<Record<string, string>> = {}, name = "m"): Uint8Array {
  const field = new arrow.Field(name, type, true, new Map(Object.entries(metadata)));
  return arrow.tableToIPC(new arrow.Table(new arrow.Schema([field])), "stream");
}

test("no column is a map, not by a schema either", async () => {
  const served = await aTable();
  const map = streamOf(columnKinds["Map"]!().field.type);
  for (const path of ["/v1/table/t/add_columns", "/v1/table/new/create", "/v1/table/t/insert?mode=overwrite"])
    expect(await refusal(served, path, map)).toEqual(noMap("m"));
});

const child = (name: string, type: DataType): Field => new arrow.Field(name, type, true);
const blobMetadata = { "ARROW:extension:name": "lance.blob.v2" };
/** As the engine writes them. `kind` 3 is a file anywhere on the machine. */
const ofEngine = new arrow.Struct([
  child("kind", new arrow.Uint8()),
  child("data", new arrow.LargeBinary()),
  child("uri", new arrow.Utf8()),
  child("blob_id", new arrow.Uint32()),
  child("blob_size", new arrow.Uint64()),
  child("position", new arrow.Uint64()),
]);
const inside = new arrow.Struct([new arrow.Field("b", ofEngine, true, new Map(Object.entries(blobMetadata)))]);

test.each([
  ["m", streamOf(ofEngine, blobMetadata)],
  ["m.b", streamOf(inside)],
])("a blob can't name a file outside the data folder: %s", async (place, stream) => {
  const served = await aTable();
  for (const path of ["/v1/table/t/add_columns", "/v1/table/new/create", "/v1/table/t/insert?mode=overwrite"])
    expect(await refusal(served, path, stream)).toEqual([
      400,
      `column ${place} is a blob with a field kind; send data and uri alone`,
    ]);
});

test("a blob's uri can't lead out of the data folder", async () => {
  const served = await aTable();
  const type = new arrow.Struct([child("data", new arrow.LargeBinary()), child("uri", new arrow.Utf8())]);
  for (const uri of ["file:///etc/hostname", "/etc/hostname", "../../etc/hostname", "s3://bucket/key"]) {
    const builder = arrow.makeBuilder({ type, nullValues: [null] });
    builder.append({ data: null, uri } as never);
    const field = new arrow.Field("m", type, true, new Map(Object.entries(blobMetadata)));
    const rows = new arrow.Table(new arrow.Schema([field]), { m: builder.finish().toVector() } as never);
    const [status, sentence] = await refusal(served, "/v1/table/new/create", arrow.tableToIPC(rows, "stream"));
    expect([status, sentence]).toEqual([400, expect.stringContaining("is outside registered external bases")]);
  }
});
