/** Which findings of `lint` are shown: by default all, without notes about migrations that are applied. */
import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { history } from "../../commands/status.ts";
import { isMigrateError } from "../../errors/migrate-error.ts";
import { foldLedger } from "../../ledger/state/fold.ts";
import { appliedIn } from "../../ledger/state/ledger-state.ts";
import type { MigratorOptions } from "../../run/run-context.ts";
import { checkRepository, filesAt, textsOf } from "../shared/git.ts";
import type { Migration } from "../../migrations/load.ts";
import type { Findings, LintFinding } from "./findings.ts";

/**
 * `since`: the number of a migration, or a branch of git: migrations after that number, or those that are new on this
 * branch or have changed there; by default all. Throws ERR_BRANCH.
 */
export function migrationsSince(folder: string, since: string | undefined): (migration: Migration) => boolean {
  if (since === undefined) return () => true;
  return /^\d+$/.test(since) ? isAfter(Number(since)) : isOnlyHere(folder, since);
}

/** The findings without notes about migrations that are applied. The database is asked only if there are notes. */
export async function withoutSettled<Found extends Findings>(found: Found, options: MigratorOptions): Promise<Found> {
  const isNote = ({ severity }: LintFinding) => severity === "note";
  const applied = found.findings.some(isNote) ? await appliedHere(options) : new Set<number>();
  const settled = new Set(
    found.sound.migrations.flatMap(({ migration: { version, path } }) => (applied.has(version) ? [path] : [])),
  );
  return { ...found, findings: found.findings.filter((one) => !(isNote(one) && settled.has(one.file))) };
}

function isAfter(number: number) {
  return ({ version }: Migration) => version > number;
}

function isOnlyHere(folder: string, branch: string) {
  checkRepository(folder, "give --since the number of a migration");
  const there = filesAt(folder, branch);
  const here = textsOf(folder, [...there.keys()]);
  return ({ file }: Migration) => there.get(file) === undefined || there.get(file) !== here.get(file);
}

/** Empty if the database is not in a folder that is there: a check asks no service. */
async function appliedHere(options: MigratorOptions): Promise<ReadonlySet<number>> {
  const { place } = options.target;
  if (!isAbsolute(place) || !existsSync(place)) return new Set();
  try {
    return new Set(appliedIn(foldLedger(await history(options))).map(({ version }) => version));
  } catch (error) {
    // The ledger is checked by other commands.
    if (!isMigrateError(error)) throw error;
    return new Set();
  }
}
