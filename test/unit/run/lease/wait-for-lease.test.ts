import { expect, test } from "vitest";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { takeLease } from "../../../../src/ledger/lease/lease.ts";
import { waitingFor } from "../../../../src/run/lease/wait-for-lease.ts";
import { runContext } from "../../../../src/run/run-context.ts";
import type { Clock } from "../../../../src/time/clock.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { sleepingClock } from "../../../support/clocks.ts";

test("a run that waits several times has the patience for one wait", async () => {
  const clock = sleepingClock();
  const context = runContext({
    target: memoryTarget({ name: "memory", model: "embedded", tables: memoryTables({ now: clock.wall }), clock }),
    ledger: "_migrations",
    migrations: sourceOf([]),
    lease: { duration: 600_000, patience: 20_000 },
    clock,
  });
  const { journal, lease } = context;
  const holder = await takeLease(journal, foldLedger([]), { by: "ann", run: "another", tool: "test" }, 1, {
    ...lease,
    clock,
  });
  const state = foldLedger(await journal.read());
  // The holder is at work.
  const sleep: Clock["sleep"] = async (milliseconds) => {
    await clock.sleep(milliseconds);
    await holder!.record([{ event: "renewed", next: 1 }]);
  };
  const waiting = waitingFor({ ...context, clock: { ...clock, sleep } });
  const begun = clock.steady();
  const waited = () => clock.steady() - begun;
  await waiting.wait(state, () => waited() > 15_000);
  await expect(waiting.wait(state)).rejects.toMatchObject({ code: "ERR_LEASE_HELD" });
  expect(waited()).toBeLessThan(25_000);
});
