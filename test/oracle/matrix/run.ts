/**
 * `npm run check matrix` runs all cells and ends with 1 if a table is not as promised. `--part 3/60` runs a part of them, `--only
 * TEXT` those whose names match. `--results FILE` keeps what each came to, and runs only those that the file does not have.
 * `--docs` writes what is in the file to docs/reference/columns.md.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../../support/project.ts";
import { startScript } from "../judge.ts";
import { runCell } from "./cell.ts";
import { allCells, nameOf, partOf } from "./cells.ts";
import { openDatabases } from "./databases.ts";
import { withOutcomes, type Result } from "./table.ts";

const { values } = parseArgs({
  options: {
    part: { type: "string", default: "0/1" },
    only: { type: "string", default: "" },
    results: { type: "string" },
    docs: { type: "boolean", default: false },
  },
});
const { results: file } = values;
const [part, of] = values.part.split("/").map(Number) as [number, number];
const only = new RegExp(values.only);

const known = new Map<string, Result>();
if (file !== undefined && existsSync(file))
  for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) {
    const result = JSON.parse(line) as Result;
    known.set(nameOf(result), result);
  }

await using databases = await openDatabases();
await using judge = startScript("matrix.py");
const kinds = (await judge.ask({ kinds: true })) as readonly string[];
const all = allCells(kinds);
const cells = partOf(all, part, of).filter((cell) => only.test(nameOf(cell)) && !known.has(nameOf(cell)));
let [comparisons, wrong] = [0, 0];
for (const cell of cells) {
  const result: Result = await runCell(cell, judge, databases).then(
    (outcome) => ({ ...cell, ...outcome }),
    (error: Error) => ({ ...cell, wrong: error.message, comparisons: 0 }),
  );
  comparisons += result.comparisons;
  if (result.wrong !== undefined) {
    wrong++;
    console.log(`${nameOf(cell)}: ${result.wrong}`);
  }
  known.set(nameOf(cell), result);
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(result)}\n`);
}
console.log(`${cells.length} cells, ${comparisons} comparisons, ${wrong} wrong`);
if (values.docs) {
  const page = join(root, "docs/reference/columns.md");
  const results = all.flatMap((cell) => known.get(nameOf(cell)) ?? []);
  writeFileSync(page, withOutcomes(readFileSync(page, "utf8"), results, kinds, all.length));
}
if (wrong > 0) process.exitCode = 1;
