import { expect, test } from "vitest";
import type { Action } from "../../../../src/actions/model/action.ts";
import type { Column } from "../../../../src/schema/data-type.ts";
import { madeName } from "../../../../src/schema/names.ts";
import { int32, utf8 } from "../../../../src/schema/declare/type-builders.ts";
import { holds } from "../../../../src/targets/contract/holds.ts";
import type { VersionedTable } from "../../../../src/targets/contract/versioned-table.ts";

const column = (name: string, { type }: Pick<Column, "type">): Column => ({ name, type, nullable: true });
const [old, wanted, made] = [column("n", int32()), column("n", utf8()), column(madeName, utf8())];

/** The columns of each version that is left. `others`: in how many rows of a version the values are others. */
function aTable(versions: Readonly<Record<number, readonly Column[]>>, others = 0): VersionedTable {
  const rest = { metadata: {}, at: undefined };
  const table: Partial<VersionedTable> = {
    list: async () => Object.keys(versions).map((version) => ({ version: Number(version), ...rest })),
    columns: async (version) => versions[version]!,
    count: async () => others,
  };
  return table as VersionedTable;
}

const convert = (to: Column): Action => ({ kind: "convertColumn", table: "t", path: "n", type: to.type, using: "0" });

test.each<readonly [left: string, Readonly<Record<number, readonly Column[]>>, boolean | undefined]>([
  ["the version with the name that only this tool gives", { 1: [old], 3: [old, made], 5: [wanted] }, true],
  ["the version right before another program made it", { 1: [old], 6: [old], 7: [], 8: [wanted] }, false],
  ["the first version, which has it already, and all others", { 1: [wanted], 2: [wanted] }, false],
  ["the first version, which is kept, and the last one", { 1: [old], 5: [wanted] }, undefined],
  ["no version without it", { 5: [wanted] }, undefined],
])("whether a column was recreated, where there is %s", async (_, versions, is) => {
  expect(await holds(aTable(versions), convert(wanted))).toBe(is);
});

test("a column that is recreated as the same type may have been another one in a version that was cleaned up", async () => {
  expect(await holds(aTable({ 1: [old], 5: [old] }), convert(old))).toBe(undefined);
  expect(await holds(aTable({ 1: [old], 2: [old] }), convert(old))).toBe(false);
});

const add: Action = { kind: "addColumns", table: "t", columns: [{ ...wanted, as: "'x'" }] };

test.each<readonly [left: string, Readonly<Record<number, readonly Column[]>>, boolean | undefined]>([
  ["the version before", { 4: [], 5: [wanted] }, false],
  ["the first version, which has it already", { 1: [wanted], 5: [wanted] }, false],
  ["no version right before", { 1: [], 5: [wanted] }, undefined],
])("a column with other values was not added with those of the step where there is %s", async (_, versions, is) => {
  expect(await holds(aTable(versions, 1), add)).toBe(is);
});

test("a column that was dropped and added again has the values that it had when it was added last", async () => {
  // What it had before is no sign of what the step gave it.
  const table = aTable({ 1: [], 2: [wanted], 3: [], 4: [wanted], 5: [wanted] });
  const others: Readonly<Record<number, number>> = { 2: 1, 4: 0, 5: 1 };
  expect(await holds({ ...table, count: async (version) => others[version!]! }, add)).toBe(true);
});

test("of more versions than are looked at, nothing is known", async () => {
  const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [index + 2, [wanted]]));
  expect(await holds(aTable({ 1: [], ...many }, 1), add)).toBe(undefined);
  expect(await holds(aTable({ 1: [old], ...many }), convert(wanted))).toBe(undefined);
});
