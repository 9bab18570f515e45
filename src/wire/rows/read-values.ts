/** Reads rows of any columns from Arrow IPC, as migrations write them. */
import { isFloat } from "../../schema/data-type.ts";
import type { RowValue, RowValues } from "../../schema/row-values.ts";
import { valueAt } from "../values/decode.ts";
import { readBatches, type Batch } from "../values/read-batches.ts";

/** The rows of files or streams, with values as in wire/values/decode.ts. */
export function rowsIn(files: readonly Buffer[]): readonly RowValues[] {
  return files.flatMap((file) => [...batchesIn(file)].flat());
}

/** The rows of each batch of a file or a stream. */
export function* batchesIn(file: Buffer): Generator<readonly RowValues[]> {
  for (const batch of readBatches(file).batches) yield rowsOfBatch(batch);
}

/** The name of a column with a vector that holds NaN; undefined if there is none. */
export function vectorWithNaN(file: Buffer): string | undefined {
  for (const { columns, arrays, length } of readBatches(file).batches)
    for (const [at, { name, type }] of columns.entries()) {
      if (type.kind !== "fixedSizeList" || !isFloat(type.item.type)) continue;
      for (let row = 0; row < length; row++) {
        const vector = valueAt(arrays[at]!, row) as Iterable<RowValue> | null;
        if (vector !== null && [...vector].some(Number.isNaN)) return name;
      }
    }
  return undefined;
}

function rowsOfBatch({ columns, arrays, length }: Batch): readonly RowValues[] {
  // A copy takes a fraction of the time of Object.fromEntries, and has a column `__proto__` too.
  const empty: Record<string, RowValue> = Object.fromEntries(columns.map(({ name }) => [name, null]));
  const rows = Array.from({ length }, () => ({ ...empty }));
  for (const [index, { name }] of columns.entries())
    for (let row = 0; row < length; row++) rows[row]![name] = valueAt(arrays[index]!, row);
  return rows;
}
