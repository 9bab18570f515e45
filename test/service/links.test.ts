/** Symbolic links in the data folder of a service: none is followed. */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startIn, aService, apiKey, arrow, connectTo, type Served } from "./served.ts";
import { treeOf } from "../support/files.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import { send } from "./raw.ts";

const rows = arrow.tableToIPC(new arrow.Table({ id: arrow.vectorFromArray([7], new arrow.Int32()) }), "stream");
const asArrow = { "x-api-key": apiKey, "content-type": "application/vnd.apache.arrow.stream" };
const asJson = { "x-api-key": apiKey, "content-type": "application/json" };

/** A service with table `t`, and a folder outside with table `a` and a file. */
async function aScene(): Promise<Served & { readonly outside: string }> {
  const served = await aService();
  const outside = temporaryFolder();
  writeFileSync(join(outside, "thesis.txt"), "the only copy");
  await (await lancedb.connect(outside)).createTable("a", [{ id: 1 }]);
  await served.remote.createTable("t", [{ id: 1 }]);
  return { ...served, outside };
}

async function post({ service, folder }: Served, path: string, body: Uint8Array | object) {
  const isArrow = body instanceof Uint8Array;
  const sent = isArrow ? body : JSON.stringify(body);
  const answer = await send(service.url, { path, headers: isArrow ? asArrow : asJson, body: sent });
  expect(answer.body.includes(folder)).toBe(false);
  return { status: answer.status, body: answer.body.toString() };
}

const refused = {
  status: 400,
  body: expect.stringMatching(/"error":"[^"]* is a symbolic link, which is not followed/),
};

/** Every route that names a table, with a body that it accepts. */
const requests = (name: string): readonly (readonly [string, Uint8Array | object])[] => [
  [`/v1/table/${name}/describe`, {}],
  [`/v1/table/${name}/count_rows`, {}],
  [`/v1/table/${name}/query`, { vector: [], k: 1 }],
  [`/v1/table/${name}/insert`, rows],
  [`/v1/table/${name}/insert?mode=overwrite`, rows],
  [`/v1/table/${name}/merge_insert?on=id&when_not_matched_insert_all=true`, rows],
  [`/v1/table/${name}/update`, { updates: [["id", "2"]] }],
  [`/v1/table/${name}/delete`, { predicate: "id = 1" }],
  [`/v1/table/${name}/create?mode=create`, rows],
  [`/v1/table/${name}/create?mode=overwrite`, rows],
  [`/v1/table/${name}/create?mode=exist_ok`, rows],
  [`/v1/table/${name}/rename`, { new_table_name: "other" }],
  [`/v1/table/${name}/drop`, {}],
  [`/v1/table/${name}/add_columns`, { new_columns: [{ name: "c", expression: "1" }] }],
  [`/v1/table/${name}/alter_columns`, { alterations: [{ path: "id", rename: "key" }] }],
  [`/v1/table/${name}/drop_columns`, { columns: ["id"] }],
  [`/v1/table/${name}/restore`, { version: 1 }],
  [`/v1/table/${name}/tags/create`, { tag: "one", version: 1 }],
  [`/v1/table/${name}/create_index`, { column: "id", index_type: "BTREE" }],
  [`/v1/table/t/rename`, { new_table_name: name }],
];

test.each([
  ["outside", (outside: string) => join(outside, "a.lance")],
  ["nowhere", (outside: string) => join(outside, "nothing")],
  ["to another table", () => "t.lance"],
])("no route follows a table's folder that is a link %s, and it is not listed", async (_, to) => {
  const scene = await aScene();
  symlinkSync(to(scene.outside), join(scene.folder, "x.lance"));
  const before = [treeOf(scene.outside), treeOf(scene.folder)];
  for (const [path, body] of requests("x")) expect([path, await post(scene, path, body)]).toEqual([path, refused]);
  expect((await post(scene, "/v1/table/x/exists", {})).status).toBe(404);
  expect(await scene.remote.tableNames()).toEqual(["t"]);
  expect([treeOf(scene.outside), treeOf(scene.folder)]).toEqual(before);
});

test("no route follows a link inside a table's folder", async () => {
  const scene = await aScene();
  await scene.remote.createTable("x", [{ id: 1 }]);
  renameSync(join(scene.folder, "x.lance", "_versions"), join(scene.outside, "versions"));
  symlinkSync(join(scene.outside, "versions"), join(scene.folder, "x.lance", "_versions"));
  const before = treeOf(scene.outside);
  // Renaming another table to this name is refused because the name is taken.
  for (const [path, body] of requests("x").filter(([path]) => path.includes("/x/")))
    expect([path, await post(scene, path, body)]).toEqual([path, refused]);
  expect(treeOf(scene.outside)).toEqual(before);
});

test("a private folder that is a link gets no tables and no bodies, and what it leads to stays", async () => {
  const scene = await aScene();
  rmSync(join(scene.folder, ".lance-migrate"), { recursive: true, force: true });
  symlinkSync(scene.outside, join(scene.folder, ".lance-migrate"));
  const before = treeOf(scene.outside);
  const large = arrow.tableToIPC(new arrow.Table({ id: arrow.vectorFromArray(new Int32Array(200_000)) }), "stream");
  expect(await post(scene, "/v1/tables/u", rows)).toEqual(refused);
  expect(await post(scene, "/v1/table/t/insert", large)).toEqual(refused);
  expect(await post(scene, "/v1/table/t/drop", {})).toEqual(refused);
  expect((await post(scene, "/v1/table/t/count_rows", {})).body).toBe("1");
  expect(treeOf(scene.outside)).toEqual(before);
  expect(lstatSync(join(scene.folder, ".lance-migrate")).isSymbolicLink()).toBe(true);
  await expect(startIn(scene.folder)).rejects.toThrow(/\.lance-migrate .* is a symbolic link/);
});

test("a service whose data folder is a link works on what it leads to", async () => {
  const home = temporaryFolder();
  mkdirSync(join(home, "real"));
  symlinkSync("real", join(home, "link"));
  const { service } = await startIn(join(home, "link"));
  try {
    const remote = await connectTo(service.url);
    await remote.createTable("t", [{ id: 1 }]);
    expect(await (await remote.openTable("t")).countRows()).toBe(1);
    expect(readdirSync(join(home, "real"))).toEqual(["t.lance"]);
    await remote.dropTable("t");
    expect(existsSync(join(home, "real", "t.lance"))).toBe(false);
    remote.close();
  } finally {
    await service.close();
  }
});
