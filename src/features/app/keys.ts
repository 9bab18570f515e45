/** Refuses keys by which rows can't be saved. */
import { makeArrowTable } from "@lancedb/lancedb";
import type { SeenColumn } from "./column-model.ts";

type Rows = readonly object[];

const keyOf = (row: object, key: string) => (row as Readonly<Record<string, unknown>>)[key];

/** The engine finds no row by a null, and inserts each of several rows with the same new key. */
export function checkKeys(rows: Rows, key: string): void {
  const known = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const own = keyOf(row, key);
    if (own === null || own === undefined)
      throw new Error(`Row ${index} has no value in the key ${key}. Give it one, by which later calls find the row.`);
    // The text of a date has no milliseconds.
    const text = String((own as object).valueOf());
    const former = known.get(text);
    if (former !== undefined)
      throw new Error(`Rows ${former} and ${index} have the same ${key}. Leave one of them out.`);
    known.set(text, index);
  }
}

/** The client writes 1.5 and 4294967297 into a column of 32 bits as 1, and a text as 0: the keys of other rows. */
export function checkIntegers(rows: Rows, key: string, schema: SeenColumn["schema"]): void {
  const type = String(schema.fields.find(({ name }) => name === key)?.type);
  if (!/^Uint\d+$|^Int\d+$/.test(type)) return;
  const written = makeArrowTable(
    rows.map((row) => ({ [key]: keyOf(row, key) })),
    { schema: schema.select([key]) },
  ).getChild(key);
  for (const [index, row] of rows.entries()) {
    const own = String(keyOf(row, key));
    if (String(written?.get(index)) !== own)
      throw new Error(`Row ${index} has ${own} in the key ${key}, which holds values of the type ${type}.`);
  }
}
