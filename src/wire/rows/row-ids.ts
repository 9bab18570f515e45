/**
 * Reads from Arrow IPC what a table records about its rows: ids, addresses and versions. Loaded when rows are compared.
 */
import { tableFromIPC } from "apache-arrow";

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
export function* rowIdsOf(bytes: Uint8Array): Generator<RowIds> {
  for (const batch of tableFromIPC(bytes).batches) {
    const [id, address, created, updated] = rowIdColumns.map((name) => {
      const values = batch.getChild(name)?.toArray() as BigUint64Array | undefined;
      if (values === undefined) throw new TypeError(`there is no column ${name}`);
      return new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
    });
    yield { count: batch.numRows, id: id!, address: address!, created: created!, updated: updated! };
  }
}
