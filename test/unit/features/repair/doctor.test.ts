import { expect, test } from "vitest";
import { doctor } from "../../../../src/features/repair/doctor.ts";
import type { Target } from "../../../../src/targets/contract/target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";

/** The result for a target in memory with these changes, and what was told in the meantime. */
async function examined(changes: Partial<Target> = {}) {
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  const told: object[] = [];
  return { ...(await doctor({ ...target, ...changes }, "_migrations", (news) => told.push(news))), told };
}

test("a target that does everything is fit, and its lease is checked last", async () => {
  const { findings, fit, leftBehind, told } = await examined();
  expect({ fit, leftBehind }).toEqual({ fit: true, leftBehind: [] });
  expect(findings.filter(({ found }) => found).map(({ what }) => what)).toEqual([
    "lists its tables",
    "creates a table",
    "lists the table that it has just created, each time",
    "refuses a second create of the same name",
    "describes a table as it was made",
    "accepts a column renamed to its own name",
    "renames a column",
    "refuses to rename a column that is not there",
    "renames a nested column",
    "retypes a column",
    "accepts a retype to the type that the column has",
    "refuses a cast that the engine can't do",
    "lets a column hold no nulls",
    "accepts a nullability that the column has",
    "lets a column hold nulls",
    "tells one of 8 that it holds the lease",
  ]);
  expect(told).toEqual([...findings, { leftBehind }]);
});

test("a target that does not describe the table that it has just created is not fit", async () => {
  const { findings, fit } = await examined({ describeTable: async () => undefined });
  expect(fit).toBe(false);
  expect(findings).toContainEqual({
    what: "describes a table as it was made",
    found: false,
    needed: true,
    detail: "it does not exist",
  });
});
