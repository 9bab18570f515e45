/** The table of the ledger on the embedded engine. */
import type { Row } from "../../wire/rows/ipc-rows.ts";
import type { RecordShape, RecordTable } from "../contract/ledger-store.ts";
import { createOnce } from "../../engine/create-table.ts";
import type { NativeTable } from "../../engine/engine.ts";
import { readRowsOf } from "../../engine/read-table.ts";
import { engineProblem, isEngineError } from "../../engine/problem/engine-problem.ts";
import { addRows, mergeRows } from "../../engine/write-rows.ts";
import { systemClock } from "../../time/clock.ts";
import { patience, retry } from "../contract/retry.ts";
import { verdict, type Store } from "./store.ts";

/** Each append creates a file. More files than this cost readers and writers more than merging them does. */
const mostSmallFiles = 32;
/**
 * How many milliseconds old versions stay: for readers that are reading one, and for writers, because the engine checks
 * a commit against every version since. Each version that stays makes writes a little slower.
 */
const versionsStay = 60_000;

export function lanceRecords(store: Store, { name, columns, key }: RecordShape): RecordTable {
  const { location, makeFolder, asking, calling, cleanUp } = store;
  const openLedger = store.openingLedger(name);
  const whenConflict = (error: unknown) =>
    ({ kind: verdict(error).kind === "conflict" ? "conflict" : "refused" }) as const;
  let opened: NativeTable | undefined;
  /** How many more appends cannot make too many small files. */
  let room = 0;

  async function open(): Promise<NativeTable | undefined> {
    return (opened ??= await openLedger());
  }

  async function openToWrite(): Promise<NativeTable> {
    const table = await open();
    if (table === undefined) throw new Error(`there is no table ${name}`);
    return table;
  }

  /** Reads with `work`; undefined if there is no table. */
  async function read<Result>(work: (table: NativeTable) => Promise<Result>): Promise<Result | undefined> {
    const table = await open();
    return table && (await asking(() => patiently(() => work(table))));
  }

  async function count(predicate: string): Promise<number> {
    return (await read((table) => table.countRows(predicate))) ?? 0;
  }

  async function fileOf(rows: readonly Row[]): Promise<Buffer> {
    // Lazy: a run with nothing pending writes no record.
    const { rowsToIpcFile } = await import("../../wire/rows/write-rows.ts");
    return rowsToIpcFile(columns, rows);
  }

  return {
    create: plainly(async () => {
      await makeFolder();
      const create = () => createOnce(location, name, columns, (table) => table.setUnenforcedPrimaryKey([key]));
      await retry(() => calling(create), whenConflict, systemClock, patience.conflict);
    }),
    all: plainly(async (columns: readonly string[]) => await read((table) => readRowsOf(table, { columns }))),
    last: plainly(async (order: readonly string[], columns: readonly string[], predicate: (row?: Row) => string) => {
      const any = predicate();
      const [[row] = [], matching] = await Promise.all([
        read((table) => readRowsOf(table, { columns, last: order })),
        count(any),
      ]);
      if (row === undefined) return undefined;
      const own = predicate(row);
      return { row, matched: matching > 0 && (own === any || (await count(own)) > 0) };
    }),
    count: plainly(count),
    insertIfAbsent: plainly(async (row: Row) => {
      const table = await openToWrite();
      const file = await fileOf([row]);
      const { numInsertedRows } = await calling(() => mergeRows(table, { on: [key], insert: true }, file));
      return numInsertedRows === 1;
    }),
    insert: plainly(async (rows: readonly Row[]) => {
      const table = await openToWrite();
      const file = await fileOf(rows);
      await calling(() => addRows(table, file, "append"));
    }),
    compact: plainly(async () => {
      cleanUp();
      if (room-- > 0) return;
      const table = await openToWrite();
      const { numSmallFragments } = (await table.stats()).fragmentStats;
      room = mostSmallFiles - numSmallFragments;
      if (room >= 0) return;
      await table.optimize(Date.now() - versionsStay);
    }),
  };
}

/** Removes locations in the engine's source from its errors: the ledger's messages end with their first line. */
function plainly<Args extends readonly unknown[], Result>(work: (...args: Args) => Promise<Result>) {
  return async (...args: Args): Promise<Result> => {
    try {
      return await work(...args);
    } catch (cause) {
      throw isEngineError(cause) ? new Error(engineProblem(cause), { cause }) : cause;
    }
  };
}

/** Repeats a failed read: if the process slept for longer than old versions stay, only the newest version has files. */
async function patiently<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch {
    return await read();
  }
}
