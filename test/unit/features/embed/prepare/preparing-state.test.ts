import { expect, test } from "vitest";
import { foldLedger } from "../../../../../src/ledger/state/fold.ts";
import { takeLease } from "../../../../../src/ledger/lease/lease.ts";
import { journalOf } from "../../../../../src/ledger/journal/open-journal.ts";
import { recordPhases } from "../../../../../src/run/phase.ts";
import { deferralDetail } from "../../../../../src/ledger/state/record.ts";
import { preparedDetail, preparingState } from "../../../../../src/features/embed/prepare/preparing-state.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { systemClock, type Clock } from "../../../../../src/time/clock.ts";
import { temporaryFolder } from "../../../../support/project.ts";

const [whole, first, second] = [
  "_migrations.preparing-a",
  "_migrations.preparing-a-1-of-2",
  "_migrations.preparing-a-2-of-2",
];

/** A database in which processes prepare a column. `later`: milliseconds by which the clock of who looks is ahead. */
async function aDatabase() {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const clock = (by: number): Clock => ({ ...systemClock, every: () => () => {}, wall: () => Date.now() + by });
  return {
    async start(name: string) {
      const journal = journalOf(target, name);
      const runner = { by: `who prepares ${name}`, run: `${name} ${Math.random()}`, tool: "" };
      const state = foldLedger(await journal.read());
      return (await takeLease(journal, state, runner, undefined, { duration: 60_000, clock: clock(0) }))!;
    },
    state: async (names: readonly string[], later = 0) => await preparingState(names, { target, clock: clock(later) }),
  };
}

test("a process that writes no record for the time of its lease has stopped, and one that was heard of before runs", async () => {
  const { start, state } = await aDatabase();
  await start(whole);
  expect(await state([whole])).toMatchObject({ state: "running", by: `who prepares ${whole}` });
  expect(await state([whole], 59_000)).toMatchObject({ state: "running" });
  expect(await state([whole], 61_000)).toMatchObject({ state: "stopped", at: expect.any(Number) });
});

test("it is unknown whether a process runs whose clock is far ahead, or that has no record", async () => {
  const { start, state } = await aDatabase();
  await start(whole);
  expect(await state([whole], -3_600_000)).toMatchObject({ state: "unknown" });
  expect(await state([first])).toEqual({ state: "unknown" });
});

test("a process that has released its lease has ended if all was prepared, and else stopped", async () => {
  const { start, state } = await aDatabase();
  await (await start(whole)).release();
  expect(await state([whole])).toMatchObject({ state: "stopped" });
  const again = await start(whole);
  await again.state(preparedDetail);
  await again.release();
  expect(await state([whole])).toMatchObject({ state: "ended" });
  // What an earlier process has prepared does not count.
  await (await start(whole)).release();
  expect(await state([whole])).toMatchObject({ state: "stopped" });
});

test("the last phase that a process has stated is known", async () => {
  const { start, state } = await aDatabase();
  const lease = await start(whole);
  expect(await state([whole])).toMatchObject({ state: "running", phase: undefined });
  await recordPhases(lease)("computing");
  await recordPhases(lease)("measuring recall");
  expect(await state([whole])).toMatchObject({ state: "running", phase: "measuring recall" });
  await lease.release();
  expect(await state([whole])).toMatchObject({ state: "stopped", phase: "measuring recall" });
  await start(whole);
  expect(await state([whole])).toMatchObject({ state: "running", phase: undefined });
});

test("a phase is known where the ledger states that indexes are deferred, which its other records repeat", async () => {
  const { start, state } = await aDatabase();
  const lease = await start(whole);
  await lease.record([{ event: "renewed", detail: deferralDetail(["a_idx"]) }]);
  await recordPhases(lease)("computing");
  expect(await state([whole])).toMatchObject({ phase: "computing" });
  await lease.record([{ event: "renewed" }]);
  await lease.release();
  const last = await start(whole);
  expect([lease.defers(), last.defers()]).toEqual([true, true]);
});

test("of several shards, one that runs counts, then one that has stopped, until a later process has prepared all", async () => {
  const { start, state } = await aDatabase();
  const [one, other] = [await start(first), await start(second)];
  const end = async (lease: typeof one) => {
    await lease.state(preparedDetail);
    await lease.release();
  };
  await end(one);
  expect(await state([first, second])).toMatchObject({ state: "running", by: `who prepares ${second}` });
  await other.release();
  await end(await start(first));
  expect(await state([first, second])).toMatchObject({ state: "stopped", by: `who prepares ${second}` });
  await end(await start(whole));
  expect(await state([first, second, whole])).toMatchObject({ state: "ended", by: `who prepares ${whole}` });
});
