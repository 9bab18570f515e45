/** Finds the deferred indexes of tables, and how many vectors each of them has. */
import { deferralDetail, type LedgerEntry } from "../../ledger/state/record.ts";
import { deferredOf, type DeferredIndex } from "../../schema/deferred-index.ts";
import type { Tables } from "../../schema/table.ts";
import { countVectors } from "../../targets/contract/count-vectors.ts";
import type { Target } from "../../targets/contract/target.ts";
import { indexWords } from "../deferral-text.ts";
import type { RunContext } from "../run-context.ts";

/** Those of all tables. */
export async function findDeferred({
  target,
  ledger,
}: Pick<RunContext, "ledger" | "target">): Promise<readonly DeferredIndex[]> {
  const found: DeferredIndex[] = [];
  for (const table of await target.listTables())
    if (table !== ledger)
      found.push(
        ...(await countDeferred(new Map([[table, (await target.describeTable(table, true))?.table]]), target)),
      );
  return found;
}

/** The entry that states which indexes of described tables are deferred; none if none are. */
export function deferralEntries(described: Tables): readonly LedgerEntry[] {
  const names = [...described].flatMap(([table, seen]) =>
    (seen?.deferred ?? []).map((index) => indexWords({ table, index })),
  );
  return names.length === 0 ? [] : [{ event: "renewed", detail: deferralDetail(names) }];
}

/** Those of tables that were described with their indexes. */
export async function countDeferred(described: Tables, target: Target): Promise<readonly DeferredIndex[]> {
  const found: DeferredIndex[] = [];
  for (const [table, seen] of described)
    for (const [name, index] of seen === undefined ? [] : deferredOf(seen)) {
      const counted = await countVectors(table, index, seen!.columns, target);
      if (counted !== undefined) found.push({ table, name, index, ...counted });
    }
  return found;
}
