/** Combines migrations into one, and checks that the engine makes the same of both. Touches no table of the target. */
import { isMigrateError, MigrateError } from "../../../errors/migrate-error.ts";
import { checksumOf } from "../../../migrations/checksum.ts";
import { formatMigration } from "../../../migrations/file-name.ts";
import { namesEver } from "../../../migrations/former-names.ts";
import type { Acceptance } from "../../../migrations/acceptance.ts";
import type { Migration } from "../../../migrations/load.ts";
import { loadMigrations } from "../../../migrations/source.ts";
import { chosenFiles } from "../../../plan/history/pending.ts";
import { squash, type Squash } from "./squash-steps.ts";
import { differences } from "../../../schema/table.ts";
import type { NewTables } from "../../../schema/table-format.ts";
import { up } from "../../../commands/up.ts";
import type { MigratorOptions } from "../../../run/run-context.ts";
import { alone, describeScratch, sameRows } from "../../shared/scratch-snapshots.ts";
import { differencesBetween } from "./rebase-steps.ts";
import type { Scratch } from "../../../targets/contract/target.ts";

export interface SquashResult extends Omit<Squash, "differences"> {
  readonly version: number;
  readonly migrations: readonly Migration[];
  readonly replaces: readonly string[];
  readonly accepts: readonly Acceptance[] | undefined;
  /** How many tables the engine made the same from both; undefined if that could not be checked. */
  readonly proven: number | undefined;
  /** Why it could not be checked: the history does not run on an empty database. */
  readonly unproven: string | undefined;
}

/** Throws ERR_VERSION_UNKNOWN, ERR_FILE_EXISTS, ERR_SQUASH. `name`: that of the new migration. */
export async function planSquash(
  options: MigratorOptions,
  { to, name }: { readonly to: number; readonly name: string },
  openScratch: (newTables?: NewTables) => Promise<Scratch>,
): Promise<SquashResult> {
  const { migrations: source, target } = options;
  const all = source.list();
  const files = chosenFiles(all, { to });
  if (files.length < 2) throw refused(`there is only ${formatMigration(files[0]!)} up to there`);
  const taken = all.find(({ was = [], replaces = [] }) =>
    [...was, ...replaces].some((former) => former.version === to && former.name === name),
  );
  // The lists of former names tell migrations apart by their names.
  if (taken !== undefined)
    throw refused(`${formatMigration({ version: to, name })} is a former name in ${taken.file}; choose another name`);
  // The name of a replaced migration, which may differ in its extension only.
  const existing = all.find((one) => one.version === to && one.name === name);
  if (existing !== undefined) throw new MigrateError("ERR_FILE_EXISTS", { file: existing.path });
  const migrations = await loadMigrations(source, files);
  const { differences: found, ...made } = squash(migrations, target.capabilities);
  if (made.steps.length === 0) throw refused("nothing is left of them at the end");
  if (found[0] !== undefined) throw refused(`it would not lead to the same: ${found[0]}`);
  const accepts = [...new Set(migrations.flatMap((one) => one.accepts ?? []))];
  return {
    ...made,
    version: to,
    migrations,
    replaces: namesEver(migrations),
    accepts: accepts.length === 0 ? undefined : accepts,
    ...(await prove(options, migrations, made, openScratch)),
  };
}

function refused(problem: string): MigrateError {
  return new MigrateError("ERR_SQUASH", { problem });
}

/** Runs both on empty databases of the engine. Throws ERR_SQUASH if the results differ. */
async function prove(
  options: MigratorOptions,
  migrations: readonly Migration[],
  { steps, partial }: Pick<Squash, "steps" | "partial">,
  openScratch: (newTables?: NewTables) => Promise<Scratch>,
): Promise<Pick<SquashResult, "proven" | "unproven">> {
  const together: Migration = { ...migrations.at(-1)!, steps, checksum: checksumOf(steps) };
  const [before, after] = [await openScratch(options.target.newTables), await openScratch(options.target.newTables)];
  try {
    try {
      await runAll(before, options, migrations);
    } catch (error) {
      if (!isMigrateError(error)) throw error;
      return { proven: undefined, unproven: error.message };
    }
    await runAll(after, options, [together]);
    const all = [...(await before.target.listTables()), ...(await after.target.listTables())];
    const names = [...new Set(all)].filter((name) => name !== options.ledger);
    const [wanted, reached] = [await describeScratch(before, names), await describeScratch(after, names)];
    for (const name of names) {
      const [one, other] = [wanted.get(name)!, reached.get(name)!];
      const compare = partial.has(name) ? differences : differencesBetween;
      const [difference = sameRows(one, other) ? undefined : "it has other rows"] = compare(other.table, one.table);
      if (difference !== undefined) throw refused(`the engine does not make the same of it: ${name}: ${difference}`);
    }
    return { proven: names.length, unproven: undefined };
  } finally {
    await before.target.close();
    await after.target.close();
  }
}

async function runAll(scratch: Scratch, options: MigratorOptions, migrations: readonly Migration[]): Promise<void> {
  const alike: MigratorOptions = {
    ...options,
    target: scratch.target,
    migrations: {
      // An empty database knows no migration by a former name.
      list: () => migrations.map((one) => ({ ...one, was: undefined, replaces: undefined })),
      load: async ({ version }) => migrations.find((one) => one.version === version)!,
    },
    ...alone,
    emit: undefined,
  };
  // A group would fold the steps, and the squash is compared with the steps as they are.
  await up(alike, { stepByStep: true });
}
