import { expect, test } from "vitest";
import * as fc from "../support/fast-check.ts";
import { thereAndBack } from "./back.ts";
import { beginning, drafts } from "./draw.ts";
import type { Counts } from "./walk.ts";

const sequences = 1_020;

test(`of ${sequences} migrations each is rolled back as its plan promised`, { timeout: 600_000 }, async () => {
  const counts: Counts = new Map();
  const writes = fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
  const property = fc.asyncProperty(beginning, drafts, drafts, writes, async (first, more, then, isWritten) =>
    thereAndBack([first, ...more.slice(0, 3)], then.slice(0, 3), isWritten, counts),
  );
  const parts = [1, 2, 3].map((seed) => fc.assert(property, { numRuns: sequences / 3, seed: seed * 7 }));
  await Promise.all(parts);
  // And each class was there, kept and refused.
  const happened = (pattern: RegExp) =>
    [...counts].reduce((sum, [what, count]) => sum + (pattern.test(what) ? count : 0), 0);
  expect({
    exact: happened(/^done, exact: back/) > 20,
    checked: happened(/^done, .*checked.*: back/) > 20,
    restored: happened(/^done, .*restore.*: back/) > 20,
    blocked: happened(/: ERR_ROLLBACK_BLOCKED/) > 5,
    none: happened(/none.*: ERR_IRREVERSIBLE/) > 20,
    half: happened(/^stopped, .*: back/) > 5,
  }).toEqual({ exact: true, checked: true, restored: true, blocked: true, none: true, half: true });
});
