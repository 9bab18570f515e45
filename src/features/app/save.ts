/** Writes rows with vectors of the model that the column has. */
import { makeArrowTable, type Table } from "@lancedb/lancedb";
import { carriedValues, isSameValue } from "./carried-values.ts";
import { checkIntegers, checkKeys } from "./keys.ts";
import { embed, isSameModel, look, type Models, type SeenColumn } from "./column-model.ts";

export interface SaveOptions<Row> {
  /** The column by which rows are matched. */
  readonly key: string;
  /** The columns that the vector depends on. By default all columns of the rows but the key. */
  readonly from?: readonly string[];
  readonly models: Models<Row>;
  /** How often the engine may refuse a write, because others have written or the schema has changed. 10 by default. */
  readonly attempts?: number;
  readonly signal?: AbortSignal;
}

/**
 * Updates rows, and inserts those whose key is new, with vectors of the model that `column` has. If a migration switches
 * the column meanwhile, the rows get vectors of its new model too. A row whose `from` columns another writer has changed
 * since keeps what that writer gave it.
 */
export async function save<Row extends object>(
  table: Table,
  column: string,
  rows: readonly Row[],
  { attempts = 10, ...options }: SaveOptions<Row>,
): Promise<void> {
  const { models, signal } = options;
  if (rows.length === 0) return;
  const names = columnsOf(rows, column, options);
  checkKeys(rows, options.key);
  /** By model, so that a repeated write does not embed again. */
  const known = new Map<string, number[][]>();
  let written: SeenColumn | undefined;
  for (let failures = 0; ;) {
    const seen = await look(table, column);
    if (written !== undefined && isSameModel(written, seen)) return;
    const model = JSON.stringify([seen.version, seen.dimensions]);
    const vectors = known.get(model);
    if (vectors === undefined) {
      known.set(model, await embed(rows, seen, { column, models, signal }));
      // The column may have been switched meanwhile.
      continue;
    }
    try {
      // The table may have been refreshed by another call, or not be refreshed yet when the engine commits. So the vectors
      // may get into a column of another model, which the next look finds.
      await write(table, column, { rows, vectors, seen, names, isWritten: written !== undefined, ...options });
      written = seen;
    } catch (error) {
      failures++;
      const isOutdated =
        error instanceof RowsChanged || isConflict(error) || hasChanged(seen, await look(table, column));
      if (failures >= attempts || !isOutdated) throw error;
      await pause(failures);
      signal?.throwIfAborted();
    }
  }
}

interface Write<Row> extends Pick<SaveOptions<Row>, "key" | "from"> {
  readonly rows: readonly Row[];
  readonly vectors: readonly number[][];
  readonly seen: SeenColumn;
  readonly names: readonly string[];
  /** Whether the rows themselves were written, and only lack the vector of the new model. */
  readonly isWritten: boolean;
}

async function write<Row extends object>(table: Table, column: string, given: Write<Row>): Promise<void> {
  const { rows, vectors, seen, names, isWritten, key, from = names.filter((name) => name !== key) } = given;
  const columns = isWritten ? [key, ...from] : names;
  const missing = columns.find((name) => !seen.schema.names.includes(name));
  if (missing !== undefined) throw new Error(`The table ${table.name} has no column ${missing}.`);
  checkIntegers(rows, key, seen.schema);
  const lacking = seen.schema.names.map(String).filter((name) => name !== column && !columns.includes(name));
  // To leave columns as they are, the engine reads them in all rows of the table.
  const mayCarry = !isWritten && lacking.length > 0;
  const carried = mayCarry ? await carriedValues(table, seen.schema, lacking, rows, key) : undefined;
  const values = rows.map((row, index) => {
    const own = Object.entries(row).filter(([name]) => columns.includes(name));
    return { ...Object.fromEntries(own), ...carried?.values[index], [column]: vectors[index] };
  });
  const schema = carried === undefined ? seen.schema.select([...columns, column]) : seen.schema;
  // With an index, the engine would write whole files again to change some columns of a row, and no index would cover them.
  const isWhole = lacking.length === 0 || carried !== undefined;
  const merge = isWhole ? table.mergeInsert(key) : table.mergeInsert(key).useIndex(false);
  const merging = isWritten
    ? // Neither a newer text nor a deleted row is written again.
      merge.whenMatchedUpdateAll(from.length === 0 ? undefined : { where: from.map(isSameValue).join(" and ") })
    : merge
        .whenMatchedUpdateAll(carried?.isSame === undefined ? undefined : { where: carried.isSame })
        .whenNotMatchedInsertAll();
  const { numUpdatedRows, numInsertedRows } = await merging.execute(makeArrowTable(values, { schema }));
  if (carried !== undefined && numUpdatedRows + numInsertedRows < rows.length) throw new RowsChanged();
}

/** Others have changed rows since their values were looked up. */
class RowsChanged extends Error {
  constructor() {
    super("Others keep changing the rows that are saved.");
  }
}

/** The columns that the rows have. A row that lacks one would lose the value that it has in the table. */
function columnsOf<Row extends object>(
  rows: readonly Row[],
  column: string,
  { key, from = [] }: Pick<SaveOptions<Row>, "key" | "from">,
): readonly string[] {
  const names = new Set([key, ...from, ...rows.flatMap((row) => Object.keys(row))]);
  names.delete(column);
  for (const [index, row] of rows.entries())
    for (const name of names)
      if (!Object.hasOwn(row, name)) throw new Error(`Row ${index} has no ${name}. All rows need the same columns.`);
  return [...names];
}

/** Whether another commit came first at every try of the engine, or of a service. */
function isConflict(error: unknown): boolean {
  // The engine may panic if the schema changes while it writes.
  return /commit conflict|incompatible transaction|preempted by|too many concurrent writers|409 Conflict|panicked/i.test(
    String(error),
  );
}

function hasChanged(seen: SeenColumn, now: SeenColumn): boolean {
  return !isSameModel(seen, now) || String(seen.schema) !== String(now.schema);
}

async function pause(failures: number): Promise<void> {
  const longest = Math.min(2_000, 20 * 2 ** failures);
  await new Promise((resolve) => setTimeout(resolve, longest * (0.5 + Math.random() / 2)));
}
