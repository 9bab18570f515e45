/** Which migrations a number of pending ones is. */
import { foldLedger } from "../ledger/state/fold.ts";
import type { MigrationFile } from "../migrations/list-files.ts";
import { pendingFiles, type RunChoice } from "../plan/history/pending.ts";
import { recognisedState } from "../run/prepare/record-renumbered.ts";
import { runContext, type MigratorOptions } from "../run/run-context.ts";

/**
 * The same choice with `to` in place of `steps`. It is found before the run takes its lease, so that another run that
 * finishes meanwhile leaves less to do, and not others.
 */
export async function withLast<Chosen extends RunChoice>(options: MigratorOptions, choice: Chosen): Promise<Chosen> {
  const { steps, ...others } = choice;
  if (steps === undefined) return choice;
  const context = runContext(options);
  const files = context.migrations.list();
  const state = await recognisedState(foldLedger(await context.journal.read()), files, context);
  const pending = pendingFiles(files, state);
  // What has begun runs first.
  const isBegun = ({ version }: MigrationFile) => state.migrations.has(version);
  const inOrder = [...pending.filter(isBegun), ...pending.filter((file) => !isBegun(file))];
  // None if all are wanted.
  const to = steps < inOrder.length ? Math.max(...inOrder.slice(0, steps).map(({ version }) => version)) : undefined;
  return { ...(others as Chosen), to };
}
