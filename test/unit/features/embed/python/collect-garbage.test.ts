import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { collectGarbage } from "../../../../../src/features/embed/python/collect-garbage.ts";

test("objects that are no more are collected at once", async () => {
  const one = new WeakRef({});
  // As long as the present task runs, a weak reference keeps its object.
  await setImmediate();
  expect(one.deref()).toBeDefined();
  await setImmediate();
  collectGarbage();
  expect(one.deref()).toBeUndefined();
});
