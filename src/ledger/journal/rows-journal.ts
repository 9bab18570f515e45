/** The rows journal: one table with one row per record. Its columns are meant to be read with any Lance client. */
import { isNumber, isText } from "../../checks/check.ts";
import { firstLine, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Column, DataType } from "../../schema/data-type.ts";
import type { RecordTable } from "../../targets/contract/ledger-store.ts";
import { WrongColumn, type Row } from "../../wire/rows/ipc-rows.ts";
import { withoutAnswer, type Journal, type LedgerHead } from "./journal.ts";
import { deferring, recordIdText, recordHash, saysDeferred, type LedgerRecord } from "../state/record.ts";

/** How a field of a record is stored. `read` and `write`: from and to its value in the row, if that is another one. */
interface StoredAs {
  readonly type: DataType;
  /** Whether a value of a row is one of this type. */
  readonly holds: (value: unknown) => boolean;
  readonly read?: (value: never) => unknown;
  readonly write?: (value: never) => Row[string];
}

interface StoredField extends StoredAs {
  readonly nullable: boolean;
}

const text: StoredAs = { type: { kind: "utf8" }, holds: isText };
const whole: StoredAs = { type: { kind: "int64" }, holds: isNumber };
const time: StoredAs = { type: { kind: "timestamp", unit: "ms", zone: "UTC" }, holds: isNumber };
const json: StoredAs = { ...text, read: (value: string) => JSON.parse(value) as unknown, write: JSON.stringify };
const hashes: StoredAs = {
  ...text,
  read: (value: string) => value.split(" ").filter((hash) => hash !== ""),
  write: (value: readonly string[]) => value.join(" "),
};
const required = (as: StoredAs): StoredField => ({ ...as, nullable: false });
const optional = (as: StoredAs): StoredField => ({ ...as, nullable: true });

type FieldName = Exclude<keyof LedgerRecord, "isNameCut">;

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
} satisfies Record<FieldName, StoredField>;
const allFields = Object.keys(fields) as readonly FieldName[];

function columnOf(field: FieldName): string {
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
  const newest = () => table.last(["epoch", "number"], headColumns, unanswered);
  return {
    name,
    head: () =>
      reading(async () => {
        const last = await newest();
        return last && withoutAnswer(readFields(last.row, headColumns), last.matched);
      }),
    isNewest: ({ epoch, number }) =>
      reading(async () => (await table.count(`epoch > ${epoch} OR (epoch = ${epoch} AND number > ${number})`)) === 0),
    read: () =>
      reading(async () =>
        Array.from((await table.all(allFields.map(columnOf))) ?? [], (row) => readFields(row, allFields)),
      ),
    take: (record) =>
      writing(async () => {
        if (record.epoch === 1) {
          await table.create();
          await newest(); // fails if another table has that name
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
  if (cause instanceof WrongColumn) return cause.column;
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

/** Copied for each record: an object that grows by one name after the other takes several times as much memory. */
const noFields = Object.fromEntries(allFields.map((name) => [name, undefined]));

/** These fields of a record, from its row. Throws WrongColumn. */
function readFields(row: Row, names: readonly FieldName[]): LedgerRecord {
  const record: Record<string, unknown> = { ...noFields };
  for (const name of names) record[name] = readField(row[columnOf(name)], name);
  return record as unknown as LedgerRecord;
}

function readField(value: unknown, name: FieldName): unknown {
  const { holds, read, nullable }: StoredField = fields[name];
  if (value === null && nullable) return undefined;
  if (!holds(value)) throw new WrongColumn(columnOf(name), "has another type");
  return read === undefined ? value : read(value as never);
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
  "detail",
  "applied",
] as const satisfies readonly (keyof LedgerHead)[];

/**
 * What the newest record does not answer. An older release does not repeat what records before it state about deferred
 * indexes; once one states that, a record of this release repeats it.
 */
function unanswered(newest?: Row): string {
  const repeats = typeof newest?.detail === "string" && saysDeferred(newest.detail) !== undefined;
  return repeats ? "event = 'late'" : `event = 'late' OR detail LIKE '${deferring}%'`;
}
