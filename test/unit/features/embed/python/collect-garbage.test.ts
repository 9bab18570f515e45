import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { collectGarbage } from "../../../../../src/features/embed/python/collect-garbage.ts";

const megabytes = (count: number) => new Uint8Array(count * 2 ** 20);

/** Whether an object that is no more is collected, with so much more memory in use than before. */
async function isCollected(more: number): Promise<boolean> {
  const [one, kept] = [new WeakRef({}), megabytes(more)];
  // As long as the present task runs, a weak reference keeps its object.
  await setImmediate();
  expect(one.deref()).toBeDefined();
  await setImmediate();
  collectGarbage();
  return one.deref() === undefined && kept.length > 0;
}

test("objects that are no more are collected at once, if there may be many of them", async () => {
  // Tests before this one may have left more in use than there is now.
  collectGarbage();
  expect(await isCollected(40)).toBe(true);
  expect(await isCollected(1)).toBe(false);
  expect(await isCollected(40)).toBe(true);
});
