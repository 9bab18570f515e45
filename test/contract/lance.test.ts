import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Action } from "../../src/schema/action.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../support/project.ts";
import { describeTarget } from "./suite.ts";

const openAt = (folder: string, uri = "database") => open({ kind: "lance", uri }, { name: "test", folder });

describeTarget("lance", async () => {
  const folder = temporaryFolder();
  return { one: await openAt(folder), other: await openAt(folder) };
});

const people: Action = {
  kind: "createTable",
  table: "people",
  columns: [{ name: "id", type: { kind: "int32" }, nullable: true }],
};
const widen: Action = { kind: "alterColumns", table: "people", alterations: [{ path: "id", type: { kind: "int64" } }] };
const rename: Action = { kind: "alterColumns", table: "people", alterations: [{ path: "id", rename: "key" }] };

test("reading makes no folder", async () => {
  const folder = temporaryFolder();
  const target = await openAt(folder);
  await target.look("people");
  await target.listTables();
  await target.records("_migrations").all(["key"]);
  expect(existsSync(join(folder, "database"))).toBe(false);
});

test("creating leaves nothing behind but the table", async () => {
  const folder = temporaryFolder();
  const target = await openAt(folder);
  await target.execute(people, undefined);
  expect(readdirSync(join(folder, "database"))).toEqual(["people.lance"]);
});

test("a folder whose name begins with db is a folder", async () => {
  const folder = temporaryFolder();
  const target = await openAt(folder, "db_of_mine");
  await target.execute(people, undefined);
  expect(existsSync(join(folder, "db_of_mine", "people.lance"))).toBe(true);
});

test.each([
  ["renamed", rename],
  ["widened", widen],
])("who looked before a table was %s by another is refused, and it is a conflict", async (_, theirs) => {
  const folder = temporaryFolder();
  const [one, other] = [await openAt(folder), await openAt(folder)];
  await one.execute(people, undefined);
  const seen = await one.look("people");
  await other.execute(theirs, await other.look("people"));
  const error = await one.execute(widen, seen).catch((thrown: unknown) => thrown);
  expect(one.isConflict(error)).toBe(true);
});

test("of eight that create one table at the same instant one succeeds", async () => {
  for (let round = 0; round < 10; round++) {
    const folder = temporaryFolder();
    const targets = await Promise.all(Array.from({ length: 8 }, () => openAt(folder)));
    const results = await Promise.allSettled(targets.map((target) => target.execute(people, undefined)));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  }
});
