/** The columns that `migrate prepare` has begun to prepare, and how far it is. */
import { isMigrateError } from "../../../errors/migrate-error.ts";
import type { PrepareColumnAction } from "../../../actions/model/action.ts";
import { compileMigration } from "../../../plan/compile/compile.ts";
import type { MigrationFile } from "../../../migrations/list-files.ts";
import { loadMigrations } from "../../../migrations/source.ts";
import { preparingState } from "./preparing-state.ts";
import { preparingsOf } from "../compute/staging-name.ts";
import type { RunContext } from "../../../run/run-context.ts";
import type { PreparingState, PreparingColumn } from "../../../run/computed.ts";
import { isStaging } from "../../../ledger/journal/marker-name.ts";

/**
 * By the version of the pending migration. Evaluates the files only if something was prepared. `atWork`: the migrations that
 * another run applies now, and so prepares itself.
 */
export async function preparingColumns(
  context: RunContext,
  pending: readonly MigrationFile[],
  atWork: readonly number[],
): Promise<ReadonlyMap<number, readonly PreparingColumn[]>> {
  const { migrations, target, ledger } = context;
  if (pending.length === 0 || target.rows === undefined) return new Map();
  const tables = await target.listTables();
  if (!tables.some((name) => isStaging(name, ledger))) return new Map();
  const loaded = await loadMigrations(migrations, pending).catch(unlessRefused);
  const found = new Map<number, readonly PreparingColumn[]>();
  for (const migration of loaded) {
    const isAtWork = atWork.includes(migration.version);
    const columns = compileMigration(migration, target.capabilities).map(async ({ action }) => {
      const leases = action.kind === "prepareColumn" ? preparingsOf(tables, ledger, action) : [];
      return action.kind !== "prepareColumn" || leases.length === 0
        ? []
        : await columnOf(action, leases, isAtWork, context);
    });
    found.set(migration.version, (await Promise.all(columns)).flat());
  }
  return found;
}

async function columnOf(
  action: PrepareColumnAction,
  leases: readonly string[],
  isAtWork: boolean,
  context: RunContext,
): Promise<readonly PreparingColumn[]> {
  const { preparedProgress } = await import("./prepared-progress.ts");
  const { table, path } = action;
  const found: PreparingState = isAtWork ? { state: "running" } : await preparingState(leases, context);
  const progress = await preparedProgress(action, context.target, context.ledger, { since: found.since });
  if (progress === undefined) return [];
  // How fast rows were computed means nothing later.
  const isComputing = found.phase === undefined || found.phase === "computing" || found.phase === "catching up";
  const perSecond = found.state === "running" && isComputing ? progress.perSecond : undefined;
  return [{ table, path, ...found, progress: { ...progress, perSecond } }];
}

/** A file that can't be loaded is a matter of `plan` and `up`. */
function unlessRefused(error: unknown): readonly [] {
  if (isMigrateError(error)) return [];
  throw error;
}
