/** pylance judges what steps make of every kind of column. Each commit runs another part; `npm run check matrix` runs all. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lacks } from "../../support/needs.ts";
import { root } from "../../support/project.ts";
import { commits } from "../../support/rounds.ts";
import { startScript } from "../judge.ts";
import { runCell } from "./cell.ts";
import { allCells, nameOf, partOf } from "./cells.ts";
import { openDatabases } from "./databases.ts";
import { agrees } from "./table.ts";

/** A prime number, and fewer than the commits of two usual weeks; `npm run nightly` tries all within a week. */
const parts = 1_213;

test.skipIf(lacks("python"))(
  "tables are as the steps promise, or nothing was changed, as the documentation states",
  async () => {
    await using databases = await openDatabases();
    await using judge = startScript("matrix.py");
    const all = allCells((await judge.ask({ kinds: true })) as readonly string[]);
    const part = commits() % parts;
    const wrong: string[] = [];
    const page = readFileSync(join(root, "docs/reference/columns.md"), "utf8");
    for (const cell of partOf(all, part, parts))
      try {
        const result = { ...cell, ...(await runCell(cell, judge, databases)) };
        if (!agrees(page, result))
          wrong.push(`${nameOf(cell)}: docs/reference/columns.md is of another opinion; run npm run check matrix`);
      } catch (error) {
        wrong.push(`${nameOf(cell)}: ${String(error)}`);
      }
    expect(wrong, `part ${part} of ${parts}`).toEqual([]);
  },
);
