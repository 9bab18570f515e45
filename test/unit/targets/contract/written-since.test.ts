import { tableFromArrays, tableToIPC } from "apache-arrow";
import { expect, test } from "vitest";
import type { VersionedTable } from "../../../../src/targets/contract/versioned-table.ts";
import { tallyOf } from "../../../../src/targets/contract/written-since.ts";
import { rowIdColumns } from "../../../../src/wire/rows/row-ids.ts";

/** A table without stable ids: the id of a row is its fragment's number, shifted by 32 bits, and its place in it. */
function rowsIn(...fragments: readonly number[]): VersionedTable {
  // Each column has an array of its own: the package writes the second of two that share one wrong.
  const values = (name: string) =>
    BigUint64Array.from(fragments, (fragment) => (name.startsWith("_row_") ? 1n : BigInt(fragment) << 32n));
  const columns = Object.fromEntries(rowIdColumns.map((name) => [name, values(name)]));
  const batches = async function* () {
    yield Buffer.from(tableToIPC(tableFromArrays(columns), "file"));
  };
  return { batches } as Partial<VersionedTable> as VersionedTable;
}

test("rows of other fragments are other rows, also if as many are left and at the same places", async () => {
  const sumOf = async (...fragments: readonly number[]) => (await tallyOf(rowsIn(...fragments), 1, Infinity))!.sum;
  expect(await sumOf(0, 1)).toBe(await sumOf(1, 0));
  expect(await sumOf(0, 1)).not.toBe(await sumOf(0, 2));
  expect(await sumOf(3, 1)).not.toBe(await sumOf(3, 2));
});
