/** Reads rows of any columns from Arrow IPC, as migrations write them. */
import type { RowValues } from "../../schema/row-values.ts";
import { valueAt } from "../values/decode.ts";
import { readBatches, type Batch } from "../values/read-batches.ts";

/** The rows of files or streams, with values as in wire/values/decode.ts. */
export function rowsIn(files: readonly Buffer[]): readonly RowValues[] {
  return files.flatMap((file) => [...readBatches(file).batches].flatMap(rowsOfBatch));
}

function rowsOfBatch({ columns, arrays, length }: Batch): readonly RowValues[] {
  return Array.from({ length }, (_, row) =>
    Object.fromEntries(columns.map(({ name }, index) => [name, valueAt(arrays[index]!, row)])),
  );
}
