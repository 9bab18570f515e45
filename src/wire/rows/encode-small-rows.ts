/**
 * Encodes rows of small tables as Arrow IPC: text, whole numbers and times. Without apache-arrow, because a run writes a
 * record for each migration: loading the package, and encoding a row with it, takes longer than the rest.
 */
import type { Column } from "../../schema/data-type.ts";
import { framed, schemaMessage } from "../arrow/arrow-schema.ts";
import { fileOf } from "../arrow/ipc-footer.ts";
import { endOfStream, readMessages } from "../arrow/ipc-messages.ts";
import { batchMessage } from "../arrow/record-batch.ts";
import type { Cell, Row } from "./ipc-rows.ts";

/** Marks a column as the engine's primary key: a merge then inserts a row only if its key does not exist yet. */
const keyMark = { "lance-schema:unenforced-primary-key": "true" };

/** A stream of one batch, which may be empty. `key`: the column whose values are unique. */
export function rowsToIpc(columns: readonly Column[], rows: readonly Row[], key?: string): Buffer {
  const encoded = columns.map(({ name, type }) =>
    encodeColumn(
      type,
      rows.map((row) => row[name] ?? null),
    ),
  );
  const body: Buffer[] = [];
  let bodyLength = 0;
  const buffers = encoded.flatMap(({ parts }) =>
    parts.map((part) => {
      const place = { offset: bodyLength, length: part.length };
      body.push(part, padding.subarray(0, -part.length & 7));
      bodyLength += part.length + (-part.length & 7);
      return place;
    }),
  );
  const nulls = encoded.map((column) => column.nulls);
  const batch = framed(batchMessage({ length: rows.length, nulls, buffers, bodyLength }));
  return Buffer.concat([schemaOf(columns, key), batch, ...body, endOfStream]);
}

/** The same as a file, the form that the engine's native binding takes. */
export function rowsToIpcFile(columns: readonly Column[], rows: readonly Row[]): Buffer {
  return fileOf(readMessages(rowsToIpc(columns, rows)));
}

const none = Buffer.alloc(0);

/** Every buffer begins at a multiple of eight bytes. */
const padding = Buffer.alloc(8);

/** The messages of the schemas of small tables. There are few, and a ledger's is needed for each of its records. */
const schemas = new WeakMap<readonly Column[], Map<string | undefined, Buffer>>();

function schemaOf(columns: readonly Column[], key: string | undefined): Buffer {
  const known = schemas.get(columns) ?? new Map<string | undefined, Buffer>();
  schemas.set(columns, known);
  const message = known.get(key) ?? schemaMessage(columns, {}, key === undefined ? {} : { [key]: keyMark });
  known.set(key, message);
  return message;
}

interface EncodedColumn {
  readonly nulls: number;
  /** The validity bits, for text also the offsets, and the values. */
  readonly parts: readonly Buffer[];
}

function encodeColumn(type: Column["type"], cells: readonly Cell[]): EncodedColumn {
  const nulls = cells.filter((cell) => cell === null).length;
  const valid = validityOf(cells);
  switch (type.kind) {
    case "utf8": {
      // Each on its own: halves of a character in two texts are no character.
      const texts = cells.map((cell) => (cell === null ? none : Buffer.from(String(cell))));
      const offsets = new Int32Array(texts.length + 1);
      for (const [index, { length }] of texts.entries()) offsets[index + 1] = offsets[index]! + length;
      return { nulls, parts: [valid, Buffer.from(offsets.buffer), Buffer.concat(texts)] };
    }
    case "int64":
    case "timestamp": {
      if (type.kind === "timestamp" && type.unit !== "ms") break;
      const values = BigInt64Array.from(cells, (cell) => BigInt(cell ?? 0));
      return { nulls, parts: [valid, Buffer.from(values.buffer)] };
    }
    default:
  }
  throw new TypeError(`small tables have no columns of type ${type.kind}`);
}

function validityOf(cells: readonly Cell[]): Buffer {
  const bits = Buffer.alloc(Math.ceil(cells.length / 8));
  for (const [index, cell] of cells.entries()) if (cell !== null) bits[index >> 3]! |= 1 << (index & 7);
  return bits;
}
