import { expect, test } from "vitest";
import { isLong, rounds } from "../support/rounds.ts";
import { crashMatrix } from "./matrix.ts";
import { matrixTable } from "./matrix-table.ts";

// The whole matrix is npm run check crash-matrix: it takes minutes. For each commit, one process is killed in each case, at calls all over the runs.
test("a process killed before, during or after a call of any step kind on any target is gone on with, and each step took effect once", async () => {
  const verdicts = await crashMatrix({ every: rounds(72, 4), places: "one", cases: isLong ? "all" : "few" });
  console.log(matrixTable(verdicts));
  expect(verdicts.flatMap(({ problems }) => problems)).toEqual([]);
  expect(verdicts.filter(({ killed, refused }) => killed === 0 && refused === undefined)).toEqual([]);
});
