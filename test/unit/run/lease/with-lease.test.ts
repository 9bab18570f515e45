import { expect, test } from "vitest";
import { recording, withLease } from "../../../../src/run/lease/with-lease.ts";
import { runContext } from "../../../../src/run/run-context.ts";
import type { Clock } from "../../../../src/time/clock.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { sleepingClock } from "../../../support/clocks.ts";

/** Runs on one ledger, and the leases that they renew. */
function aLedger() {
  const renewed = new Set<object>();
  const clock: Clock = {
    ...sleepingClock(),
    every() {
      const renewal = {};
      renewed.add(renewal);
      return () => void renewed.delete(renewal);
    },
  };
  const tables = memoryTables({ now: clock.wall });
  const context = (run: string) =>
    runContext({
      target: memoryTarget({ name: "memory", model: "embedded", tables, clock }),
      ledger: "_migrations",
      migrations: sourceOf([]),
      lease: { duration: 30_000, patience: 600_000 },
      clock,
      runner: { by: run, run, tool: "test" },
    });
  return { context, clock, renewed };
}

test("the lease of work that fails is not renewed any more", async () => {
  const { context, renewed } = aLedger();
  const failing = async () => ({ first: undefined, act: async () => await Promise.reject(new Error("it is broken")) });
  await expect(withLease(context("one"), { prepare: failing })).rejects.toThrow("it is broken");
  expect(renewed.size).toBe(0);
});

test("a lease that another run has taken over meanwhile is not renewed any more", async () => {
  const { context, clock, renewed } = aLedger();
  let prepared = 0;
  const result = await withLease(context("one"), {
    async prepare() {
      if (++prepared !== 2) return recording({}, { entries: [], result: "done" });
      await clock.sleep(60_000);
      const other = async () => recording({}, { entries: [{ event: "renewed" }], result: "done" });
      await withLease(context("another"), { prepare: other });
      return undefined;
    },
  });
  expect([result, prepared]).toEqual(["done", 4]);
  expect(renewed.size).toBe(0);
});
