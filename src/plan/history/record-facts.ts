/** What records state about migrations. Pure. */
import type { LedgerState } from "../../ledger/state/ledger-state.ts";
import type { LedgerMigration, Progress } from "../../ledger/state/fold-migration.ts";
import type { LedgerEntry, MigrationFacts } from "../../ledger/state/record.ts";
import { checksumOf, stepHash } from "../../migrations/checksum.ts";
import type { Migration } from "../../migrations/load.ts";
import { compileMigration, type Describing } from "../compile/compile.ts";

/** `ran`: all units of a migration that has ended, otherwise those that have begun: the others may still be fixed. */
export function recordFacts(
  { version, name, textHash }: Migration,
  ran: readonly unknown[],
  measured: Pick<MigrationFacts, "step" | "total" | "attempt" | "duration" | "tables">,
): MigrationFacts {
  return { version, name, ...measured, checksum: checksumOf(ran), steps: ran.map(stepHash), textHash };
}

/** The facts of a migration whose run was not observed. Keeps what the ledger knows of that run. */
export function firstFacts(
  migration: Migration,
  ran: readonly unknown[],
  done: Pick<MigrationFacts, "step" | "total">,
  known: LedgerMigration | undefined,
): MigrationFacts {
  const { attempt = 1, duration = 0, tables = {} } = known ?? {};
  return recordFacts(migration, ran, { ...done, attempt, duration, tables });
}

/** The facts of a migration that is applied, although its run was not observed. */
export function appliedFacts(migration: Migration, describing: Describing, known?: LedgerMigration): MigrationFacts {
  const total = compileMigration(migration, describing).length;
  return firstFacts(migration, migration.steps, { step: total, total }, known);
}

/** The facts that the ledger already states, without who recorded them and when. */
export function repeatedFacts(known: LedgerMigration): MigrationFacts {
  const { version, name, step, total, checksum, steps, textHash, attempt, duration, tables } = known;
  return { version, name, step, total, checksum, steps, textHash, attempt, duration, tables };
}

/** When a migration ran and who ran it, for a record that repeats it; empty if the ledger does not know. */
export function whenAndWho(known: Pick<LedgerMigration, "at" | "by"> | undefined): Pick<LedgerEntry, "at" | "by"> {
  return known === undefined || known.at === 0 ? {} : { at: known.at, by: known.by };
}

/** The records that rebuild a ledger from its own current state. They do not state which migrations are in doubt. */
export function entriesFromLedger({ migrations }: LedgerState): readonly LedgerEntry[] {
  const known = [...migrations.values()].toSorted((one, other) => one.order - other.order);
  const facts = known.flatMap((one): readonly LedgerEntry[] => {
    const { reversal, midway, detail = "as the ledger said" } = one;
    const again = repeatedFacts(one);
    return [
      {
        event: one.status !== "applied" ? "interrupted" : one.isBaselined ? "baselined" : "applied",
        ...again,
        ...whenAndWho(one),
        midway,
        detail,
      },
      ...(reversal === undefined ? [] : [{ event: "reverting", ...again, ...progressOf(reversal) } as const]),
    ];
  });
  return [...facts, { event: "rebuilt" }];
}

/** What the ledger stores of a rollback that has begun. */
function progressOf({ step, total, checksum, steps, attempt, tables, detail, midway }: Progress) {
  return { step, total, checksum, steps, attempt, tables, detail, midway };
}
