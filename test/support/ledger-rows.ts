/** The records of a ledger as its tables hold them, whichever of its two forms it has. */
import { lancedb } from "./tables.ts";

export interface LedgerRow {
  readonly epoch: number;
  readonly number: number;
  readonly event: string;
  readonly version: number | undefined;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly by: string;
}

type Connection = Awaited<ReturnType<typeof lancedb.connect>>;
const ledger = "_migrations";

/** In their order. */
export async function ledgerRows(folder: string): Promise<readonly LedgerRow[]> {
  const db = await lancedb.connect(folder);
  const names = (await db.tableNames()).filter((name) => name === ledger || name.startsWith(`${ledger}.e`));
  const rows = (await Promise.all(names.map((name) => read(db, name)))).flat();
  return rows.toSorted((one, other) => one.epoch - other.epoch || one.number - other.number);
}

/** The process that took the newest epoch, as long as it has not released it. */
export async function holderOf(folder: string): Promise<{ readonly epoch: number; readonly pid: number } | undefined> {
  const db = await lancedb.connect(folder);
  const names = await db.tableNames();
  if (names.includes(ledger)) return holderAmong(await read(db, ledger));
  const epoch = Math.max(0, ...names.map((name) => Number(/^_migrations\.e(\d+)$/.exec(name)?.[1] ?? 0)));
  if (epoch === 0 || names.some((name) => new RegExp(`^${ledger}\\.e${epoch}\\.\\d+\\.released`).test(name)))
    return undefined;
  return holderAmong(await read(db, `${ledger}.e${epoch}`));
}

function holderAmong(rows: readonly LedgerRow[]) {
  const epoch = Math.max(0, ...rows.map((row) => row.epoch));
  const own = rows.filter((row) => row.epoch === epoch);
  if (own.length === 0 || own.some(({ event }) => event === "released")) return undefined;
  return { epoch, pid: Number(/\(process (\d+)\)/.exec(own[0]!.by)?.[1]) };
}

async function read(db: Connection, name: string): Promise<readonly LedgerRow[]> {
  const columns = ["epoch", "number", "event", "version", "at", "by"];
  const found = await (await db.openTable(name)).query().select(columns).toArrow();
  return [...found].map((row) => ({
    epoch: Number(row["epoch"]),
    number: Number(row["number"]),
    event: String(row["event"]),
    version: row["version"] === null ? undefined : Number(row["version"]),
    at: Number(row["at"]),
    by: String(row["by"]),
  }));
}
