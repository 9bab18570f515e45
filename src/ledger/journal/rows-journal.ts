/** The rows journal: one table with one row per record. Its columns are meant to be read with any Lance client. */
import { z } from "zod";
import { firstLine, isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { Column, DataType } from "../../schema/data-type.ts";
import type { RecordTable } from "../../targets/contract/target.ts";
import type { Row } from "../../wire/rows/ipc-rows.ts";
import { withoutAnswer, type Journal } from "./journal.ts";
import { recordIdText, recordHash, type LedgerRecord } from "../state/record.ts";

const text: DataType = { kind: "utf8" };
const whole: DataType = { kind: "int64" };
const required = (name: string, type: DataType): Column => ({ name, type, nullable: false });
const optional = (name: string, type: DataType): Column => ({ name, type, nullable: true });

/** `key` is unique: `<epoch>.<number>`. */
export const ledgerColumns: readonly Column[] = [
  required("key", text),
  required("epoch", whole),
  required("number", whole),
  required("event", text),
  optional("version", whole),
  optional("name", text),
  optional("attempt", whole),
  optional("step", whole),
  optional("total", whole),
  optional("checksum", text),
  optional("steps", text),
  optional("text_hash", text),
  required("at", { kind: "timestamp", unit: "ms", zone: "UTC" }),
  optional("duration", whole),
  required("by", text),
  required("run", text),
  required("tool", text),
  optional("tables", text),
  optional("lease", whole),
  optional("next", whole),
  optional("late", whole),
  optional("midway", text),
  optional("detail", text),
  required("applied", text),
  required("previous", text),
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
        return row === undefined ? undefined : withoutAnswer(storedHead.parse(row), late > 0);
      }),
    isNewest: ({ epoch, number }) =>
      reading(async () => (await table.count(`epoch > ${epoch} OR (epoch = ${epoch} AND number > ${number})`)) === 0),
    read: () => reading(async () => ((await table.all(storedColumns)) ?? []).map(toRecord)),
    take: (record) =>
      writing(async () => {
        if (record.epoch === 1) {
          await table.create();
          await table.last(["epoch", "number"], headColumns); // fails if another table has that name
        }
        return await table.insertIfAbsent(toRow(record));
      }),
    async add(records) {
      await writing(() => table.insert(records.map(toRow)));
      // The records are stored. A ledger that can't be compacted is only slower.
      await table.compact().catch(() => {});
    },
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
  return {
    key: recordIdText(record),
    epoch: record.epoch,
    number: record.number,
    event: record.event,
    version: record.version ?? null,
    name: record.name ?? null,
    attempt: record.attempt ?? null,
    step: record.step ?? null,
    total: record.total ?? null,
    checksum: record.checksum ?? null,
    steps: record.steps?.join(" ") ?? null,
    text_hash: record.textHash ?? null,
    at: record.at,
    duration: record.duration ?? null,
    by: record.by,
    run: record.run,
    tool: record.tool,
    tables: record.tables === undefined ? null : JSON.stringify(record.tables),
    lease: record.lease ?? null,
    next: record.next ?? null,
    late: record.late ?? null,
    midway: record.midway === undefined ? null : JSON.stringify(record.midway),
    detail: record.detail ?? null,
    applied: record.applied,
    previous: record.previous,
  };
}

const maybeText = z
  .string()
  .nullable()
  .transform((value) => value ?? undefined);
const maybeWhole = z
  .number()
  .nullable()
  .transform((value) => value ?? undefined);

const storedRow = z.object({
  epoch: z.number(),
  number: z.number(),
  event: z.string().transform((event) => event as LedgerRecord["event"]),
  version: maybeWhole,
  name: maybeText,
  attempt: maybeWhole,
  step: maybeWhole,
  total: maybeWhole,
  checksum: maybeText,
  steps: z
    .string()
    .nullable()
    .transform((value) => value?.split(" ").filter((hash) => hash !== "")),
  text_hash: maybeText,
  at: z.number(),
  duration: maybeWhole,
  by: z.string(),
  run: z.string(),
  tool: z.string(),
  tables: z
    .string()
    .nullable()
    .transform((value) => (value === null ? undefined : (JSON.parse(value) as LedgerRecord["tables"]))),
  lease: maybeWhole,
  next: maybeWhole,
  late: maybeWhole,
  midway: z
    .string()
    .nullable()
    .transform((value) => (value === null ? undefined : (JSON.parse(value) as LedgerRecord["midway"]))),
  detail: maybeText,
  applied: z.string(),
  previous: z.string(),
});

const storedHead = storedRow.pick({
  epoch: true,
  number: true,
  event: true,
  version: true,
  step: true,
  by: true,
  lease: true,
  next: true,
  applied: true,
});
const headColumns = Object.keys(storedHead.shape);
const storedColumns = Object.keys(storedRow.shape);

function toRecord(row: Row): LedgerRecord {
  const { text_hash: textHash, ...rest } = storedRow.parse(row);
  return { ...rest, textHash };
}
