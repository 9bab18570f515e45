/** Converts rows of a small table to Arrow IPC and back with apache-arrow. Loaded when rows are sent or read. */
import {
  Field,
  Int64,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMillisecond,
  Utf8,
  makeData,
  tableFromIPC,
  tableToIPC,
  vectorFromArray,
  type DataType as ArrowType,
} from "apache-arrow";
import { formatType, type Column, type DataType } from "../../schema/data-type.ts";

/** A value of a small table. Timestamps are milliseconds since 1970. */
export type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

/** Marks a column as the engine's primary key: a merge then inserts a row only if its key does not exist yet. */
const keyMark = new Map([["lance-schema:unenforced-primary-key", "true"]]);

/** An Arrow IPC stream of one batch, which may be empty. `key` names the column whose values are unique. */
export function rowsToIpc(columns: readonly Column[], rows: readonly Row[], key?: string): Uint8Array {
  const fields = columns.map(
    ({ name, type, nullable }) => new Field(name, toArrow(type), nullable, name === key ? keyMark : undefined),
  );
  const schema = new Schema(fields);
  const children = columns.map(({ name, type }, index) => {
    const values = rows.map((row) => toValue(row[name] ?? null, type));
    return vectorFromArray(values, fields[index]!.type).data[0] ?? makeData({ type: fields[index]!.type, length: 0 });
  });
  const data = makeData({ type: new Struct(fields), length: rows.length, nullCount: 0, children });
  return tableToIPC(new Table([new RecordBatch(schema, data)]), "stream");
}

/**
 * The given columns of the rows of an Arrow IPC file or stream. Throws if the data is not Arrow IPC or lacks a column.
 */
export function rowsFromIpc(bytes: Uint8Array, names: readonly string[]): readonly Row[] {
  // apache-arrow reads empty input, and much that is not Arrow data, as a table without columns.
  const table = tableFromIPC(bytes);
  const columns = names.map((name) => {
    const values = table.getChild(name);
    if (values === null) throw new TypeError(`there is no column ${name}`);
    return [name, values] as const;
  });
  return Array.from({ length: table.numRows }, (_, index) =>
    Object.fromEntries(columns.map(([name, values]) => [name, toCell(values.get(index))])),
  );
}

function toArrow(type: DataType): ArrowType {
  if (type.kind === "utf8") return new Utf8();
  if (type.kind === "int64") return new Int64();
  if (type.kind === "timestamp" && type.unit === "ms") return new TimestampMillisecond(type.zone);
  throw new TypeError(`rows of small tables hold no ${formatType(type)}`);
}

function toValue(cell: Cell, type: DataType): unknown {
  return type.kind === "int64" && typeof cell === "number" ? BigInt(cell) : cell;
}

function toCell(value: unknown): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.getTime();
  return value as string | number;
}
