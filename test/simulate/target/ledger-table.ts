/** The ledger's small table in memory. */
import type { Clock } from "../../../src/time/clock.ts";
import { lastRow, type Cell, type Row } from "../../../src/wire/rows/ipc-rows.ts";
import { retry } from "../../../src/targets/contract/retry.ts";
import type { RecordShape, RecordTable } from "../../../src/targets/contract/ledger-store.ts";
import { verdictOf } from "../../../src/features/rest/service-verdict.ts";
import type { Carry } from "./carry.ts";
import type { TargetWatch } from "./memory-target.ts";
import type { MemoryTables } from "./memory-table.ts";

interface Home {
  readonly tables: MemoryTables;
  readonly carry: Carry;
  readonly clock: Pick<Clock, "sleep" | "random">;
  /** A service is asked again while there is no answer: it merges by key, so that a second time adds nothing. */
  readonly isService: boolean;
  readonly watch: TargetWatch;
}

export function memoryRecords(
  { tables, carry, clock, isService, watch }: Home,
  { name, columns, key }: RecordShape,
): RecordTable {
  const read = async <Result>(what: string, work: () => Result): Promise<Result> =>
    await retry(() => carry({ what: `${what} ${name}`, arrive: () => work }), verdictOf, clock);
  const write = async <Result>(what: string, work: () => Result): Promise<Result> => {
    const send = () => carry({ what: `${what} ${name}`, arrive: () => work, records: true });
    return isService ? await retry(send, verdictOf, clock) : await send();
  };
  /** How many of them were not there. */
  const merge = (rows: readonly Row[]): number => {
    const known = new Set(tables.get(name)?.rows.map((row) => row[key]));
    const absent = rows.filter((row) => !known.has(row[key]!));
    if (absent.length > 0) tables.append(name, absent);
    return absent.length;
  };
  return {
    create: () => write("create", () => void tables.create(name, columns)),
    async all() {
      const rows = await read("read", () => tables.get(name)?.rows);
      watch.read((rows ?? []).map(({ epoch }) => Number(epoch)));
      return rows;
    },
    async last(order, names, predicate) {
      const find = () => {
        const rows = tables.get(name)?.rows ?? [];
        const row = lastRow(rows, order);
        return { row, matched: rows.some(holds(predicate(row))) };
      };
      const { row, matched } = await read("read the end of", find);
      return row && { row: Object.fromEntries(names.map((column) => [column, row[column] ?? null])), matched };
    },
    count: (predicate) => read("count in", () => (tables.get(name)?.rows ?? []).filter(holds(predicate)).length),
    insertIfAbsent: async (row) => (await write("merge into", () => merge([row]))) === 1,
    insert(rows) {
      rows.forEach(watch.written);
      return write("append to", () => (isService ? void merge(rows) : tables.append(name, rows)));
    },
    compact: async () => {},
  };
}

/** As much of SQL as a ledger asks: columns against values, with AND inside OR. */
export function holds(predicate: string): (row: Row) => boolean {
  const sides = predicate.split(" OR ").map((side) =>
    side
      .replace(/^\(|\)$/g, "")
      .split(" AND ")
      .map(compares),
  );
  return (row) => sides.some((all) => all.every((one) => one(row)));
}

function compares(comparison: string): (row: Row) => boolean {
  const [, column = "", sign, text = ""] = /^(\w+) (=|>|LIKE) (.+)$/.exec(comparison) ?? [];
  const value: Cell = text.startsWith("'") ? text.slice(1, -1) : Number(text);
  if (sign === "LIKE") return (row) => String(row[column] ?? "").startsWith(String(value).replace(/%$/, ""));
  return (row) => (sign === "=" ? row[column] === value : row[column]! > value);
}
