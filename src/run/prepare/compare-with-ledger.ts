/** Compares the tables with the ledger, and does not take what another run is doing for a change by hand. */
import { groupInDoubt, migrationsInDoubt, type LedgerState } from "../../ledger/state/ledger-state.ts";
import { formatVersion } from "../../migrations/file-name.ts";
import type { Migration } from "../../migrations/load.ts";
import { compareTables, tablesToCompare } from "../../plan/reconcile/compare-tables.ts";
import { begunWithoutFile } from "../../plan/history/pending.ts";
import { makePlan } from "../../plan/make-plan.ts";
import type { TableDifference } from "../../plan/history/table-drift.ts";
import { historyLine, indexedIn, tablesOfHistory } from "../../plan/history/timeline.ts";
import { indexedTables } from "../../plan/reconcile/reconcile.ts";
import type { Database, Tables } from "../../schema/table.ts";
import type { RunContext } from "../run-context.ts";
import { describeForComparison } from "./describe-tables.ts";

export interface Compared {
  /** The tables as described. */
  readonly described: Tables;
  readonly differences: readonly TableDifference[];
}

interface ComparedTo extends Compared {
  /** The tables as the ledger implies, without migrations that are in doubt or under way. */
  readonly expected: Database;
}

/** `migrations`: all that have files. */
export async function compareWithLedger(
  { target, ledger, runner: { run }, signal }: Pick<RunContext, "target" | "ledger" | "runner" | "signal">,
  state: LedgerState,
  migrations: readonly Migration[],
): Promise<ComparedTo> {
  const { capabilities } = target;
  const inDoubt = migrationsInDoubt(state, run);
  const begun = migrations.filter(({ version }) => inDoubt.has(version));
  const unknown = [...inDoubt].find((version) => !migrations.some((migration) => migration.version === version));
  if (unknown !== undefined) throw begunWithoutFile(formatVersion(unknown), migrations);
  // A migration that is being rolled back is planned in that direction.
  const plan = makePlan({ migrations, pending: begun, state, inDoubt, target, ledger });
  // With every name and index of the whole history: the ledger may be lost, or behind the tables.
  const row = historyLine(migrations, state, capabilities);
  const tables = [...new Set([...tablesToCompare(plan, migrations, capabilities), ...tablesOfHistory(row)])];
  const indexed = new Set([...indexedTables(plan), ...indexedIn(row)]);
  const besideAnother = state.holder !== undefined && state.holder.run !== run;
  const described = await describeForComparison(target, tables, indexed, besideAnother, signal);
  return {
    described,
    differences: compareTables(plan, described, capabilities, groupInDoubt(state, run)),
    expected: plan.now,
  };
}
