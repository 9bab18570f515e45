import { expect, test } from "vitest";
import type { PrepareColumnAction } from "../../../../src/actions/model/action.ts";
import { prepareColumn, type PrepareContext } from "../../../../src/run/fill/prepare-column.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import { systemClock } from "../../../../src/time/clock.ts";
import { temporaryFolder } from "../../../support/project.ts";

const action: PrepareColumnAction = {
  kind: "prepareColumn",
  table: "docs",
  path: "length",
  type: { kind: "int64" },
  from: ["text"],
  key: "id",
  with: "./lengths.ts",
  version: "1",
};

test("a shard keeps the hidden columns that another one has added since it looked for them", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const rows = target.rows!;
  const columns = [
    { name: "id", type: { kind: "int64" }, nullable: true },
    { name: "text", type: { kind: "utf8" }, nullable: true },
    { name: "length", type: { kind: "int32" }, nullable: true },
  ] as const;
  await rows.append("docs", { columns, rows: [{ id: 1, text: "a", length: 1 }] });
  const context: PrepareContext = {
    target,
    rows,
    clock: systemClock,
    isWhole: false,
    mayWrite: async () => {},
    checkRecall: async () => {},
    fill: async () => ({ problem: undefined, merges: 0 }),
  };
  let looks = 0;
  const late = {
    ...rows,
    async columns(table: string) {
      const seen = await rows.columns(table);
      if (looks++ === 0) expect(await prepareColumn(action, context)).toMatchObject({ commits: 1 });
      return seen;
    },
  };
  expect(await prepareColumn(action, { ...context, rows: late })).toMatchObject({ commits: 0 });
  await target.close();
});
