import { tableFromIPC } from "apache-arrow";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf, decimal128, int64, timestamp, utf8 } from "../../../../src/schema/declare/type-builders.ts";
import { ledgerColumns } from "../../../../src/ledger/journal/rows-journal.ts";
import { fromIpc } from "../../../../src/wire/arrow/arrow-schema.ts";
import { checkMessages, readMessages } from "../../../../src/wire/arrow/ipc-messages.ts";
import { rowsToIpc, rowsToIpcFile } from "../../../../src/wire/rows/write-rows.ts";
import type { Row } from "../../../../src/wire/rows/ipc-rows.ts";

const columns = columnsOf({ text: utf8(), number: int64(), time: timestamp("ms", "UTC"), other: utf8().notNull() });

const row = fc.record<Row>({
  text: fc.option(fc.string({ unit: "binary" })),
  number: fc.option(fc.maxSafeInteger()),
  time: fc.option(fc.integer({ min: -8.64e15, max: 8.64e15 })),
  other: fc.string({ unit: "grapheme" }),
});

/** The rows that apache-arrow reads in a stream or a file. */
function read(bytes: Uint8Array): readonly Row[] {
  return tableFromIPC(bytes)
    .toArray()
    .map(({ text, number, time, other }: Record<string, unknown>) => ({
      text: text as string | null,
      number: number === null ? null : Number(number),
      time: time as number | null,
      other: other as string,
    }));
}

test("apache-arrow reads the rows that were encoded", () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
      const stream = rowsToIpc(columns, rows);
      expect(fromIpc(stream)).toEqual(columns);
      checkMessages(readMessages(stream), 2 ** 20);
      expect(read(stream)).toEqual(rows);
      expect(read(rowsToIpcFile(columns, rows))).toEqual(rows);
    }),
  );
});

test("halves of a character in two texts are no character", () => {
  const rows = ["\ud83d", "\ude00"].map((other) => ({ text: null, number: null, time: null, other }));
  expect(read(rowsToIpc(columns, rows)).map(({ other }) => other)).toEqual(["\ufffd", "\ufffd"]);
});

test("the schema of a ledger has the mark of the key", () => {
  const metadataOf = (stream: Uint8Array) =>
    Object.fromEntries(tableFromIPC(stream).schema.fields.map(({ name, metadata }) => [name, [...metadata]]));
  const unmarked = Object.fromEntries(ledgerColumns.map(({ name }) => [name, []]));
  expect(metadataOf(rowsToIpc(ledgerColumns, []))).toEqual(unmarked);
  const marked = ["lance-schema:unenforced-primary-key", "true"];
  expect(metadataOf(rowsToIpc(ledgerColumns, [], { key: "key" }))).toEqual({ ...unmarked, key: [marked] });
});

test("columns of types that rows can't hold are refused", () => {
  const columns = columnsOf({ a: decimal128(5, 2) });
  expect(() => rowsToIpc(columns, [{ a: "1.25" }])).toThrow("no values of type decimal128");
  expect(read(rowsToIpc(columns, []))).toEqual([]);
});
