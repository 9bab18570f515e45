import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tableNamesIn } from "../../../../src/engine/folder/list-tables.ts";
import { temporaryFolder } from "../../../support/project.ts";
import { lancedb } from "../../../support/tables.ts";

const odd = [".lance", "..lance", ".x.lance", "x.LANCE", "x.lance.txt", "x.lance.lance", "a..lance", "other"];
const special = ["with space.lance", "per%20cent.lance", "100%.lance", "a#b.lance", "q?.lance", "[x].lance", "ü.lance"];
const usual = ["B.lance", "a.lance", "a.b.lance", "a_b.lance", "a-b.lance", "a10.lance", "a9.lance", "日本.lance"];

test("the engine lists the same tables, in the same order", async () => {
  const folder = temporaryFolder();
  for (const name of [...odd, ...special, ...usual]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "file.lance"), "");
  await (await lancedb.connect(folder)).createTable("real", [{ id: 1 }]);
  const listed = await (await lancedb.connect(folder)).tableNames();
  expect(listed.length).toBeGreaterThan(usual.length + special.length);
  expect(tableNamesIn(folder)).toEqual(listed);
});

test("symbolic links are left out", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "a.lance"));
  symlinkSync(join(folder, "a.lance"), join(folder, "link.lance"));
  symlinkSync(join(folder, "nowhere"), join(folder, "dead.lance"));
  expect(tableNamesIn(folder)).toEqual(["a"]);
});
