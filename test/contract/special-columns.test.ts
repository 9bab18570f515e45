/** What the engine stores otherwise than its type can be read after each change, or nothing was changed. */
import { expect, test } from "vitest";
import { open } from "../../src/targets/lance/lance.ts";
import { arrow } from "../service/served.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";

test("metadata with which the engine could not read a table with JSON any more is undone", async () => {
  const folder = temporaryFolder();
  const json = new Map([["ARROW:extension:name", "arrow.json"]]);
  const fields = [
    new arrow.Field("j", new arrow.Utf8(), true, json),
    new arrow.Field("b", new arrow.LargeBinary(), true),
  ];
  const table = await (await lancedb.connect(folder)).createEmptyTable("t", new arrow.Schema(fields));
  await table.add([{ j: "{}", b: Buffer.from("x") }]);
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const set = (metadata: Record<string, string>) =>
    target
      .describeTable("t")
      .then((seen) => target.execute({ kind: "setMetadata", table: "t", updates: [{ path: "b", metadata }] }, seen));
  await set({ owner: "search" });
  await expect(set({ "lance-encoding:blob": "true" })).rejects.toThrow(
    "the engine can't read the table after that, because it stores j as JSON (version 3 was restored)",
  );
  const found = await (await (await lancedb.connect(folder)).openTable("t")).query().toArray();
  expect(found.map(({ b }) => Buffer.from(b).toString())).toEqual(["x"]);
  await target.close();
});
