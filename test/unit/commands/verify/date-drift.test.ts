import { expect, test } from "vitest";
import type { LedgerState } from "../../../../src/ledger/state/ledger-state.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import type { TableVersions } from "../../../../src/ledger/state/record.ts";
import { dateOf } from "../../../../src/commands/verify/date-drift.ts";
import { columnsOf, int32 } from "../../../../src/schema/declare/type-builders.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import type { Versions } from "../../../../src/targets/contract/versions.ts";

const expected = { columns: columnsOf({ a: int32() }) };
const drifted = { columns: columnsOf({ a: int32(), b: int32() }) };
const millis = (version: number) => version * 1_000;

interface About {
  readonly count: number;
  readonly isAmiss: (version: number) => boolean;
  /** When the last migration ran, where the ledger does not know the version that it left. */
  readonly ranAt?: number;
  readonly left?: number;
}

async function sinceOf({ count, isAmiss, ranAt, left }: About) {
  const looked: number[] = [];
  const versions = {
    list: async () => Array.from({ length: count }, (_, index) => ({ version: index + 1, at: millis(index + 1) })),
    at: async (_: string, version: number) => {
      looked.push(version);
      return isAmiss(version) ? drifted : expected;
    },
  } satisfies Pick<Versions, "list" | "at">;
  const target = { versions: versions as unknown as Versions } as Target;
  const facts = { version: 1, name: "m", step: 1, total: 1, textHash: "" };
  const who = { by: "ann", run: "r", tool: "t", applied: "", previous: "", at: ranAt ?? 0 };
  const tables: TableVersions = left === undefined ? {} : { t: [null, left] };
  const state: LedgerState =
    ranAt === undefined && left === undefined
      ? foldLedger([])
      : foldLedger([
          { ...who, epoch: 1, number: 0, event: "taken" },
          { ...who, epoch: 1, number: 1, event: "applied", ...facts, tables },
        ]);
  const { since } = await dateOf({ table: "t", kind: "changed", differences: [] }, { expected, state, target });
  return { since, looked: new Set(looked).size };
}

const at = (version: number, more?: object) => ({
  version,
  at: millis(version),
  isOrEarlier: false,
  isOrLater: false,
  ...more,
});

test.each([1, 2, 50, 199])("drift that is %i versions old is dated by the version that brought it", async (old) => {
  const first = 301 - old;
  const { since, looked } = await sinceOf({ count: 300, isAmiss: (version) => version >= first, left: 2 });
  expect(since).toEqual(at(first));
  expect(looked).toBe(old + 1);
});

test.each([3, 4, 100, 517, 1_790])("where it is older, version %i is found without looking at each", async (first) => {
  const isAmiss = (version: number) => version >= first;
  for (const good of [{ left: 2 }, { ranAt: millis(2) }]) {
    const { since, looked } = await sinceOf({ count: 2_000, isAmiss, ...good });
    expect(since).toEqual(at(first, { isOrLater: true }));
    expect(looked).toBeLessThan(240);
  }
});

test("where nothing says when all was well, versions before the last 200 are not looked at", async () => {
  const { since } = await sinceOf({ count: 2_000, isAmiss: (version) => version >= 100 });
  expect(since).toEqual(at(1_800, { isOrEarlier: true }));
});

test("where all versions show it, it came with the oldest one or before", async () => {
  expect((await sinceOf({ count: 5, isAmiss: () => true })).since).toEqual(at(1));
  expect((await sinceOf({ count: 9, isAmiss: () => true, left: 4 })).since).toEqual(at(4, { isOrEarlier: true }));
});

test("what the newest version does not show has no date", async () => {
  expect((await sinceOf({ count: 5, isAmiss: (version) => version < 5 })).since).toBeUndefined();
});

test("drift that went and came again is dated by its last time", async () => {
  const { since } = await sinceOf({ count: 9, isAmiss: (version) => version === 4 || version >= 7, left: 2 });
  expect(since).toEqual(at(7));
});
