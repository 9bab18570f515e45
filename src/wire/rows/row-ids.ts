/** Reads from Arrow IPC what a table records about its rows: ids, addresses and versions. */
import { readBatches } from "../values/read-batches.ts";

export const rowIdColumns = ["_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version"] as const;

/** Each value is two 32-bit words, the lower one first. */
interface RowIds {
  readonly count: number;
  readonly id: Uint32Array;
  readonly address: Uint32Array;
  readonly created: Uint32Array;
  readonly updated: Uint32Array;
}

/** One entry per batch of a file or a stream. Throws if one of the columns is missing. */
export function* rowIdsOf(bytes: Buffer): Generator<RowIds> {
  for (const { columns, arrays, length } of readBatches(bytes).batches) {
    const [id, address, created, updated] = rowIdColumns.map((name) => {
      const values = arrays[columns.findIndex((column) => column.name === name)]?.buffers[0];
      if (values === undefined) throw new TypeError(`there is no column ${name}`);
      return new Uint32Array(new Uint8Array(values.subarray(0, length * 8)).buffer);
    });
    yield { count: length, id: id!, address: address!, created: created!, updated: updated! };
  }
}
