/** The columns that `migrate prepare` has begun to prepare, and how far it is. */
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { PrepareColumnAction } from "../../actions/model/action.ts";
import { compileMigration } from "../../plan/compile/compile.ts";
import type { MigrationFile } from "../../migrations/list-files.ts";
import { loadMigrations } from "../../migrations/source.ts";
import type { PreparedProgress } from "./prepared-progress.ts";
import { isStaging, preparingsOf } from "../compute/staging-name.ts";
import type { RunContext } from "../run-context.ts";

export interface PreparingColumn {
  readonly table: string;
  readonly path: string;
  readonly progress: PreparedProgress;
}

/** By the version of the pending migration. Evaluates the files only if something was prepared. */
export async function preparingColumns(
  context: RunContext,
  pending: readonly MigrationFile[],
): Promise<ReadonlyMap<number, readonly PreparingColumn[]>> {
  const { migrations, target, ledger } = context;
  if (pending.length === 0 || target.rows === undefined) return new Map();
  const tables = await target.listTables();
  if (!tables.some((name) => isStaging(name, ledger))) return new Map();
  const loaded = await loadMigrations(migrations, pending).catch(unlessRefused);
  const isBegun = (action: PrepareColumnAction) => preparingsOf(tables, ledger, action).length > 0;
  const found = new Map<number, readonly PreparingColumn[]>();
  for (const migration of loaded) {
    const actions = compileMigration(migration, target.capabilities).flatMap(({ action }) =>
      action.kind === "prepareColumn" && isBegun(action) ? [action] : [],
    );
    const columns = await Promise.all(actions.map(async (action) => await columnOf(action, context)));
    found.set(migration.version, columns.flat());
  }
  return found;
}

async function columnOf(
  action: PrepareColumnAction,
  { target, ledger }: RunContext,
): Promise<readonly PreparingColumn[]> {
  const { preparedProgress } = await import("./prepared-progress.ts");
  const { table, path } = action;
  const progress = await preparedProgress(action, target, ledger);
  return progress === undefined ? [] : [{ table, path, progress }];
}

/** A file that can't be loaded is a matter of `plan` and `up`. */
function unlessRefused(error: unknown): readonly [] {
  if (isMigrateError(error)) return [];
  throw error;
}
