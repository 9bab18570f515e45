import { expect, test } from "vitest";
import { isLong, rounds } from "../support/rounds.ts";
import { checkHistories, type Progress } from "./check.ts";
import { writeKinds } from "./write.ts";

const targets = [
  { target: "lance", histories: rounds(6, 40) },
  { target: "namespace", histories: rounds(3, 10) },
] as const;

// Few applications create their tables again.
const wanted = writeKinds.filter((kind) => kind !== "recreate" && kind !== "metadata");

function countOf({ counts }: Progress, pattern: RegExp): number {
  return [...counts].reduce((sum, [what, count]) => sum + (pattern.test(what) ? count : 0), 0);
}

const missingIn = (...all: readonly Progress[]) =>
  wanted.filter((kind) => all.every((progress) => countOf(progress, new RegExp(`^${kind}, .*: acknowledged$`)) === 0));

// The same every time, as far as that goes: an application meets a run at other moments each time. npm run histories has more.
test(`in ${targets.map(({ target, histories }) => `${histories} histories on ${target}`).join(" and ")} an application that writes beside migrations loses nothing`, async () => {
  const all: Progress[] = [];
  for (const { target, histories } of targets) {
    const progress: Progress = { next: 1, counts: new Map(), violations: [] };
    await checkHistories(progress, 1 + histories, target, 3);
    expect(progress.violations.map(({ words }) => words)).toEqual([]);
    expect(countOf(progress, /^up: done$/)).toBeGreaterThan(histories);
    expect(countOf(progress, /^down, .*: done$/)).toBeGreaterThan(0);
    // In a few histories it is chance whether a write of each kind was in time.
    if (isLong) expect(missingIn(progress)).toEqual([]);
    all.push(progress);
  }
  expect(missingIn(...all)).toEqual([]);
});
