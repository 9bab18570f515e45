/** What an application writes, and whether that was acknowledged. */
import type { Column } from "../../src/schema/data-type.ts";
import type { Raw } from "./values.ts";

export const writeKinds = ["append", "update", "upsert", "put", "delete", "optimize", "metadata", "recreate"] as const;
export type WriteKind = (typeof writeKinds)[number];

/** A row as it was written, by the names of columns. */
export interface WrittenRow {
  readonly key: string;
  readonly values: Readonly<Record<string, Raw>>;
}

/** A write, whether it was acknowledged or not. What failed may have been done. */
export interface Write {
  readonly writer: number;
  readonly table: string;
  readonly kind: WriteKind;
  /** The columns that the application knew. */
  readonly columns: readonly Column[];
  readonly rows: readonly WrittenRow[];
  readonly metadata?: { readonly column: string; readonly key: string; readonly value: string };
  readonly isAcknowledged: boolean;
  readonly version?: number | undefined;
  readonly problem?: string | undefined;
}

/** Why a table is not created again. */
export const notNow = "not now";

/** The keys of the rows of each table. */
export type Keys = Readonly<Record<string, readonly string[]>>;

/** For people who look for what went wrong. */
export function wordsOfWrite({ writer, table, kind, rows, metadata, isAcknowledged, version, problem }: Write): string {
  const what =
    metadata === undefined ? rows.map(({ key, values }) => `${key}${textOf(values)}`).join(" ") : textOf(metadata);
  const end = isAcknowledged ? (version === undefined ? "" : `-> version ${version}`) : `refused: ${problem}`;
  return `writer ${writer}: ${kind} ${table} ${what} ${end}`.trimEnd();
}

function textOf(values: object): string {
  return JSON.stringify(values, (_, value: unknown) => {
    if (typeof value === "bigint") return `${value}n`;
    if (typeof value === "number" && !(Number.isFinite(value) && !Object.is(value, -0)))
      return Object.is(value, -0) ? "-0" : String(value);
    return value instanceof Uint8Array ? `0x${Buffer.from(value).toString("hex")}` : value;
  });
}
