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

async function aTable() {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const rows = target.rows!;
  const columns = [
    { name: "id", type: { kind: "int64" }, nullable: true },
    { name: "text", type: { kind: "utf8" }, nullable: true },
    { name: "length", type: { kind: "int32" }, nullable: true },
  ] as const;
  await rows.append("docs", { columns, rows: [{ id: 1, text: "a", length: 1 }] });
  const outrun: number[] = [];
  const context: PrepareContext = {
    target,
    rows,
    clock: systemClock,
    isWhole: false,
    mayWrite: async () => {},
    outrun: (tries) => outrun.push(tries),
    checkRecall: async () => {},
    fill: async () => ({ problem: undefined, merges: 0 }),
  };
  return { target, rows, context, outrun };
}

test("how often writes of others have come first is reported", async () => {
  const { target, context, outrun } = await aTable();
  let calls = 0;
  const execute: typeof target.execute = async (action, seen) => {
    if (++calls <= 60) throw new Error("Retryable commit conflict for version 3: please retry");
    return await target.execute(action, seen);
  };
  const clock = { ...systemClock, sleep: async () => {} };
  const prepared = await prepareColumn(action, { ...context, clock, target: { ...target, execute } });
  expect([prepared.commits, outrun]).toEqual([1, [25, 50]]);
  await target.close();
});

test("calls that fail for another reason are not reported as writes of others", async () => {
  const { target, context, outrun } = await aTable();
  let calls = 0;
  const execute: typeof target.execute = async (action, seen) => {
    calls++;
    if (calls <= 60) throw new Error(calls % 2 === 0 ? "Retryable commit conflict for version 3" : "slow down");
    return await target.execute(action, seen);
  };
  const verdict: typeof target.verdict = (error) =>
    (error as Error).message === "slow down" ? { kind: "throttled" } : target.verdict(error);
  const clock = { ...systemClock, sleep: async () => {} };
  const prepared = await prepareColumn(action, { ...context, clock, target: { ...target, execute, verdict } });
  expect([prepared.commits, outrun]).toEqual([1, [25]]);
  await target.close();
});

test("a shard keeps the hidden columns that another one has added since it looked for them", async () => {
  const { target, rows, context } = await aTable();
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
