/** The tables of a database that are an application's, as they are now. */
import { ledgerOfMarker, isStaging, parseMarkerName } from "../../../ledger/journal/marker-name.ts";
import { isLedgerShaped } from "../../../ledger/journal/rows-journal.ts";
import { MigrateError } from "../../../errors/migrate-error.ts";
import { databaseOf, type Database } from "../../../schema/table.ts";
import { viewOf } from "../../../wire/lance/view.ts";
import type { MigratorOptions } from "../../../run/run-context.ts";
import { describeForPlan } from "../../../run/prepare/describe-tables.ts";
import type { Target } from "../../../targets/contract/target.ts";

/** Without those of the ledger. They may be the ledgers of other migrations. */
export async function presentNames({ target, ledger }: Pick<MigratorOptions, "target" | "ledger">) {
  return (await target.listTables()).filter((name) => !isLedgers(name, ledger)).toSorted();
}

export function isLedgers(name: string, ledger: string): boolean {
  return name === ledger || isStaging(name, ledger) || parseMarkerName(ledger, name) !== undefined;
}

export interface PresentTables {
  readonly tables: Database;
  /** The columns that the engine can't read, by the names of their tables, which are not described. */
  readonly unreadable: ReadonlyMap<string, readonly string[]>;
  /** Those that the engine computes from others (wire/lance/view.ts). */
  readonly views: Database;
  /** The tables of other ledgers, each with its ledger's name. */
  readonly ledgers: ReadonlyMap<string, string>;
}

/** What no migration makes of them, as text. */
export function viewWords(views: Database): readonly string[] {
  return [...views].map(([name, table]) => `${name}, which is a view of ${viewOf(table)!.from}`);
}

/** With their indexes. Throws ERR_USAGE if the target can't describe them. */
export async function presentTables(target: Target, all: readonly string[]): Promise<PresentTables> {
  if (!target.capabilities.describes)
    throw new MigrateError("ERR_USAGE", {
      problem: `${target.name} can't describe its tables; use the dialect "namespace" if the service has it`,
    });
  const unreadable = new Map(
    all.flatMap((name) => {
      const columns = target.unreadable?.(name) ?? [];
      return columns.length === 0 ? [] : [[name, columns] as const];
    }),
  );
  const names = all.filter((name) => !unreadable.has(name));
  const described = databaseOf(await describeForPlan(target, names, new Set(names), true));
  const shaped = [...described].filter(([, { columns }]) => isLedgerShaped(columns));
  const ledgers = new Map(shaped.map(([name]) => [name, ledgerOfMarker(name) ?? name]));
  const own = [...described].filter(([name]) => !ledgers.has(name));
  const { tables = [], views = [] } = Object.groupBy(own, ([, table]) =>
    viewOf(table) === undefined ? "tables" : "views",
  );
  return { tables: new Map(tables), views: new Map(views), unreadable, ledgers };
}
