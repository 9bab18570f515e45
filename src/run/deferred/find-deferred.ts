/** Finds the deferred indexes of tables, and how many vectors each of them has. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import { deferralDetail, partsOfDeferral, saysDeferred, type LedgerEntry } from "../../ledger/state/record.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { checkFilesOfRan } from "../../plan/history/pending.ts";
import { withStepsThatRan } from "../../plan/history/renumbered.ts";
import { replayHistory } from "../../plan/history/replay.ts";
import { deferredOf, type DeferredIndex } from "../../schema/deferred-index.ts";
import { columnsWithin, type Table, type Tables } from "../../schema/table.ts";
import { vectorsNeeded, waitsForValues } from "../../schema/table-index.ts";
import { countVectors } from "../../targets/contract/count-vectors.ts";
import type { Target } from "../../targets/contract/target.ts";
import { deferralOf, indexWords, type Deferral } from "../deferral-text.ts";
import type { RunContext } from "../run-context.ts";
import { watchedWords } from "../stale-text.ts";
import { failedBuild } from "./failed-builds.ts";

/** A deferred index as it was found. */
export interface FoundDeferral extends DeferredIndex {
  /** The version of its table, if known. */
  readonly version?: number | undefined;
  /** Why an earlier run could not build it. */
  readonly problem?: string | undefined;
}

interface FoundDeferrals {
  readonly found: readonly FoundDeferral[];
  /** Indexes that may be deferred: their tables could not be read. */
  readonly unread: readonly Deferral[];
}

/** All of them, as they are reported. */
export function reported({ found, unread }: FoundDeferrals): readonly Deferral[] {
  return [...found.map(deferralOf), ...unread];
}

/** The same of a ledger that states that some are deferred; otherwise, no table is looked at. */
export async function listDeferred(context: RunContext, state: LedgerState): Promise<readonly Deferral[]> {
  return saysDeferred(state.deferral) === true ? reported(await findDeferred(context, state)) : [];
}

/** Looks only at tables that the migrations of this ledger know: others may belong to another project. */
export async function findDeferred(context: RunContext, state: LedgerState): Promise<FoundDeferrals> {
  const { target } = context;
  const found: FoundDeferral[] = [];
  const unread: Deferral[] = [];
  for (const [table, known] of await tablesToLookAt(context, state))
    try {
      const seen = await target.describeTable(table, true);
      const own = await countDeferred(new Map([[table, seen?.table]]), target, state);
      found.push(...own.map((one) => ({ ...one, version: seen?.version })));
    } catch (error) {
      if (known === undefined || isMigrateError(error, "ERR_INTERRUPTED")) throw error;
      const problem = target.explain(error);
      for (const [index, one] of Object.entries(known.indexes ?? {}))
        if (one !== null && waitsForValues(one))
          unread.push({ table, index, kind: one.kind, needed: vectorsNeeded(one), problem });
    }
  return { found, unread };
}

/** Those that may have a deferred index, as migrations leave them. If a file is missing, those that the ledger names. */
async function tablesToLookAt(context: RunContext, state: LedgerState): Promise<Tables> {
  const { migrations: source, target } = context;
  try {
    const files = source.list().filter(({ version }) => state.migrations.has(version));
    const migrations = withStepsThatRan(await loadMigrations(source, files), state);
    checkFilesOfRan(files, migrations, state, target.capabilities);
    const known = replayHistory(migrations, state, target.capabilities);
    return new Map([...known].filter(([, table]) => mayDefer(table)));
  } catch (error) {
    if (!isMigrateError(error) || isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    const { indexes } = partsOfDeferral(state.deferral ?? "");
    return new Map(indexes.map((words) => [words.slice(words.lastIndexOf(" ") + 1), undefined]));
  }
}

function mayDefer({ columns }: Table): boolean {
  return columnsWithin(columns).some(({ column }) => ["fixedSizeList", "struct"].includes(column.type.kind));
}

/** The entry that states what waits in described tables: deferred indexes and watched columns; none if nothing does. */
export function deferralEntries(described: Tables): readonly LedgerEntry[] {
  const names = [...described].flatMap(([table, { deferred = [], watched = [] } = {}]) => [
    ...deferred.map((index) => indexWords({ table, index })),
    ...watched.map((keep) => watchedWords({ table, keep })),
  ]);
  return names.length === 0 ? [] : [{ event: "renewed", detail: deferralDetail(names) }];
}

/** Those of tables that were described with their indexes. */
export async function countDeferred(
  described: Tables,
  target: Target,
  { deferral }: Pick<LedgerState, "deferral">,
): Promise<readonly FoundDeferral[]> {
  const found: FoundDeferral[] = [];
  for (const [table, seen] of described)
    for (const [name, index] of seen === undefined ? [] : deferredOf(seen)) {
      const counted = await countVectors(table, index, seen!.columns, target);
      if (counted === undefined) continue;
      const isReady = counted.vectors >= counted.needed;
      const problem = isReady ? failedBuild({ table, index: name }, deferral)?.problem : undefined;
      found.push({ table, name, index, ...counted, problem });
    }
  return found;
}
