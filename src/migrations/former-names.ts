/**
 * What a migration was before: `was`, the names that it had on a branch, or `replaces`, the migrations that were put together
 * in it, as `["0007_add_tags 3c6e0b8a9c15224a"]`. A database on which those are applied needs this one no more. Read from
 * the text, so that nothing is evaluated for it. Pure.
 */
import { checksumOf, shortHash } from "./checksum.ts";
import { formatMigration, type MigrationName } from "./file-name.ts";

export interface Former extends MigrationName {
  /** The beginning of its checksum. */
  readonly checksum: string;
}

export const formerLists = ["was", "replaces"] as const;
export type FormerList = (typeof formerLists)[number];

const item = /^(\d+)_([A-Za-z0-9_-]+) ([0-9a-f]{16})$/;

/** Those that are said in a file. */
export function formerIn(text: string): { readonly [List in FormerList]?: readonly Former[] } {
  const found: { [List in FormerList]?: readonly Former[] } = {};
  for (const list of formerLists) {
    // Most files have no such words, and there may be thousands.
    const items = text.includes(`const ${list}`) ? listIn(text, list) : undefined;
    if (items !== undefined) found[list] = items;
  }
  return found;
}

function listIn(text: string, list: FormerList): readonly Former[] | undefined {
  const items = new RegExp(`^export const ${list}\\b[^=]*=\\s*\\[([^\\]]*)\\]`, "m").exec(text)?.[1];
  if (items === undefined) return undefined;
  return [...items.matchAll(/"([^"]*)"|'([^']*)'/g)].flatMap(([, one, other]) => {
    const [, version, name, checksum] = item.exec(one ?? other ?? "") ?? [];
    return checksum === undefined ? [] : [{ version: Number(version), name: name!, checksum }];
  });
}

/** How a ledger may know a migration: by its steps, and by those that ran under former names. */
export function namesNow(
  { version, name, checksum }: Former,
  ran: readonly (readonly unknown[])[] = [],
): readonly string[] {
  return [checksum, ...ran.map(checksumOf)].map((one) => formatFormer({ version, name, checksum: one }));
}

export function formatFormer({ checksum, ...name }: Former): string {
  return `${formatMigration(name)} ${shortHash(checksum)}`;
}
