/**
 * The former names of a migration, as `["0007_add_tags 3c6e0b8a9c15224a"]`: `was` lists the names that it had on a
 * branch, `replaces` the migrations that were squashed into it. A database on which those are applied does not need
 * this one. In `replaces`, `"0001_start 1f0c9a5e7d2b4a68 became 0004_first"` names what a migration of the list was
 * before: a database has run either 0004_first, or all that became it. The lists are read from the text, so that
 * nothing is evaluated. Pure.
 */
import { checksumOf, shortHash } from "./checksum.ts";
import { formatMigration, type MigrationName } from "./file-name.ts";

export interface Former extends MigrationName {
  /** Its checksum in hex, or the first 64 bits of it. */
  readonly checksum: string;
  /** The full name of the migration that took its place, which comes later in the list. */
  readonly became?: string;
}

export const formerLists = ["was", "replaces"] as const;
export type FormerList = (typeof formerLists)[number];

const item = /^(\d+)_([A-Za-z0-9_-]+) ([0-9a-f]{16})(?: became (\d+_[A-Za-z0-9_-]+))?$/;

/** The lists in a file's text. */
export function formerIn(text: string): { readonly [List in FormerList]?: readonly Former[] } {
  const found: { [List in FormerList]?: readonly Former[] } = {};
  for (const list of formerLists) {
    // This quick test comes first, because there may be thousands of files, most of them without such a list.
    const items = text.includes(`const ${list}`) ? listIn(text, list) : undefined;
    if (items !== undefined) found[list] = items;
  }
  return found;
}

function listIn(text: string, list: FormerList): readonly Former[] | undefined {
  const items = new RegExp(`^export const ${list}\\b[^=]*=\\s*\\[([^\\]]*)\\]`, "m").exec(text)?.[1];
  if (items === undefined) return undefined;
  return [...items.matchAll(/"([^"]*)"|'([^']*)'/g)].flatMap(([, one, other]) => parseFormer(one ?? other ?? ""));
}

/** The former name in a text such as "0007_add_tags 3c6e0b8a9c15224a"; none in any other text. */
export function parseFormer(text: string): readonly Former[] {
  const [, version, name, checksum, became] = item.exec(text) ?? [];
  return checksum === undefined
    ? []
    : [{ version: Number(version), name: name!, checksum, ...(became !== undefined && { became }) }];
}

/** What is wrong with a list; undefined if nothing is. */
export function formerProblem(list: FormerList, formers: readonly Former[]): string | undefined {
  const stray = formers.find(
    ({ became }, index) =>
      became !== undefined &&
      (list === "was" || !formers.slice(index + 1).some((later) => formatMigration(later) === became)),
  );
  if (stray === undefined) return undefined;
  const where =
    list === "was"
      ? "as only replaces may"
      : `and no later item of the list is ${stray.became}; restore the list as it was written`;
  return `exports ${list}, which states that ${formatMigration(stray)} became ${stray.became}, ${where}`;
}

/** The names by which a ledger may know a migration: one for its steps, and one for each list of steps in `ran`. */
export function namesNow(
  { version, name, checksum }: Former,
  ran: readonly (readonly unknown[])[] = [],
): readonly string[] {
  return [checksum, ...ran.map(checksumOf)].map((one) => formatFormer({ version, name, checksum: one }));
}

interface Replaced extends Former {
  readonly was?: readonly Former[] | undefined;
  readonly replaces?: readonly Former[] | undefined;
  readonly ran?: readonly (readonly unknown[])[] | undefined;
}

/** The items of `replaces` for these migrations, in their order: each after all by which a database may know it. */
export function namesEver(migrations: readonly Replaced[]): readonly string[] {
  const all = migrations.flatMap((migration) => {
    const now = namesNow(migration, migration.ran).flatMap(parseFormer);
    const named = [...(migration.was ?? []), ...now];
    const names = [...new Set(named.map(formatMigration))].toSorted(
      // Its own name comes last, even if it had that name before.
      (one, other) => Number(one === formatMigration(migration)) - Number(other === formatMigration(migration)),
    );
    const chain = names.flatMap((name, index) =>
      named.filter((one) => formatMigration(one) === name).map((one) => becoming(one, names[index + 1])),
    );
    return [...(migration.replaces ?? []).map((one) => becoming(one, one.became ?? names[0])), ...chain];
  });
  return [...new Set(all.map(formatFormer))];
}

function becoming(former: Former, became: string | undefined): Former {
  return became === undefined ? former : { ...former, became };
}

export function formatFormer({ checksum, became, ...name }: Former): string {
  return `${formatMigration(name)} ${shortHash(checksum)}${became === undefined ? "" : ` became ${became}`}`;
}
