import { expect, test } from "vitest";
import type { PrepareColumnAction } from "../../../../../src/actions/model/action.ts";
import { preparedName } from "../../../../../src/actions/rewrite/prepared-columns.ts";
import { compareNeighbours } from "../../../../../src/features/embed/recall/compare-neighbours.ts";
import { columnsOf, int64, utf8, vector } from "../../../../../src/schema/declare/type-builders.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { temporaryFolder } from "../../../../support/project.ts";
import { addRows } from "../../../../support/tables.ts";

test("neighbours are compared if both the old and the new values are vectors", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "here", folder });
  const [v, text] = ["v", "text"].map(preparedName);
  const columns = columnsOf({ id: int64(), v: vector(2), [v!]: vector(2), text: utf8(), [text!]: vector(2) });
  await target.execute({ kind: "createTable", table: "t", columns }, undefined);
  const rows = [1, 2, 3].map((id) => ({ id, v: [id, 1], [v!]: [id, 2], text: `row ${id}`, [text!]: [id, 3] }));
  await addRows(folder, "t", rows);
  const compared = async (path: string, type = vector(2).type as PrepareColumnAction["type"]) =>
    await compareNeighbours({ table: "t", path, type, key: "id" } as PrepareColumnAction, {
      ...target,
      rows: target.rows!,
    });
  expect(await compared("v")).toEqual({ k: 10, sampled: 3, shared: 2 });
  expect(await compared("v", utf8().type)).toBeUndefined();
  expect(await compared("text")).toBeUndefined();
  await target.close();
});
