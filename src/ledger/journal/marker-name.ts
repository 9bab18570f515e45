/**
 * Encodes a record as a table's name: `_migrations.e7` takes epoch 7, and
 * `_migrations.e7.2.applied.0003_headlines.2of2.c9f8…` is the second record after it. The name has what a later run
 * must read back. Who ran it and why it failed are only in the table's row, for people. Pure.
 */
import { shortHash } from "../../migrations/checksum.ts";
import { formatMigration } from "../../migrations/file-name.ts";
import type { LedgerRecord, RecordId } from "../state/record.ts";

/** The longest table name that the engine accepts, and a marker may have. */
export const longestMarker = 249;

/** The fields with hashes and numbers, by the letter that precedes each. */
const fields = {
  c: { key: "checksum", write: shortHash, read: String },
  t: { key: "textHash", write: shortHash, read: String },
  h: { key: "applied", write: shortHash, read: String },
  p: { key: "previous", write: shortHash, read: String },
  n: { key: "next", write: String, read: Number },
  l: { key: "lease", write: String, read: Number },
  r: { key: "late", write: String, read: Number },
  a: { key: "attempt", write: String, read: Number },
  w: { key: "at", write: toBase36, read: fromBase36 },
  u: { key: "duration", write: toBase36, read: fromBase36 },
} as const satisfies Record<string, { key: keyof LedgerRecord; write: (value: never) => string; read: unknown }>;

/** The name of the marker that takes an epoch: the same for every run that tries to take it. */
export function epochName(ledger: string, epoch: number): string {
  return `${ledger}.e${epoch}`;
}

export function markerName(ledger: string, record: LedgerRecord): string {
  if (record.event === "taken") return epochName(ledger, record.epoch);
  const { epoch, number, event, version, name, step, total } = record;
  const head = `${epochName(ledger, epoch)}.${number}.${event}`;
  const tail = [
    ...(step === undefined || total === undefined ? [] : [`${step}of${total}`]),
    ...Object.entries(fields).flatMap(([letter, { key, write }]) => {
      const value = record[key];
      return value === undefined || value === "" ? [] : [letter + (write as (value: unknown) => string)(value)];
    }),
  ].join(".");
  if (version === undefined || name === undefined) return `${head}.${tail}`;
  const migration = formatMigration({ version, name }).slice(0, longestMarker - head.length - tail.length - 2);
  return `${head}.${migration}.${tail}`;
}

/** The position of a marker, its event, and the other parts of its name. */
export interface MarkerPlace extends RecordId {
  readonly event: string;
  readonly rest: string;
}

/** What is read from a table's name at first; undefined if the table is not a marker of this ledger. */
export function markerPlace(ledger: string, table: string): MarkerPlace | undefined {
  if (!table.startsWith(`${ledger}.e`)) return undefined;
  const found = /^e(\d+)(?:\.(\d+)\.([a-z]+)(?:\.(.*))?)?$/.exec(table.slice(ledger.length + 1));
  if (found === null) return undefined;
  // A pattern of an array takes as long as the match itself, and there may be thousands of names.
  const { 1: epoch, 2: number = 0, 3: event = "taken", 4: rest = "" } = found;
  return { epoch: Number(epoch), number: Number(number), event, rest };
}

/** The record that a table's name encodes; undefined if the table is not a marker of this ledger. */
export function parseMarkerName(ledger: string, table: string): LedgerRecord | undefined {
  const place = markerPlace(ledger, table);
  return place && markerRecord(table, place);
}

/** The record of a marker at that position. */
function markerRecord(table: string, { epoch, number, event, rest }: MarkerPlace): LedgerRecord {
  // The name can't state who took the epoch: all runs that race for it must create the same name.
  const unknown = { by: "another run", run: `epoch ${epoch}`, tool: "", at: 0, applied: "", previous: "" };
  const detail = event === "failed" ? `it failed; the row of table ${table} says why` : undefined;
  const record: LedgerRecord = { ...unknown, epoch, number, event: event as LedgerRecord["event"], detail };
  for (const part of rest.split(".")) Object.assign(record, parsePart(part));
  const isCut = record.name !== undefined && table.length === longestMarker;
  return isCut ? { ...record, isNameCut: true } : record;
}

/** The ledger to which a marker belongs, by its name; undefined if the name is not that of a marker. */
export function ledgerOfMarker(table: string): string | undefined {
  const ledger = /^(.+?)\.e\d+(?:\.|$)/.exec(table)?.[1];
  return ledger === undefined || parseMarkerName(ledger, table) === undefined ? undefined : ledger;
}

function parsePart(part: string): Partial<LedgerRecord> {
  const field = fields[part[0] as keyof typeof fields];
  if (field !== undefined) return { [field.key]: field.read(part.slice(1)) };
  const [, version, name] = /^(\d+)_(.*)$/.exec(part) ?? [];
  if (name !== undefined) return { version: Number(version), name };
  const [, step, total] = /^(\d+)of(\d+)$/.exec(part) ?? [];
  return total === undefined ? {} : { step: Number(step), total: Number(total) };
}

function toBase36(value: number): string {
  return Math.round(value).toString(36);
}

function fromBase36(text: string): number {
  return Number.parseInt(text, 36);
}

/** Whether a table beside the ledger holds computed values that are not merged yet, or is the ledger of their lease. */
export function isStaging(name: string, ledger: string): boolean {
  return ["computed", "results", "preparing"].some((kind) => name.startsWith(`${ledger}.${kind}-`));
}
