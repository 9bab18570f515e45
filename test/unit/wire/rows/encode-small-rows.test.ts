import { tableFromIPC } from "apache-arrow";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { columnsOf, int32, int64, timestamp, utf8 } from "../../../../src/schema/declare/type-builders.ts";
import { ledgerColumns } from "../../../../src/ledger/journal/rows-journal.ts";
import { fromIpc } from "../../../../src/wire/arrow/arrow-schema.ts";
import { checkMessages, readMessages } from "../../../../src/wire/arrow/ipc-messages.ts";
import { rowsToIpc, rowsToIpcFile } from "../../../../src/wire/rows/encode-small-rows.ts";
import type { Row } from "../../../../src/wire/rows/ipc-rows.ts";
import { valuesToIpc } from "../../../../src/wire/rows/encode-rows.ts";

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

test("the schema of a ledger is that which apache-arrow writes, with the mark of the key", () => {
  const fieldsOf = (stream: Uint8Array) =>
    tableFromIPC(stream).schema.fields.map(({ name, type, nullable, metadata }) => [
      name,
      String(type),
      nullable,
      ...metadata,
    ]);
  const marked = ["lance-schema:unenforced-primary-key", "true"];
  expect(fieldsOf(rowsToIpc(ledgerColumns, [], "key"))).toEqual(
    fieldsOf(valuesToIpc(ledgerColumns, [], "stream")).map((field) =>
      field[0] === "key" ? [...field, marked] : field,
    ),
  );
});

test("columns of other types are refused", () => {
  expect(() => rowsToIpc(columnsOf({ a: int32() }), [])).toThrow("small tables have no columns of type int32");
  expect(() => rowsToIpc(columnsOf({ a: timestamp("us") }), [])).toThrow("no columns of type timestamp");
});
