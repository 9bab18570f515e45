/** A table of which one client alone knows, and what it must hold after each of its requests. */
import type { Chance } from "../../simulate/seeded-random.ts";
import { arrow } from "../draw/arrow-bodies.ts";

export type Row = Readonly<Record<string, number | string | null>>;

export interface OwnColumn {
  readonly name: string;
  readonly type: "int32" | "int64" | "string";
}

/** What belongs to one version. */
interface Content {
  readonly columns: readonly OwnColumn[];
  readonly rows: readonly Row[];
  readonly indexes: ReadonlySet<string>;
}

export interface OwnTable {
  readonly name: string;
  version: number;
  content: Content;
  readonly history: Map<number, Content>;
  readonly tags: Map<string, number>;
  nextId: number;
  nextName: number;
}

const firstColumns: readonly OwnColumn[] = [
  { name: "id", type: "int32" },
  { name: "title", type: "string" },
  { name: "n", type: "int32" },
];

export function newTable(name: string, chance: Chance): OwnTable {
  const table: OwnTable = {
    name,
    version: 1,
    content: { columns: firstColumns, rows: [], indexes: new Set() },
    history: new Map(),
    tags: new Map(),
    nextId: 0,
    nextName: 0,
  };
  table.content = { ...table.content, rows: drawRows(chance, table, 5 + chance.below(40)) };
  table.history.set(1, table.content);
  return table;
}

/** A new version with this content. */
export function commit(table: OwnTable, change: Partial<Content>): void {
  table.content = { ...table.content, ...change };
  table.history.set(++table.version, table.content);
}

/** Rows with new ids. */
export function drawRows(chance: Chance, table: OwnTable, count: number): Row[] {
  return Array.from({ length: count }, () => drawRow(chance, table, table.nextId++));
}

export const words = ["momo", "emil", "krabat", "it's", 'a "b"', "ü中😀", "Commit conflict for version 7", ""];

export function drawRow(chance: Chance, { content }: OwnTable, id: number): Row {
  const others = content.columns.slice(firstColumns.length).map(({ name, type }) => {
    const value = chance.happens(0.5) ? id : null;
    return [name, type === "string" && value !== null ? String(value) : value] as const;
  });
  return Object.fromEntries([
    ["id", id],
    ["title", chance.happens(0.1) ? null : chance.pick(words)],
    ["n", chance.happens(0.1) ? null : chance.below(20) - 5],
    ...others,
  ]);
}

const typeOf = { int32: () => new arrow.Int32(), int64: () => new arrow.Int64(), string: () => new arrow.Utf8() };

export type StreamForm = "one" | "batches" | "none" | "dictionary" | "dictionaries";

/** A stream with these rows, in one of the forms that writers have. */
export function rowsStream(columns: readonly OwnColumn[], rows: readonly Row[], form: StreamForm = "one"): Buffer {
  const isDictionary = form === "dictionary" || form === "dictionaries";
  // A dictionary of its own in each batch would have another id: it is replaced only under the same one.
  const fields = columns.map(({ name, type }) => {
    const plain = typeOf[type]();
    const own = isDictionary && type === "string" ? new arrow.Dictionary(plain, new arrow.Int32(), 1) : plain;
    return new arrow.Field(name, own as InstanceType<typeof arrow.DataType>, true);
  });
  const schema = new arrow.Schema(fields);
  const batchOf = (part: readonly Row[]) => {
    const children = fields.map(({ name, type }) => {
      const values = part.map((row) =>
        type instanceof arrow.Int64 && row[name] !== null ? BigInt(row[name]!) : row[name],
      );
      return arrow.vectorFromArray(values as never[], type as never).data[0]!;
    });
    const data = arrow.makeData({
      type: new arrow.Struct(fields),
      length: part.length,
      nullCount: 0,
      children: children as never[],
    });
    return new arrow.RecordBatch(schema, data as never);
  };
  const half = Math.ceil(rows.length / 2);
  const parts =
    form === "none"
      ? []
      : form === "batches" || form === "dictionaries"
        ? [rows.slice(0, half), [], rows.slice(half)].filter((part) => form === "batches" || part.length > 0)
        : [rows];
  return Buffer.from(
    arrow.RecordBatchStreamWriter.writeAll(new arrow.Table(schema, parts.map(batchOf))).toUint8Array(true),
  );
}

/** A condition, in SQL and as the engine decides it: null where it is unknown. */
export interface Condition {
  readonly sql: string;
  readonly holds: (row: Row) => boolean | null;
}

export function drawCondition(chance: Chance, { nextId }: OwnTable, depth = 2): Condition {
  if (depth > 0 && chance.happens(0.3)) {
    const [one, other] = [
      drawCondition(chance, { nextId } as OwnTable, depth - 1),
      drawCondition(chance, { nextId } as OwnTable, depth - 1),
    ];
    return chance.pick<() => Condition>([
      () => ({ sql: `(${one.sql}) AND (${other.sql})`, holds: (row) => and(one.holds(row), other.holds(row)) }),
      () => ({
        sql: `(${one.sql}) OR (${other.sql})`,
        holds: (row) => not(and(not(one.holds(row)), not(other.holds(row)))),
      }),
      () => ({ sql: `NOT (${one.sql})`, holds: (row) => not(one.holds(row)) }),
    ])();
  }
  const [id, n, word] = [chance.below(nextId + 2), chance.below(20) - 5, chance.pick(words)];
  const ids = [id, chance.below(nextId + 2), chance.below(nextId + 2)];
  const known = (row: Row, name: string, test: (value: never) => boolean) =>
    row[name] === null ? null : test(row[name] as never);
  return chance.pick<Condition>([
    { sql: `id < ${id}`, holds: (row) => known(row, "id", (value: number) => value < id) },
    { sql: `id IN (${ids.join(", ")})`, holds: (row) => known(row, "id", (value: number) => ids.includes(value)) },
    { sql: `n >= ${n}`, holds: (row) => known(row, "n", (value: number) => value >= n) },
    { sql: `title = ${quoted(word)}`, holds: (row) => known(row, "title", (value: string) => value === word) },
    { sql: `title <> ${quoted(word)}`, holds: (row) => known(row, "title", (value: string) => value !== word) },
    { sql: "n IS NULL", holds: (row) => row["n"] === null },
    { sql: "title LIKE 'm%'", holds: (row) => known(row, "title", (value: string) => value.startsWith("m")) },
    { sql: "true", holds: () => true },
  ]);
}

export const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

const not = (value: boolean | null) => (value === null ? null : !value);
const and = (one: boolean | null, other: boolean | null) =>
  one === false || other === false ? false : one === null || other === null ? null : true;

/** Rows in an order and form in which they can be compared. */
export function comparable(rows: readonly Row[], names: readonly string[]): readonly string[] {
  return rows.map((row) => JSON.stringify(names.map((name) => row[name]))).toSorted();
}

/** Rows of Arrow data as plain values. */
export function rowsOfArrow(data: Buffer | InstanceType<typeof arrow.Table>): Row[] {
  const table: InstanceType<typeof arrow.Table> = Buffer.isBuffer(data) ? arrow.tableFromIPC(data) : data;
  const columns = table.schema.fields.map((field, at) => [field.name, table.getChildAt(at)!] as const);
  return Array.from({ length: table.numRows }, (_, place) =>
    Object.fromEntries(
      columns.map(([name, column]) => {
        const value = column.get(place) as Row[string] | bigint;
        return [name, typeof value === "bigint" ? Number(value) : value];
      }),
    ),
  );
}
