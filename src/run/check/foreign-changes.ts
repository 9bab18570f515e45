/**
 * What others did to a table since a version of it. These are separate questions, because each costs another read and
 * few callers need two of them:
 * - Is it still the same table? The time of that version, as it is listed now, answers this.
 * - Which rows were written? Reads the ids or the values of the rows of two versions.
 * - Which commit left the table as it is, and what came before that commit? Compares the columns of versions.
 *
 * Two other questions about others are asked elsewhere. Which metadata and indexes they have set follows from two
 * descriptions of the table: see plan/reconcile/foreign-settings.ts. Whether they made what looks as if an action had
 * made it is known to the target alone: see made-by-others.ts.
 */
import { isMigrateError } from "../../errors/migrate-error.ts";
import type { VersionSpan } from "../../plan/assess/version-spans.ts";
import { sameColumns } from "../../schema/data-type.ts";
import { withoutMetadata } from "../../schema/metadata.ts";
import { identityOf, type Identity, type SeenVersion } from "../../schema/table-identity.ts";
import type { Table } from "../../schema/table.ts";
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";
import { newestCommit, type Since, type SinceScope, type Versions } from "../../targets/contract/versions.ts";

/** What distinguishes a table that was seen from others of its name. */
export type SeenTable = Pick<TableSnapshot, "version" | "at" | "instance">;

export function versionIn(snapshot: SeenTable | undefined): SeenVersion | undefined {
  return snapshot?.version === undefined ? undefined : { version: snapshot.version, at: snapshot.at };
}

/** When the version of a snapshot was made; undefined if the target does not report it. */
export async function timeOfVersion(
  table: string,
  { version, at }: TableSnapshot,
  { versions }: Target,
): Promise<number | undefined> {
  return at ?? (version === undefined ? undefined : await versions?.time(table, version));
}

/** Whether a table is proven not to be the one that was seen first. */
export async function isAnother(
  table: string,
  first: SeenTable | undefined,
  now: TableSnapshot | undefined,
  target: Target,
): Promise<boolean> {
  if (now?.version === undefined || now === first || first === undefined) return false;
  return (await identityNow(table, first, now.version, async () => now.instance, target)) === "another";
}

/** Decided by the first of the versions in `seen` that is still listed; pass the newest first. */
export async function identify(table: string, seen: readonly SeenTable[], target: Target): Promise<Identity> {
  const newest = (await target.describeTable(table))?.version;
  if (newest === undefined) return "unknown";
  for (const one of seen) {
    const identity = await identityNow(table, one, newest, async () => undefined, target);
    if (identity !== "unknown") return identity;
  }
  return "unknown";
}

/**
 * Whether a table of this name is the one that was seen. The instance counts only if the version was cleaned up: in an
 * overlay file system, the first write gives a directory another birth time.
 */
export async function identityNow(
  table: string,
  { version, at, instance }: SeenTable,
  newest: number,
  instanceNow: () => Promise<string | undefined>,
  { versions }: Target,
): Promise<Identity> {
  if (version === undefined) return "unknown";
  const listed = at === undefined ? undefined : await versions?.time(table, version);
  const identity = identityOf({ version, at }, { newest, at: listed });
  if (identity !== "unknown") return identity;
  const other = await instanceNow();
  if (instance === undefined || other === undefined) return "unknown";
  return instance === other ? "same" : "another";
}

/** What was written in all of these spans; undefined if that is unknown of one. */
export async function rowsWrittenIn(
  target: Target,
  table: string,
  spans: readonly VersionSpan[],
): Promise<Since | undefined> {
  let sum: Since = { added: 0, changed: 0, removed: 0 };
  for (const { from, until } of spans) {
    const one = await rowsWrittenSince(target, table, from, { until });
    if (one === undefined) return undefined;
    sum = { added: sum.added + one.added, changed: sum.changed + one.changed, removed: sum.removed + one.removed };
  }
  return sum;
}

/** Undefined if unknown, also because the version was cleaned up, or belongs to a table that was recreated since. */
export async function rowsWrittenSince(
  { versions }: Target,
  table: string,
  version: number,
  scope: SinceScope,
): Promise<Since | undefined> {
  try {
    return await versions!.since(table, version, scope);
  } catch (cause) {
    if (isMigrateError(cause)) throw cause;
    return undefined;
  }
}

/** A commit among the listed versions of a table. */
interface FoundCommit {
  /** The version that it made; undefined if none is found. */
  readonly made: number | undefined;
  /** The last version before it; undefined if none is listed. */
  readonly before: number | undefined;
  readonly newest: number;
}

/**
 * The commit that left a table with these columns. After version `seen`, that is the first one that did. If `seen` is
 * undefined, it is the latest one: newer versions may lack the columns, because a later call of a run that was taken
 * for stopped may have changed the table since.
 */
export async function commitThatLeft(
  table: string,
  left: Pick<Table, "columns">,
  seen: number | undefined,
  versions: Versions,
): Promise<FoundCommit> {
  const columns = left.columns.map(withoutMetadata);
  const isLeft = async (version: number) => sameColumns(columns, (await versions.at(table, version)).columns);
  const listed = (await versions.list(table)).map(({ version }) => version);
  const newest = listed.at(-1)!;
  if (seen === undefined) return { ...(await newestCommit(listed.toReversed(), isLeft)), newest };
  for (const [index, made] of listed.entries())
    if (made > seen && (await isLeft(made))) return { made, before: listed[index - 1], newest };
  return { made: undefined, before: undefined, newest };
}
