/** What a record says about a migration. Pure. */
import type { LedgerMigration } from "../../ledger/state/fold.ts";
import type { MigrationFacts } from "../../ledger/state/record.ts";
import { checksumOf, stepHash } from "../../migrations/checksum.ts";
import type { Migration } from "../../migrations/load.ts";
export type RecordedProgress = Pick<MigrationFacts, "step" | "total" | "attempt" | "duration" | "tables">;

/** `ran` is all of its units, or of what has not ended those that have begun: the others may still be mended. */
export function factsOf(
  { version, name, textHash }: Migration,
  ran: readonly unknown[],
  progress: RecordedProgress,
): MigrationFacts {
  return { version, name, ...progress, checksum: checksumOf(ran), steps: ran.map(stepHash), textHash };
}

/** Where nobody saw how it ran: what the ledger knows of that, it goes on to say. */
export function firstFacts(
  migration: Migration,
  ran: readonly unknown[],
  done: Pick<RecordedProgress, "step" | "total">,
  known: LedgerMigration | undefined,
): MigrationFacts {
  const { attempt = 1, duration = 0, tables = {} } = known ?? {};
  return factsOf(migration, ran, { ...done, attempt, duration, tables });
}

/** What the ledger says already, without who said it and when. */
export function repeatedFacts(known: LedgerMigration): MigrationFacts {
  const { version, name, step, total, checksum, steps, textHash, attempt, duration, tables } = known;
  return { version, name, step, total, checksum, steps, textHash, attempt, duration, tables };
}
