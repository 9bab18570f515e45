import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createIndexing } from "../../../../src/features/serve/indexing.ts";
import { createLocks } from "../../../../src/features/serve/tables/table-locks.ts";
import type { CoverOutcome } from "../../../../src/features/serve/work/cover.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

/** Looks at tables after 5 seconds; what it finds there, and how long it takes, is set by the test. */
function aDesk() {
  const locks = createLocks();
  const [began, notes]: [string[], string[]] = [[], []];
  const found = { outcome: { uncovered: 0, done: true } as CoverOutcome, took: 0, stopped: 0 };
  const cover = (table: string, least: number) => {
    began.push(`${table} ${least.toFixed(3)}`);
    const outcome = Promise.withResolvers<CoverOutcome>();
    setTimeout(() => outcome.resolve(found.outcome), found.took * 1_000);
    const stop = () => {
      found.stopped++;
      outcome.resolve({ reason: "killed", isConflict: false });
    };
    return { outcome: outcome.promise, stop };
  };
  const indexer = { cover, close: async () => {} };
  const indexing = createIndexing({ indexer, locks, indexAfter: 5_000, note: (line) => notes.push(line) });
  const write = (table: string) => indexing.written([{ table, alone: false }]);
  return { ...indexing, write, locks, began, notes, found };
}

test("a table is looked at once it was not written to for a while, or after a minute of writes", async () => {
  const { write, began } = aDesk();
  for (let second = 0; second < 30; second++) {
    write("t");
    await seconds(1);
  }
  expect(began).toEqual([]);
  await seconds(6);
  expect(began).toEqual(["t 0.000"]);
  for (let second = 0; second < 62; second++) {
    write("busy");
    await seconds(1);
  }
  expect(began).toEqual(["t 0.000", "busy 0.000"]);
});

test("a client that asks about indexes need not wait for a pause in its questions", async () => {
  const { asked, began } = aDesk();
  for (let second = 0; second < 7; second++) {
    asked("t");
    await seconds(1);
  }
  expect(began).toHaveLength(1);
});

test("one table at a time, and each in its turn", async () => {
  const { write, began, found } = aDesk();
  found.took = 20;
  for (const table of ["a", "b", "c"]) write(table);
  await seconds(15);
  expect(began).toEqual(["a 0.000"]);
  write("a");
  await seconds(60);
  expect(began.map((line) => line[0])).toEqual(["a", "b", "c", "a"]);
});

test("the more time it took, the more rows or the longer a pause there must be", async () => {
  const { write, began, found } = aDesk();
  found.took = 100;
  write("t");
  await seconds(106);
  found.took = 0;
  found.outcome = { uncovered: 0.01, done: false };
  write("t");
  await seconds(10);
  expect(began).toEqual(["t 0.000", "t 1.000"]);
  // 100 seconds are 1 % of 10,000.
  await seconds(9_900);
  expect(began).toHaveLength(2);
  found.outcome = { uncovered: 0, done: true };
  await seconds(100);
  expect(began.slice(2)).toEqual([expect.stringMatching(/^t 0\.01/)]);
});

test("after a failure the pause doubles, and the log has one line", async () => {
  const { write, began, notes, found } = aDesk();
  found.outcome = { reason: "the disk is full", isConflict: false };
  write("t");
  await seconds(6);
  for (const pause of [60, 120, 240]) {
    const before = began.length;
    await seconds(pause - 1);
    expect(began).toHaveLength(before);
    await seconds(2);
    expect(began).toHaveLength(before + 1);
  }
  expect(notes).toEqual(["could not bring the indexes of t up to date, and tries again later: the disk is full"]);
  found.outcome = { uncovered: 0, done: true };
  await seconds(1_000);
  const tries = began.length;
  await seconds(100_000);
  expect(began).toHaveLength(tries);
});

test("if others' commits came first, the next try comes sooner than after a failure", async () => {
  const { write, began, notes, found } = aDesk();
  found.outcome = { reason: "others came first", isConflict: true };
  write("t");
  await seconds(6);
  for (const pause of [5, 10, 20, 40]) {
    const before = began.length;
    await seconds(pause - 1);
    expect(began).toHaveLength(before);
    await seconds(2);
    expect(began).toHaveLength(before + 1);
  }
  expect(notes).toHaveLength(1);
});

test("a change of the table ends the work and waits for its end; writes of rows do not wait", async () => {
  const { write, locks, began, found, notes } = aDesk();
  found.took = 1_000;
  write("t");
  await seconds(6);
  for (const lock of [{ alone: false }, { alone: true, besideGuest: true }])
    expect(await locks.holding([{ table: "t", ...lock }], async () => "written")).toBe("written");
  expect(found.stopped).toBe(0);
  expect(await locks.holding([{ table: "t", alone: true }], async () => found.stopped)).toBe(1);
  expect(notes).toEqual([]);
  await seconds(7);
  expect(began).toHaveLength(2);
});

test("work does not begin while the table is changed, nor once the service ends", async () => {
  const { write, locks, began, found, close } = aDesk();
  const changed = Promise.withResolvers<void>();
  const change = locks.holding([{ table: "t", alone: true }], () => changed.promise);
  write("t");
  await seconds(60);
  expect(began).toEqual([]);
  changed.resolve();
  await change;
  found.took = 1_000;
  await seconds(6);
  expect(began).toHaveLength(1);
  await close();
  expect(found.stopped).toBe(1);
  write("t");
  await seconds(60);
  expect(began).toHaveLength(1);
});

test("a table that is gone is forgotten", async () => {
  const { write, began, found } = aDesk();
  found.outcome = "gone";
  write("t");
  await seconds(1_000);
  expect(began).toHaveLength(1);
});

test("work begins beside writes that let it stay, however many there are", async () => {
  const { write, locks, began } = aDesk();
  const written = Promise.withResolvers<void>();
  const writes = [1, 2, 3].map(() =>
    locks.holding([{ table: "t", alone: true, besideGuest: true }], () => written.promise),
  );
  write("t");
  await seconds(10);
  expect(began).toHaveLength(1);
  written.resolve();
  await Promise.all(writes);
});

test("work that changes end again and again is begun less often", async () => {
  const { write, locks, began, found } = aDesk();
  found.took = 1_000_000;
  write("t");
  for (let round = 0; round < 20; round++) {
    await seconds(6);
    await locks.holding([{ table: "t", alone: true }], async () => {});
  }
  expect(began.length).toBeLessThan(12);
});
