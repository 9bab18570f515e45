/**
 * The former names of a migration, as `["0007_add_tags 3c6e0b8a9c15224a"]`: `was` lists the names that it had on a
 * branch, `replaces` the migrations that were squashed into it. A database on which those are applied does not need
 * this one. The lists are read from the text, so that nothing is evaluated. Pure.
 */
import { checksumOf, shortHash } from "./checksum.ts";
import { formatMigration, type MigrationName } from "./file-name.ts";

export interface Former extends MigrationName {
  /** Its checksum in hex, or the first 64 bits of it. */
  readonly checksum: string;
}

export const formerLists = ["was", "replaces"] as const;
export type FormerList = (typeof formerLists)[number];

const item = /^(\d+)_([A-Za-z0-9_-]+) ([0-9a-f]{16})$/;

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
  const [, version, name, checksum] = item.exec(text) ?? [];
  return checksum === undefined ? [] : [{ version: Number(version), name: name!, checksum }];
}

/** The names by which a ledger may know a migration: one for its steps, and one for each list of steps in `ran`. */
export function namesNow(
  { version, name, checksum }: Former,
  ran: readonly (readonly unknown[])[] = [],
): readonly string[] {
  return [checksum, ...ran.map(checksumOf)].map((one) => formatFormer({ version, name, checksum: one }));
}

export function formatFormer({ checksum, ...name }: Former): string {
  return `${formatMigration(name)} ${shortHash(checksum)}`;
}
