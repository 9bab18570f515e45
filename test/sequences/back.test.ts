import { expect, test } from "vitest";
import * as fc from "../support/fast-check.ts";
import { thereAndBack } from "./back.ts";
import { beginning, drafts } from "./draw.ts";
import { rounds } from "../support/rounds.ts";
import type { Counts } from "./walk.ts";

const sequences = rounds(60, 1_020);

test(`of ${sequences} migrations each is rolled back as its plan promised`, async () => {
  const counts: Counts = new Map();
  const writes = fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
  const property = fc.asyncProperty(beginning, drafts, drafts, writes, async (first, more, then, isWritten) =>
    thereAndBack([first, ...more.slice(0, 3)], then.slice(0, 3), isWritten, counts),
  );
  const parts = [1, 2, 3].map((seed) => fc.assert(property, { numRuns: sequences / 3, seed: seed * 11 }));
  await Promise.all(parts);
  // And each class was there, kept and refused.
  const happened = (pattern: RegExp) =>
    [...counts].reduce((sum, [what, count]) => sum + (pattern.test(what) ? count : 0), 0);
  expect({
    exact: happened(/^done, exact: back/) > sequences / 60,
    checked: happened(/^done, .*checked.*: back/) > sequences / 60,
    restored: happened(/^done, .*restore.*: back/) > sequences / 60,
    blocked: happened(/: ERR_ROLLBACK_BLOCKED/) > sequences / 360,
    none: happened(/none.*: ERR_IRREVERSIBLE/) > sequences / 60,
    half: happened(/^stopped, .*: back/) > sequences / 360,
  }).toEqual({ exact: true, checked: true, restored: true, blocked: true, none: true, half: true });
});
