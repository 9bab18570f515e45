/** Recognises tables of migrations beside a ledger that records none of them: it may be lost. Changes nothing. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { unseenOf } from "../../plan/compile/unseen-effects.ts";
import { placesIn } from "../../plan/history/position.ts";
import { historyLine, tablesOfHistory } from "../../plan/history/timeline.ts";
import type { RunContext } from "../run-context.ts";
import { describeTables, tablesInSnapshots as snapshotTables } from "./snapshots.ts";

/** What is there, where in history that is, and what to do, as text. Undefined if the ledger and the tables agree. */
export async function lostLedger(
  context: RunContext,
  state: LedgerState,
  files: readonly MigrationFile[],
): Promise<string | undefined> {
  const { target, ledger, migrations: source } = context;
  const { capabilities } = target;
  // What another run has begun is in doubt, and not lost.
  if (state.migrations.size > 0 || state.inDoubt.size > 0 || state.holder?.next !== undefined) return undefined;
  const there = new Set(await target.listTables());
  if (files.length === 0 || there.size === 0) return undefined;
  const migrations = await loadMigrations(source, files);
  const row = historyLine(migrations, state, capabilities);
  const found = tablesOfHistory(row).filter((table) => there.has(table));
  if (found.length === 0) return undefined;
  const lost = `the ledger ${ledger} records no migration, and`;
  const described = snapshotTables(await describeTables(capabilities.describes ? found : [], target, true));
  const [place, other] = placesIn(migrations, state, described, capabilities).fits;
  const last = row.actions[(place?.done ?? 0) - 1];
  if (last === undefined || other !== undefined || place?.isMidway === true || last.number !== last.total)
    return `${lost} tables that migrations create are there: ${found.join(", ")}; see migrate repair`;
  const unseen = row.actions.slice(0, place!.done).flatMap(({ action }) => unseenOf(action) ?? []);
  const condition = [
    "they were there before the migrations",
    ...unseen.map(({ where, what }) => `${where} has ${what}`),
  ];
  return `${lost} the tables are as they were ${place!.words}: if ${condition.join(" and ")}, run migrate baseline --to ${place!.choice}; if the ledger was lost, run migrate repair`;
}

/** ERR_DRIFT with what is known if the ledger may be lost; any other error as it is. */
export async function explainedByLoss(error: unknown, ...about: Parameters<typeof lostLedger>): Promise<unknown> {
  const hint = isMigrateError(error, "ERR_DRIFT") ? await lostLedger(...about) : undefined;
  if (hint === undefined || !isMigrateError(error, "ERR_DRIFT")) return error;
  return new MigrateError("ERR_DRIFT", { ...error.details, hint });
}
