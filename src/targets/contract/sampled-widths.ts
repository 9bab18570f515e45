/** Measures the size of values, from a sample of rows spread over a table. */

/** Reads these expressions of `limit` rows, from the one at `offset` on, as Arrow IPC. */
export type ReadRows = (
  columns: readonly (readonly [name: string, sql: string])[],
  limit: number,
  offset: number,
) => Promise<readonly Buffer[]>;

const places = 8;
const mostRows = 64;
/** If values are long, fewer rows are read at each place, to stay below this size. */
const mostBytes = 2 ** 20;

/** The mean size in bytes of each expression's values; undefined if the table has no rows. */
export async function sampledWidths(
  read: ReadRows,
  expressions: readonly string[],
  rows: number,
): Promise<readonly number[] | undefined> {
  const { bytesOfColumns } = await import("../../wire/rows/value-bytes.ts");
  const columns = expressions.map((sql, index) => [`v${index}`, sql] as const);
  const sums = columns.map(() => 0);
  let [seen, longest, limit] = [0, 0, 1];
  for (let place = 0; place <= places; place++) {
    // The first place is read twice: first one row, which shows how many rows to request.
    const offset = Math.floor((Math.max(0, place - 1) * rows) / places);
    let [count, length] = [0, 0];
    for (const file of await read(columns, limit, offset)) {
      const found = bytesOfColumns(file);
      count += found.rows;
      for (const [index, bytes] of found.bytes.entries()) {
        length += bytes;
        if (place > 0) sums[index]! += bytes;
      }
    }
    if (place > 0) seen += count;
    longest = Math.max(longest, length / Math.max(1, count));
    limit = Math.max(1, Math.min(mostRows, Math.floor(mostBytes / Math.max(1, longest))));
  }
  return seen === 0 ? undefined : sums.map((sum) => sum / seen);
}
