/** pyarrow judges what is written and read: each value of each type, at every level. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rowsIn } from "../../src/wire/rows/read-values.ts";
import { rowsToIpc, rowsToIpcFile } from "../../src/wire/rows/write-rows.ts";
import * as fc from "../support/fast-check.ts";
import { lacks } from "../support/needs.ts";
import { temporaryFolder } from "../support/project.ts";
import { isLong, rounds } from "../support/rounds.ts";
import { drawnColumns, drawnRow } from "./drawn-values.ts";
import { startJudge } from "./judge.ts";

const files = rounds(10, 300);
const seed = isLong ? Date.now() : 1;

test.skipIf(lacks("python"))("rows are read as pyarrow has written them, of every type", async () => {
  await using judge = startJudge();
  const file = join(temporaryFolder(), "rows.arrow");
  for (let drawn = 0; drawn < files; drawn++) {
    await judge.write(file, seed + drawn);
    const rows = rowsIn([readFileSync(file)]);
    expect(await judge.difference(file, rows), `seed ${seed + drawn}`).toBeNull();
  }
});

test.skipIf(lacks("python"))("pyarrow reads rows as they were given, of every type that rows can hold", async () => {
  await using judge = startJudge();
  const file = join(temporaryFolder(), "rows.arrow");
  const tables = drawnColumns().chain((columns) =>
    fc.tuple(fc.constant(columns), fc.array(drawnRow(columns), { maxLength: 10 })),
  );
  await fc.assert(
    fc.asyncProperty(tables, async ([columns, rows]) => {
      for (const write of [rowsToIpc, rowsToIpcFile]) {
        writeFileSync(file, write(columns, rows));
        expect(await judge.difference(file, rows)).toBeNull();
      }
    }),
    { numRuns: rounds(200, 5_000) },
  );
});
