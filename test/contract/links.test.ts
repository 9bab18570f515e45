/**
 * Symbolic links in the folder of the tables: none is followed, so nothing outside is written or removed. The folder
 * itself may be a link.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { cloneTables } from "../../src/engine/clone-tables.ts";
import { createTable, renameTable } from "../../src/engine/create-table.ts";
import { dropTable } from "../../src/engine/drop-table.ts";
import { connect } from "../../src/engine/engine.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { toIpcFile } from "../../src/wire/arrow/arrow-schema.ts";
import { aProject, temporaryFolder } from "../support/project.ts";
import { treeOf } from "../support/files.ts";
import { addRows, lancedb, rowsOf } from "../support/tables.ts";

const file = Buffer.from(toIpcFile([{ name: "id", type: { kind: "int32" }, nullable: true }]));
const refusal = /is a symbolic link/;

/** A data folder, and a folder outside of it with a table and a file. */
async function aScene() {
  const home = temporaryFolder();
  const [folder, outside] = [join(home, "data"), join(home, "outside")];
  mkdirSync(folder);
  mkdirSync(outside);
  writeFileSync(join(outside, "thesis.txt"), "the only copy");
  await (await lancedb.connect(outside)).createTable("a", [{ id: 1 }, { id: 2 }]);
  return { folder, outside, place: { uri: folder, folder } };
}

/** A target for the folder, closed after the test. */
async function aTarget(folder: string) {
  const target = await open({ kind: "lance", uri: folder }, { name: "local", folder: "/" });
  onTestFinished(() => target.close());
  return target;
}

function makeOld(path: string): void {
  const longAgo = new Date(Date.now() - 48 * 3_600_000);
  utimesSync(path, longAgo, longAgo);
}

test("a private folder that is a link is not followed, and what it leads to stays", async () => {
  const { folder, outside, place } = await aScene();
  for (const name of readdirSync(outside)) makeOld(join(outside, name));
  symlinkSync(outside, join(folder, ".lance-migrate"));
  const db = await connect(place);
  const before = treeOf(outside);
  await expect(createTable(place, "t", file)).rejects.toThrow(refusal);
  await db.createTable("t", [{ id: 1 }]);
  await expect(dropTable(db, folder, "t")).rejects.toThrow(refusal);
  expect(treeOf(outside)).toEqual(before);
  expect(readdirSync(folder).toSorted()).toEqual([".lance-migrate", "t.lance"]);
});

test("clean-up of the private folder removes what has names that this tool gives, and nothing else", async () => {
  const { folder, outside, place } = await aScene();
  const inPrivate = (name: string) => join(folder, ".lance-migrate", name);
  const [ours, dropped, body] = [randomUUID(), `dropped-${randomUUID()}`, `body-${randomUUID()}`];
  for (const name of [ours, dropped, "notes", `dropped-notes`]) mkdirSync(inPrivate(name), { recursive: true });
  for (const name of [body, "todo.txt", randomUUID()]) writeFileSync(inPrivate(name), "text");
  const links = [randomUUID(), `dropped-${randomUUID()}`, `body-${randomUUID()}`];
  for (const name of links) symlinkSync(outside, inPrivate(name));
  symlinkSync(outside, join(inPrivate(ours), "out"));
  symlinkSync(outside, join(inPrivate(dropped), "out"));
  const others = readdirSync(inPrivate("")).filter((name) => ![ours, dropped, body].includes(name));
  for (const name of readdirSync(inPrivate("")).filter((name) => !links.includes(name))) makeOld(inPrivate(name));
  for (const name of readdirSync(outside)) makeOld(join(outside, name));
  const before = treeOf(outside);
  expect(await createTable(place, "t", file)).toBe(true);
  expect(await dropTable(await connect(place), folder, "t")).toBe(true);
  expect(readdirSync(inPrivate("")).toSorted()).toEqual(others.toSorted());
  expect(treeOf(outside)).toEqual(before);
});

const leading: readonly (readonly [string, (outside: string) => string])[] = [
  ["outside", (outside) => join(outside, "a.lance")],
  ["to an empty folder outside", (outside) => join(outside, "empty")],
  ["to another table of the folder", () => "b.lance"],
  ["nowhere", (outside) => join(outside, "nothing")],
];

test.each(leading)(
  "a table's folder that is a link %s is neither read, written, replaced nor dropped",
  async (_, to) => {
    const { folder, outside, place } = await aScene();
    mkdirSync(join(outside, "empty"));
    const db = await connect(place);
    await db.createTable("b", [{ id: 1 }]);
    const link = join(folder, "x.lance");
    symlinkSync(to(outside), link);
    const target = await aTarget(folder);
    const before = [treeOf(outside), treeOf(folder)];
    await expect(target.describeTable("x")).rejects.toThrow(refusal);
    await expect(target.discard!("x")).rejects.toThrow(refusal);
    await expect(target.countRows!("x", "id > 0")).rejects.toThrow(refusal);
    await expect(createTable(place, "x", file)).rejects.toThrow(refusal);
    await expect(dropTable(db, folder, "x")).rejects.toThrow(refusal);
    expect(() => renameTable(folder, "b", "x")).toThrow(refusal);
    expect(() => renameTable(folder, "x", "c")).toThrow(refusal);
    await expect(cloneTables(folder, ["x"], temporaryFolder())).rejects.toThrow(refusal);
    expect([treeOf(outside), treeOf(folder)]).toEqual(before);
  },
);

const parts = [
  "_versions",
  "data",
  "_transactions",
  "_deletions",
  "_indices",
  "_refs",
  "_refs/tags",
  "_refs/branches",
  "tree",
  "tree/lance-migrate",
];

test.each(parts)(
  "a table whose %s is a link is neither read nor dropped, and the message names the link",
  async (part) => {
    const { folder, outside, place } = await aScene();
    const db = await connect(place);
    const table = await db.createTable("x", [{ id: 1 }, { id: 2 }]);
    await table.createIndex("id", { config: lancedb.Index.btree() });
    await table.delete("id = 2");
    await (await table.tags()).create("one", 1);
    await (await table.branches()).create("lance-migrate/one", "main", 1);
    renameSync(join(folder, "x.lance", part), join(outside, "part"));
    symlinkSync(join(outside, "part"), join(folder, "x.lance", part));
    const target = await aTarget(folder);
    const before = [treeOf(outside), treeOf(folder)];
    await expect(target.describeTable("x")).rejects.toThrow(
      `x.lance/${part} in the folder of the tables is a symbolic link`,
    );
    await expect(target.discard!("x")).rejects.toThrow(refusal);
    await expect(target.versions!.keep("x", 1, "two")).rejects.toThrow(refusal);
    expect([treeOf(outside), treeOf(folder)]).toEqual(before);
  },
);

test("migrate up changes no table and no ledger through a link, and says how to go on", async () => {
  const project = aProject();
  const outside = temporaryFolder();
  project.migration("0001_one.ts", `m.createTable("a", { id: m.int64() }),`);
  project.migration("0002_two.ts", `m.renameColumn("a", "id", "key"),`);
  expect((await project.migrate(["up", "--to", "1"])).code).toBe(0);
  await addRows(project.database, "a", [{ id: 1 }]);
  const ledger = readdirSync(project.database).find((name) => name !== "a.lance")!;
  for (const name of ["a.lance", ledger]) {
    const [inside, away] = [join(project.database, name), join(outside, name)];
    renameSync(inside, away);
    symlinkSync(away, inside);
    const before = treeOf(outside);
    const { code, stderr } = await project.migrate(["up"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${name} in the folder of the tables is a symbolic link`),
    ]);
    expect(treeOf(outside)).toEqual(before);
    expect(lstatSync(inside).isSymbolicLink()).toBe(true);
    const moved = `${inside}.moved`;
    renameSync(inside, moved);
    renameSync(realpathSync(moved), inside);
    renameSync(moved, join(outside, `${name}.link`));
  }
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await rowsOf(project.database, "a")).toEqual([{ key: 1 }]);
});

test("the folder of the tables may itself be a link, and be in a folder that is one", async () => {
  const { folder, outside } = await aScene();
  const link = join(folder, "link");
  symlinkSync(outside, link);
  const place = { uri: link, folder: link };
  expect(await createTable(place, "t", file)).toBe(true);
  const target = await aTarget(link);
  expect(await target.describeTable("t")).toMatchObject({ version: 1 });
  expect(await target.listTables()).toEqual(["a", "t"]);
  await target.discard!("t");
  expect(existsSync(join(outside, "t.lance"))).toBe(false);
  expect(await rowsOf(outside, "a")).toEqual([{ id: 1 }, { id: 2 }]);
});
