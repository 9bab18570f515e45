/** How many bytes the values in Arrow IPC data take. Loaded when rows are sampled. */
import { DataType, tableFromIPC, type Data } from "apache-arrow";

/** For each column of a file or a stream, without headers and padding. Throws if apache-arrow does not know a type. */
export function bytesOfColumns(file: Uint8Array): { readonly rows: number; readonly bytes: readonly number[] } {
  const { batches, numRows, schema } = tableFromIPC(file);
  const bytes = schema.fields.map((_, at) => batches.reduce((sum, { data }) => sum + bytesOf(data.children[at]!), 0));
  return { rows: numRows, bytes };
}

function bytesOf(data: Data): number {
  // A column without rows may have no offsets.
  if (data.length === 0) return 0;
  const { valueOffsets, values } = data;
  const own =
    DataType.isUtf8(data.type) ||
    DataType.isBinary(data.type) ||
    DataType.isLargeUtf8(data.type) ||
    DataType.isLargeBinary(data.type)
      ? Number(valueOffsets[data.length]!) - Number(valueOffsets[0]!)
      : ((values as Uint8Array | undefined)?.byteLength ?? 0);
  return data.children.reduce((sum, child) => sum + bytesOf(child), own);
}
