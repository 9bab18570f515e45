import { expect, test } from "vitest";
import { senseless } from "../../../../src/ledger/audit/malformed-records.ts";
import type { LedgerRecord } from "../../../../src/ledger/state/record.ts";

const taken: LedgerRecord = {
  epoch: 2,
  number: 0,
  event: "taken",
  at: 0,
  by: "someone",
  run: "run",
  tool: "1.0.0",
  applied: "",
  previous: "",
};
const facts = { version: 1, name: "t", step: 2, total: 2, checksum: "c", textHash: "t" };
const applied: LedgerRecord = { ...taken, number: 1, event: "applied", ...facts };

test.each<[string, ...Partial<LedgerRecord>[]]>([
  ["has no place in a ledger", { epoch: 0 }, { number: 1.5 }],
  ['states "done", which is no event', { event: "done" as "applied" }],
  ["takes its epoch and states applied", { number: 0 }],
  ["states that its epoch is taken, and is not the first", { event: "taken" }],
  ["states applied without its checksum", { checksum: "" }],
  ["states applied without its name", { name: undefined }],
  ["states attempt -1, which is no number of anything", { attempt: -1 }],
  ["states renewed of a migration", { event: "renewed" }],
  ["states that 3 of 2 actions are done", { event: "failed", step: 3 }],
  ["states that a migration is applied and 1 of 2 actions done", { step: 1 }],
  ["states that a migration is reverted and 1 of 2 actions done", { event: "reverted", step: 1 }],
  ["states applied and looked at a late call", { late: 1 }],
])("a record that %s is found", (problem, ...changes) => {
  for (const change of changes) {
    const at = { ...applied, ...change };
    expect(senseless([at])).toEqual([{ at, problem }]);
  }
});

test("what the tool says is found nowhere", () => {
  const half = { ...applied, event: "failed", step: 0 } as const;
  expect(senseless([taken, applied, half, { ...taken, number: 2, event: "renewed" }])).toEqual([]);
});

test("a late call can be looked at in a later epoch, once it is recorded", () => {
  const late = { ...applied, event: "late" } as const;
  const looked = (of: number): LedgerRecord => ({ ...taken, epoch: 3, number: 1, event: "looked", late: of });
  expect(senseless([late, looked(2)])).toEqual([]);
  expect(senseless([late, looked(1)]).map(({ problem }) => problem)).toEqual([
    "looked at a late call of epoch 1, which the ledger does not contain",
  ]);
  const own = { ...looked(2), epoch: 2, number: 2 };
  expect(senseless([late, own]).map(({ at }) => at)).toEqual([own]);
});

test("just a late call is recorded after the end of an epoch", () => {
  const released: LedgerRecord = { ...taken, number: 1, event: "released" };
  const after = (event: "late" | "applied"): LedgerRecord => ({ ...applied, number: 2, event });
  expect(senseless([taken, released, after("late")])).toEqual([]);
  expect(senseless([taken, released, after("applied")])).toEqual([
    { at: after("applied"), problem: "comes after the end of its epoch" },
  ]);
  expect(senseless([taken, released, { ...taken, epoch: 3 }])).toEqual([]);
});
