/**
 * Reads the ledger and the tables so that both belong together. A run writes to the ledger before it changes a table.
 * So if something in the tables looks wrong and the ledger has a new record, another run may have caused it, and both
 * are read again.
 */
import { isMigrateError } from "../../errors/migrate-error.ts";
import { foldLedger } from "../../ledger/state/fold.ts";
import { sameRecord } from "../../ledger/journal/journal.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import { throwIfInterrupted } from "../lease/wait-for-lease.ts";
import type { Ledger } from "../lease/with-lease.ts";
import type { RunContext } from "../run-context.ts";
import { recognisedState } from "./record-renumbered.ts";

/** The ledger as it is, with the current names of migrations that ran under other names. */
export async function readLedger(context: RunContext, files: readonly MigrationFile[]): Promise<Ledger> {
  const records = await context.journal.read();
  return { records, state: await recognisedState(foldLedger(records), files, context) };
}

/** Reads the ledger with `read` and looks at the tables until `look` returns a result. Changes nothing. */
export async function readConsistently<Found>(
  { signal }: RunContext,
  read: () => Promise<Ledger>,
  look: (ledger: Ledger) => Promise<Found | undefined>,
): Promise<Found> {
  for (;;) {
    throwIfInterrupted(signal);
    const found = await look(await read());
    if (found !== undefined) return found;
  }
}

/** The same; what looks wrong counts only if no other run has written to the ledger since it was read. */
export async function readCurrent<Found>(
  context: RunContext,
  read: () => Promise<Ledger>,
  look: (ledger: Ledger) => Promise<Found>,
  looksWrong: (found: Found) => boolean,
): Promise<Found> {
  return await readConsistently(context, read, (ledger) => ifCurrent(context, ledger, () => look(ledger), looksWrong));
}

/**
 * What `look` finds in the tables. Undefined if that looks wrong, or is an error of outcome `refused`, and another run
 * has written to the ledger since it was read.
 */
export async function ifCurrent<Found>(
  { journal, runner }: Pick<RunContext, "journal" | "runner">,
  { records, state: { head, holder } }: Ledger,
  look: () => Promise<Found | undefined>,
  looksWrong: (found: Found) => boolean = () => false,
): Promise<Found | undefined> {
  const isOutdated = async () => {
    const again = await journal.read();
    const newest = foldLedger(again).head;
    // Only this run writes in its own epoch: it has renewed the lease, because looking may take long.
    const isOwn = holder?.run === runner.run && newest?.epoch === head?.epoch;
    // A list that is read while another run adds to it may miss an older record too.
    return !isOwn && (!sameRecord(newest, head) || again.length !== records.length);
  };
  try {
    const found = await look();
    return found !== undefined && looksWrong(found) && (await isOutdated()) ? undefined : found;
  } catch (error) {
    if (!isMigrateError(error) || error.outcome !== "refused" || !(await isOutdated())) throw error;
    return undefined;
  }
}
