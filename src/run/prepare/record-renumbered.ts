/** Records the current names of migrations that the ledger knows under other names. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { appliedHash } from "../../ledger/state/applied-hash.ts";
import { appliedIn, foldLedger, type LedgerState } from "../../ledger/state/fold.ts";
import type { LedgerEntry } from "../../ledger/state/record.ts";
import { formatMigration, formatVersion } from "../../migrations/file-name.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import { loadMigrations } from "../../migrations/source.ts";
import { replayHistory } from "../../plan/history/replay.ts";
import {
  withStepsThatRan,
  recognisedIn,
  checkRecognised,
  entriesOf,
  type Recognised,
} from "../../plan/history/renumbered.ts";
import type { RunContext } from "../run-context.ts";
import { keepRenumbered, type RenumberedMigration } from "../execute/restore-points.ts";
import { withLease } from "../lease/with-lease.ts";

/** Whether any file states former names, or migrations that it replaces. */
export function areFormer(files: readonly MigrationFile[]): boolean {
  return files.some(({ was, replaces }) => was !== undefined || replaces !== undefined);
}

/** Records the current names under the lease, if there are any to record. Throws ERR_REPLACES. */
export async function recordRecognised(context: RunContext, files: readonly MigrationFile[]): Promise<void> {
  const { target, ledger, emit } = context;
  await withLease(context, {
    resultIfDone: async ({ state }) => (recognisedIn(files, state).length === 0 ? true : undefined),
    async prepare({ state }) {
      const recognised = recognisedIn(files, state);
      const entries = await newEntries(recognised, state, context);
      await checkOrder(recognised, state, files, context);
      return {
        // It changes no table, so nothing is in doubt if the run dies.
        first: undefined,
        async act(lease) {
          await lease.check();
          const release = await keepRenumbered(renumberedOf(recognised), target, ledger, lease.epoch());
          await lease.release(entries);
          await release();
          for (const { file, known } of recognised)
            emit({ event: "recognised", version: file.version, name: file.name, was: known.map(formatMigration) });
          return true;
        },
      };
    },
  });
}

/** Records can't be reverted, so the history must be valid under the new names. Throws ERR_REPLACES. */
async function checkOrder(
  recognised: readonly Recognised[],
  state: LedgerState,
  files: readonly MigrationFile[],
  context: RunContext,
): Promise<void> {
  const [first] = recognised;
  const after = await recognisedState(state, files, context);
  const ran = files.filter(({ version }) => after.migrations.has(version));
  if (first === undefined || ran.length < after.migrations.size) return;
  const loaded = await loadMigrations(context.migrations, ran);
  try {
    replayHistory(withStepsThatRan(loaded, after), after, context.target.capabilities);
  } catch (cause) {
    if (!isMigrateError(cause)) throw cause;
    const ranAs = first.known.map(formatMigration).join(", ");
    const problem = `it ran here as ${ranAs}, and others ran in between that can't come before or after all of it: ${cause.message}; continue with the release before it`;
    throw new MigrateError("ERR_REPLACES", { file: first.file.file, problem }, { cause });
  }
}

/** The state as `recordRecognised` would leave it, without recording anything. Throws ERR_REPLACES. */
export async function recognisedState(
  state: LedgerState,
  files: readonly MigrationFile[],
  context: RunContext,
): Promise<LedgerState> {
  const recognised = areFormer(files) ? recognisedIn(files, state) : [];
  const { head } = state;
  if (recognised.length === 0 || head === undefined) return state;
  const entries = await newEntries(recognised, state, context);
  const { by, run, tool } = head;
  const records = entries.map((entry, number) => {
    const own = entry.version === undefined ? undefined : state.migrations.get(entry.version);
    const link = {
      epoch: 1,
      number,
      at: own?.at ?? context.clock.wall(),
      by: own?.by ?? by,
      run,
      tool,
      applied: "",
      previous: "",
    };
    return { ...entry, ...link };
  });
  const { migrations } = foldLedger(records);
  const applied = appliedHash(appliedIn({ migrations })).value;
  return { ...state, migrations, head: { ...head, applied } };
}

async function newEntries(
  recognised: readonly Recognised[],
  state: LedgerState,
  { migrations: source, target }: RunContext,
): Promise<readonly LedgerEntry[]> {
  checkRecognised(recognised, state);
  const several = recognised.filter(({ file }) => file.replaces !== undefined);
  const loaded = await Promise.all(several.map(async ({ file }) => [file.version, await source.load(file)] as const));
  return entriesOf(recognised, state, new Map(loaded), target.capabilities);
}

/** Squashed migrations are left out: their kept versions are no longer needed, and `migrate prune` releases them. */
function renumberedOf(recognised: readonly Recognised[]): readonly RenumberedMigration[] {
  return recognised.flatMap(({ file, known }) =>
    file.replaces === undefined ? known.map((one) => ({ version: file.version, known: one })) : [],
  );
}

/** A plan is bound to the ledger as it is, so no names may be left to record before it. Throws ERR_REPLACES. */
export async function checkRecorded(context: RunContext): Promise<void> {
  const files = context.migrations.list();
  if (!areFormer(files)) return;
  const told = foldLedger(await context.journal.read());
  const [one] = recognisedIn(files, told);
  if (one === undefined) return;
  const { migrations } = await recognisedState(told, files, context);
  const next = files.findIndex(({ version }) => migrations.get(version)?.status !== "applied");
  const last = files.at(next === -1 ? -1 : next - 1);
  const way =
    last === undefined || next === 0
      ? "migrate up does that"
      : `migrate up --to ${formatVersion(last.version)} does that and no more`;
  const ranAs = one.known.map(formatMigration).join(", ");
  const problem = `that it ran here as ${ranAs} is not recorded yet; ${way}`;
  throw new MigrateError("ERR_REPLACES", { file: one.file.file, problem });
}
