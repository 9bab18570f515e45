/** Asks the target whether tables are the ones that were seen earlier. */
import { MigrateError } from "../../errors/migrate-error.ts";
import { identityQuestions } from "../../plan/assess/required-identities.ts";
import type { Plan } from "../../plan/make-plan.ts";
import { identityOf, type Identity, type SeenVersion } from "../../schema/table-identity.ts";
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";

export function versionIn(snapshot: SeenTable | undefined): SeenVersion | undefined {
  return snapshot?.version === undefined ? undefined : { version: snapshot.version, at: snapshot.at };
}

/** When the version of a snapshot was made; undefined if the target does not report it. */
export async function timeOf(
  table: string,
  { version, at }: TableSnapshot,
  { versions }: Target,
): Promise<number | undefined> {
  return at ?? (version === undefined ? undefined : await versions?.time(table, version));
}

/** Undefined if unknown. */
export function isOtherInstance(seen: SeenTable | undefined, now: string | undefined): boolean | undefined {
  return seen?.instance === undefined || now === undefined ? undefined : seen.instance !== now;
}

/** What distinguishes a table that was seen from others of its name. */
export type SeenTable = Pick<TableSnapshot, "version" | "at" | "instance">;

/** Whether a table is proven not to be the one that was seen first. */
export async function isAnother(
  table: string,
  first: SeenTable | undefined,
  now: TableSnapshot | undefined,
  { versions }: Target,
): Promise<boolean> {
  const seen = versionIn(first);
  if (now?.version === undefined || now === first || seen === undefined) return false;
  const at = seen.at === undefined ? undefined : await versions?.time(table, seen.version);
  const identity = identityOf(seen, { newest: now.version, at });
  // The instance counts only if the version was cleaned up: in an overlay file system, the first write gives a
  // directory another birth time.
  return identity === "unknown" ? isOtherInstance(first, now.instance) === true : identity === "another";
}

/** Decided by the first of the versions in `seen` that is still listed; pass the newest first. */
export async function identify(table: string, seen: readonly SeenVersion[], target: Target): Promise<Identity> {
  const newest = (await target.describeTable(table))?.version;
  if (newest === undefined) return "unknown";
  for (const one of seen) {
    const identity = identityOf(one, { newest, at: await target.versions?.time(table, one.version) });
    if (identity !== "unknown") return identity;
  }
  return "unknown";
}

/**
 * Tables that were dropped and recreated after the migrations that are rolled back, as text: what would be dropped is
 * not what these migrations made. Throws ERR_IRREVERSIBLE if an old version of such a table would be restored.
 */
export async function recreatedTables(plan: Plan, target: Target): Promise<readonly string[]> {
  if (target.versions === undefined) return [];
  const words = new Set<string>();
  for (const { place, kind, table, seen, restores } of identityQuestions(plan)) {
    const recreated = `table ${table} was dropped and recreated after ${place.file}`;
    const irreversible = (problem: string) => new MigrateError("ERR_IRREVERSIBLE", { ...place, problem });
    if ((await identify(table, seen, target)) !== "another") {
      // The table was recreated during the migration, which then ended on the new one.
      if (restores === undefined || (await identify(table, [restores], target)) !== "another") continue;
      throw irreversible(
        `version ${restores.version} of table ${table} is not the one that ${place.file} found: the table was dropped and recreated`,
      );
    }
    if (kind === "restoreTable") throw irreversible(`${recreated}, and its old versions went with it`);
    words.add(`${recreated}, and ${kind === "dropTable" ? "would be dropped" : "columns of it would be dropped"}`);
  }
  return [...words];
}
