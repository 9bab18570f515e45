/** Records the current names of migrations that the ledger knows under other names. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { appliedHash } from "../../ledger/state/applied-hash.ts";
import { foldLedger } from "../../ledger/state/fold.ts";
import { appliedIn, type LedgerState } from "../../ledger/state/ledger-state.ts";
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
  ranInOtherOrder,
  type Recognised,
} from "../../plan/history/renumbered.ts";
import { describeDifference } from "../../plan/history/table-drift.ts";
import type { RunContext } from "../run-context.ts";
import { keepRenumbered, type RenumberedMigration } from "../execute/restore-points.ts";
import { withLease } from "../lease/with-lease.ts";
import { compareWithLedger } from "./compare-with-ledger.ts";

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
      const { recognised, entries } = (await renamed(state, files, context))!;
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

/** The state as `recordRecognised` would leave it, without recording anything. Throws ERR_REPLACES. */
export async function recognisedState(
  state: LedgerState,
  files: readonly MigrationFile[],
  context: RunContext,
): Promise<LedgerState> {
  return (areFormer(files) ? await renamed(state, files, context) : undefined)?.after ?? state;
}

interface Renamed {
  readonly recognised: readonly Recognised[];
  /** The records with the current names. */
  readonly entries: readonly LedgerEntry[];
  /** The state after them. */
  readonly after: LedgerState;
}

/** Undefined if the ledger has the current names. Throws ERR_REPLACES. */
async function renamed(
  state: LedgerState,
  files: readonly MigrationFile[],
  context: RunContext,
): Promise<Renamed | undefined> {
  const { migrations: source, target } = context;
  const recognised = recognisedIn(files, state);
  if (recognised.length === 0) return undefined;
  checkRecognised(recognised, state);
  const several = recognised.filter(({ file }) => file.replaces !== undefined);
  const loaded = await Promise.all(several.map(async ({ file }) => [file.version, await source.load(file)] as const));
  const entries = entriesOf(recognised, state, new Map(loaded), target.capabilities);
  const after = stateAfter(entries, state, context);
  await checkOrder(recognised, { state, after }, files, context);
  return { recognised, entries, after };
}

function stateAfter(entries: readonly LedgerEntry[], state: LedgerState, { clock }: RunContext): LedgerState {
  const { by, run, tool } = state.head!;
  const records = entries.map((entry, number) => {
    return { at: clock.wall(), by, ...entry, epoch: 1, number, run, tool, applied: "", previous: "" };
  });
  const { migrations } = foldLedger(records);
  const applied = appliedHash(appliedIn({ migrations })).value;
  return { ...state, migrations, head: { ...state.head!, applied } };
}

/**
 * Records can't be reverted, so the history must be valid under the new names. If what a file replaces ran in another
 * order, the tables must show that this made no difference. Throws ERR_REPLACES.
 */
async function checkOrder(
  recognised: readonly Recognised[],
  { state, after }: { readonly state: LedgerState; readonly after: LedgerState },
  files: readonly MigrationFile[],
  context: RunContext,
): Promise<void> {
  const turned = ranInOtherOrder(recognised, state);
  const ran = files.filter(({ version }) => after.migrations.has(version));
  const hasAll = ran.length === after.migrations.size;
  if (turned === undefined && !hasAll) return;
  const { target, migrations: source } = context;
  const refused = (why: string, cause?: unknown) => {
    const file = turned?.file ?? recognised[0]!.file.file;
    const words = turned?.words ?? `it ran here as ${recognised[0]!.known.map(formatMigration).join(", ")}`;
    const way =
      turned === undefined
        ? "continue with the release before it"
        : `with a release that still has their files, run migrate down --to ${formatVersion(turned.to)} and migrate up, which applies them in the order of their numbers`;
    return new MigrateError("ERR_REPLACES", { file, problem: `${words}, and ${why}; ${way}` }, { cause });
  };
  if (!hasAll) throw refused("a migration ran here whose file is missing");
  try {
    const migrations = withStepsThatRan(await loadMigrations(source, ran), after);
    replayHistory(migrations, after, target.capabilities);
    if (turned === undefined) return;
    if (!target.capabilities.describes) throw refused("this service does not show the order of columns");
    const [difference] = (await compareWithLedger(context, after, migrations)).differences;
    if (difference !== undefined) throw refused(describeDifference(difference));
  } catch (cause) {
    if (!isMigrateError(cause) || cause.outcome !== "refused" || isMigrateError(cause, "ERR_REPLACES")) throw cause;
    throw refused(cause.message, cause);
  }
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
