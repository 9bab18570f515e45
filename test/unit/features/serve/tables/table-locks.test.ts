import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLocks, type Locks } from "../../../../../src/features/serve/tables/table-locks.ts";

/** Work that ends when it is told to, and writes down that it began. */
function aDesk(locks: Locks) {
  const began: string[] = [];
  const ends = new Map<string, { end: () => void; fail: (error: Error) => void }>();
  const start = (way: "shared" | "alone", label: string, name = "t") =>
    locks.holding([{ table: name, alone: way === "alone" }], async () => {
      began.push(label);
      await new Promise<void>((end, fail) => ends.set(label, { end, fail }));
      return label;
    });
  return { began, start, end: (label: string) => ends.get(label)!.end(), ends };
}

test("those who share work at the same time", async () => {
  const { began, start, end } = aDesk(createLocks());
  const both = [start("shared", "a"), start("shared", "b")];
  await turn();
  expect(began).toEqual(["a", "b"]);
  end("a");
  end("b");
  expect(await Promise.all(both)).toEqual(["a", "b"]);
});

test("who is alone waits for those who share, and they wait for the one that is alone", async () => {
  const { began, start, end } = aDesk(createLocks());
  const all = [start("shared", "a"), start("shared", "b"), start("alone", "c"), start("shared", "d")];
  await turn();
  end("a");
  await turn();
  expect(began).toEqual(["a", "b"]);
  end("b");
  await turn();
  expect(began).toEqual(["a", "b", "c"]);
  end("c");
  await turn();
  expect(began).toEqual(["a", "b", "c", "d"]);
  end("d");
  await Promise.all(all);
});

test("a stream of sharers does not keep the one that is alone waiting, nor many of those the sharers", async () => {
  const { began, start, end } = aDesk(createLocks());
  const labels = ["s1", "x1", "s2", "s3", "x2", "x3", "s4"];
  const all = labels.map((label) => start(label.startsWith("x") ? "alone" : "shared", label));
  for (const label of labels) {
    await turn();
    end(label);
  }
  await Promise.all(all);
  expect(began).toEqual(labels);
});

test("a lock that was given back can be had again", async () => {
  const locks = createLocks();
  for (let round = 0; round < 3; round++) {
    for (const alone of [true, false])
      expect(await locks.holding([{ table: "t", alone }], async () => alone)).toBe(alone);
  }
});

test("two who want the same two locks do not wait for each other, whatever order they name them in", async () => {
  const locks = createLocks();
  const wanted = ["a", "b"].map((table) => ({ table, alone: true }));
  const both = [wanted, wanted.toReversed()].map((some) => locks.holding(some, async () => await turn("done")));
  expect(await Promise.all(both)).toEqual(["done", "done"]);
});
