/** Large things for the command to read: lists of a service, ledgers in both forms, folders of migrations. */
import { mkdirSync, writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { systemClock } from "../../src/time/clock.ts";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import type { Journal } from "../../src/ledger/journal/journal.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { takeLease } from "../../src/ledger/lease/lease.ts";
import { markersJournal, type MarkerStore } from "../../src/ledger/journal/markers-journal.ts";
import type { LedgerEntry } from "../../src/ledger/state/record.ts";
import { checksumOf, sha256, stepHash } from "../../src/migrations/checksum.ts";
import { thisRunner } from "../../src/run/run-context.ts";
import { open } from "../../src/targets/lance/lance.ts";

const step = { kind: "createTable", table: "t", columns: {} };
const hashes = { checksum: checksumOf([step]), steps: [stepHash(step)], textHash: sha256("text") };

function entry(version: number): LedgerEntry {
  const tables = { [`t${version}`]: [null, 1] } as const;
  const name = `create_table_${version}`;
  return { event: "applied", version, name, step: 1, total: 1, attempt: 1, duration: 4, tables, ...hashes };
}

/** A ledger's table with so many records, written by our own writer. */
export async function ledgerOf(database: string, size: number): Promise<void> {
  const target = await open({ kind: "lance", uri: database }, { name: "bench", folder: "/" });
  await fill(journalOf(target, "_migrations"), size);
  await target.close();
}

/** The names of so many markers, as our own writer gives them. */
export async function markersOf(size: number): Promise<readonly string[]> {
  const names = new Set<string>();
  const store: MarkerStore = {
    names: async () => [...names],
    create: async (name) => names.size < names.add(name).size,
    verdict: () => ({ kind: "refused" }),
    clock: systemClock,
  };
  await fill(markersJournal("_migrations", store), size);
  return [...names];
}

async function fill(journal: Journal, size: number): Promise<void> {
  const terms = { duration: 600_000, clock: systemClock };
  const lease = await takeLease(journal, foldLedger(await journal.read()), thisRunner(), undefined, terms);
  if (lease === undefined) throw new Error("somebody else took the lease");
  const others = (await journal.read()).length + 1;
  const versions = Array.from({ length: size - others }, (_, index) => index + 1);
  for (let at = 0; at < versions.length; at += 5_000) await lease.record(versions.slice(at, at + 5_000).map(entry));
  await lease.release();
}

export function migrationsOf(folder: string, size: number): void {
  mkdirSync(folder, { recursive: true });
  for (let version = 1; version <= size; version++) {
    const name = `${String(version).padStart(4, "0")}_create_table_${version}.ts`;
    const text = `import { createTable, int64, utf8 } from "lance-migrate";\n\nexport const up = [createTable("t${version}", { id: int64().notNull(), name: utf8() })];\n`;
    writeFileSync(join(folder, name), text);
  }
}

export type Served =
  | { readonly kind: "tables"; readonly size: number; readonly paged: boolean }
  | { readonly kind: "names"; readonly names: readonly string[]; readonly paged: boolean };

/** A service that lists these tables, in pages where it is asked for them, and has no ledger's table. */
export function serviceOf(what: Served): RequestListener {
  const all =
    what.kind === "names"
      ? what.names
      : Array.from({ length: what.size }, (_, index) => `customer_table_${String(index).padStart(8, "0")}`);
  return (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://x");
    if (request.method !== "GET")
      return void response.writeHead(404).end(JSON.stringify({ code: 4, error: `${pathname} was not found` }));
    const after = searchParams.get("page_token");
    const from = after === null ? 0 : Number(after);
    const to = what.paged ? from + Number(searchParams.get("limit") ?? 100) : all.length;
    const more = to < all.length ? { page_token: String(to) } : {};
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ tables: all.slice(from, to), ...more }));
  };
}
