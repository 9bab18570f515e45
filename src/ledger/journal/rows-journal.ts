/** The rows journal: one table with one row per record. Its columns are meant to be read with any Lance client. */
import { z } from "zod";
import { firstLine, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Column, DataType } from "../../schema/data-type.ts";
import type { RecordTable } from "../../targets/contract/target.ts";
import type { Row } from "../../wire/rows/ipc-rows.ts";
import { withoutAnswer, type Journal, type LedgerHead } from "./journal.ts";
import { recordIdText, recordHash, type LedgerRecord } from "../state/record.ts";

/** How a field of a record is stored. `write`: its value in the row, if that is another one. */
interface StoredAs {
  readonly type: DataType;
  readonly read: z.ZodType;
  readonly write?: (value: never) => Row[string];
}

const text: StoredAs = { type: { kind: "utf8" }, read: z.string() };
const whole: StoredAs = { type: { kind: "int64" }, read: z.number() };
const time: StoredAs = { type: { kind: "timestamp", unit: "ms", zone: "UTC" }, read: z.number() };
const json: StoredAs = { ...text, read: z.string().transform((value) => JSON.parse(value)), write: JSON.stringify };
const hashes: StoredAs = {
  ...text,
  read: z.string().transform((value) => value.split(" ").filter((hash) => hash !== "")),
  write: (value: readonly string[]) => value.join(" "),
};
const required = (as: StoredAs) => ({ ...as, nullable: false });
const optional = ({ read, ...as }: StoredAs) => ({
  ...as,
  read: read.nullable().transform((value) => value ?? undefined),
  nullable: true,
});

type StoredField = Exclude<keyof LedgerRecord, "isNameCut">;

/** The fields of a record, in the order of their columns. */
const fields = {
  epoch: required(whole),
  number: required(whole),
  event: required(text),
  version: optional(whole),
  name: optional(text),
  attempt: optional(whole),
  step: optional(whole),
  total: optional(whole),
  checksum: optional(text),
  steps: optional(hashes),
  textHash: optional(text),
  at: required(time),
  duration: optional(whole),
  by: required(text),
  run: required(text),
  tool: required(text),
  tables: optional(json),
  lease: optional(whole),
  next: optional(whole),
  late: optional(whole),
  midway: optional(json),
  detail: optional(text),
  applied: required(text),
  previous: required(text),
} satisfies Record<StoredField, StoredAs>;
const allFields = Object.keys(fields) as readonly StoredField[];

function columnOf(field: StoredField): string {
  return field === "textHash" ? "text_hash" : field;
}

/** `key` is unique: `<epoch>.<number>`. */
export const ledgerColumns: readonly Column[] = [
  { name: "key", type: text.type, nullable: false },
  ...allFields.map((field) => ({
    name: columnOf(field),
    type: fields[field].type,
    nullable: fields[field].nullable,
  })),
];

/** Whether a table is a ledger, whatever its name, or a marker. Those of older releases may lack nullable columns. */
export function isLedgerShaped(columns: readonly Column[]): boolean {
  const names = new Set(columns.map(({ name }) => name));
  return ledgerColumns.every(({ name, nullable }) => nullable || names.has(name));
}

export function rowsJournal(name: string, table: RecordTable): Journal {
  const guarded = (code: "ERR_LEDGER_UNREADABLE" | "ERR_LEDGER_UNWRITABLE") =>
    async function <Result>(work: () => Promise<Result>): Promise<Result> {
      try {
        return await work();
      } catch (cause) {
        const column = wrongColumn(cause);
        if (isMigrateError(cause) && column === undefined) throw cause;
        const problem = column === undefined ? firstLine(cause) : foreign(name, column);
        throw new MigrateError(code, { ledger: name, problem }, { cause });
      }
    };
  const reading = guarded("ERR_LEDGER_UNREADABLE");
  const writing = guarded("ERR_LEDGER_UNWRITABLE");
  return {
    name,
    head: () =>
      reading(async () => {
        const [row, late] = await Promise.all([
          table.last(["epoch", "number"], headColumns),
          table.count("event = 'late'"),
        ]);
        return row === undefined ? undefined : withoutAnswer(toHead(row), late > 0);
      }),
    isNewest: ({ epoch, number }) =>
      reading(async () => (await table.count(`epoch > ${epoch} OR (epoch = ${epoch} AND number > ${number})`)) === 0),
    read: () => reading(async () => ((await table.all(allFields.map(columnOf))) ?? []).map(toRecord)),
    take: (record) =>
      writing(async () => {
        if (record.epoch === 1) {
          await table.create();
          await table.last(["epoch", "number"], headColumns); // fails if another table has that name
        }
        return await table.insertIfAbsent(toRow(record));
      }),
    add: (records) => writing(() => table.insert(records.map(toRow))),
    compact: () => table.compact().catch(() => {}),
    hashOf: recordHash,
  };
}

/** The column that an error is about: it is missing or has other values. Undefined for other errors. */
function wrongColumn(cause: unknown): string | undefined {
  if (cause instanceof z.ZodError) return String(cause.issues[0]?.path[0]);
  const missing = /column (\w+) not found|no field named (\w+)/i.exec(firstLine(cause));
  return missing?.[1] ?? missing?.[2];
}

/** The problem of a table that is no ledger, or a ledger that others have damaged: only people can determine which. */
function foreign(name: string, column: string): string {
  return (
    `column ${column} is not as this version of lance-migrate writes it; if it is another table, give the ledger another name ` +
    `with "ledger" in the configuration; if it is the ledger, move the folder ${name}.lance out of the database's folder, or drop the ` +
    "table where there is no such folder, then run migrate repair"
  );
}

/** The record as a row of `ledgerColumns`. */
export function toRow(record: LedgerRecord): Row {
  const values = allFields.map((field) => {
    const { write }: StoredAs = fields[field];
    const value = record[field];
    return [columnOf(field), value === undefined ? null : (write?.(value as never) ?? value)] as const;
  });
  return { key: recordIdText(record), ...Object.fromEntries(values) } as Row;
}

const shape = z.object(Object.fromEntries(allFields.map((field) => [columnOf(field), fields[field].read])));

function toRecord(row: Row): LedgerRecord {
  const { text_hash: textHash, ...rest } = shape.parse(row);
  return { ...rest, textHash } as unknown as LedgerRecord;
}

const headColumns = [
  "epoch",
  "number",
  "event",
  "version",
  "step",
  "by",
  "lease",
  "next",
  "applied",
] as const satisfies readonly (keyof LedgerHead)[];
const headShape = shape.pick(Object.fromEntries(headColumns.map((name) => [name, true] as const)));

function toHead(row: Row): LedgerHead {
  return headShape.parse(row) as unknown as LedgerHead;
}
