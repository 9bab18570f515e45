/** The form of history.d.ts: how it grows, and what two branches change in it. */
import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { applyActions } from "../../../../src/actions/apply-action.ts";
import { historyTypes } from "../../../../src/features/types/history-types.ts";
import type { Table } from "../../../../src/schema/table.ts";
import { addColumn, createTable, dropTable, int32, renameColumn, renameTable } from "../../../../src/index.ts";
import { compileStep, type Step } from "../../../../src/steps/registry.ts";
import { root, temporaryFolder } from "../../../support/project.ts";
import { revisionsOf } from "../../../support/revisions.ts";
import { strictConfig, typeProblems } from "../../../support/type-check.ts";

/** The types of a history with one migration for each step. */
function typesOf(steps: readonly Step[]): string {
  const database = new Map<string, Table>();
  return historyTypes(revisionsOf(steps.map((step) => new Map(applyActions(database, compileStep(step))))));
}

/** A migration for each table in turn: the first creates it, and the others add a column or rename it. */
function stepsOn(tables: number, migrations: number): readonly Step[] {
  return Array.from({ length: migrations }, (_, index): Step => {
    const [table, at] = [`table${index % tables}`, Math.floor(index / tables)];
    if (at === 0) return createTable(table, { id: int32().notNull(), title: int32() });
    return at % 2 === 1 ? addColumn(table, `n${at}`, int32()) : renameColumn(table, `n${at - 1}`, `m${at}`);
  });
}

test.each([1, 20, 100])("history.d.ts of %i tables grows with the history, and not faster", (tables) => {
  const bytes = [200, 1_000].map((migrations) => typesOf(stepsOn(tables, migrations)).length / migrations);
  for (const each of bytes) expect(each).toBeLessThan(200);
  expect(bytes[1]! / bytes[0]!).toBeLessThan(1.3);
});

test("one more migration changes only lines of its table and of the versions", () => {
  for (const migrations of [15, 16, 31, 32, 47, 99]) {
    const steps = stepsOn(10, migrations + 1);
    const before = new Set(typesOf(steps.slice(0, -1)).split("\n"));
    expect(
      typesOf(steps)
        .split("\n")
        .filter((line) => !before.has(line)).length,
    ).toBeLessThan(20);
  }
});

test("git merges two branches that change different tables, whatever their number", () => {
  const folder = temporaryFolder();
  for (const migrations of [1, 14, 15, 16, 17, 31, 32, 100]) {
    const steps = stepsOn(5, Math.max(5, migrations));
    const last = Math.floor((steps.length - 1) / 5);
    const texts = {
      ours: typesOf([...steps, addColumn("table1", "ours", int32())]),
      base: typesOf(steps),
      theirs: typesOf([...steps, last % 2 === 0 ? createTable("notes", { id: int32() }) : dropTable("table3")]),
    };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    const args = ["merge-file", "--stdout", "ours", "base", "theirs"];
    const { status, stdout } = spawnSync("git", args, { cwd: folder, encoding: "utf8" });
    expect(status).toBe(0);
    expect(stdout).toContain(`ours: "int32"`);
  }
});

test("TypeScript follows thousands of changes of one table, through creation, renames and drops", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }\n`);
  writeFileSync(join(folder, "tsconfig.json"), strictConfig);
  const steps = [...stepsOn(1, 4_094), renameTable("table0", "other"), createTable("table0", { x: int32() })];
  writeFileSync(join(folder, "history.d.ts"), typesOf(steps));
  const uses = {
    "0001": `m.renameColumn("table0", "title", "x")`,
    "4094": `m.renameColumn("table0", "m4092", "x"), m.renameColumn("table0", "n4093", "y")`,
    "4095": `m.renameColumn("other", "m4092", "x"), m.createTable("table0", { id: m.int8() })`,
    "4096": `m.renameColumn("table0", "x", "y"), m.dropTable("other")`,
    "2047": `m.renameColumn("table0", "m2046", "x")`,
  };
  const write = (version: string, text: string) =>
    writeFileSync(
      join(folder, `after${version}.ts`),
      `import * as m from "lance-migrate";\nexport const up = m.after("${version}", ${text});\n`,
    );
  for (const [version, text] of Object.entries(uses)) write(version, text);
  expect(typeProblems(folder)).toEqual([]);
  // What is not there at that point is refused.
  write("0001", `m.dropTable("other")`);
  write("4096", `m.renameColumn("table0", "title", "x")`);
  expect(typeProblems(folder).map(({ file }) => file)).toEqual(["after0001.ts", "after4096.ts"]);
});
