import { expect, test } from "vitest";
import { rounds } from "../support/rounds.ts";
import { checkHistories, type Progress } from "./check.ts";
import { writeKinds } from "./write.ts";

// The same every time, as far as that goes: an application meets a run at other moments each time. npm run histories has more.
test.each([
  { target: "lance", histories: rounds(10, 40) },
  { target: "namespace", histories: rounds(3, 10) },
] as const)(
  "in $histories histories on $target an application that writes beside migrations loses nothing",
  async ({ target, histories }) => {
    const progress: Progress = { next: 1, counts: new Map(), violations: [] };
    await checkHistories(progress, 1 + histories, target, 3);
    expect(progress.violations.map(({ words }) => words)).toEqual([]);
    const commits = (pattern: RegExp) =>
      [...progress.counts].reduce((sum, [what, count]) => sum + (pattern.test(what) ? count : 0), 0);
    // Few applications create their tables again.
    const missing = writeKinds
      .filter((kind) => kind !== "recreate" && kind !== "metadata")
      .filter((kind) => commits(new RegExp(`^${kind}, .*: acknowledged$`)) === 0);
    expect(missing).toEqual([]);
    expect(commits(/^up: done$/)).toBeGreaterThan(histories);
    expect(commits(/^down, .*: done$/)).toBeGreaterThan(0);
  },
);
