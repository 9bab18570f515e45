/** Old versions of tables of the embedded engine. */
import type { Column } from "../schema/data-type.ts";
import type { Table } from "../schema/table.ts";
import { writeReadably } from "./checked-writes.ts";
import { contentsOf } from "./manifest/contents.ts";
import type { ManifestPlace } from "./manifest/manifest.ts";
import { readColumns, readSchema, type EngineTable } from "./engine.ts";
import { isTaken, isUnreadable } from "./problem/engine-problem.ts";
import { StoreConflict } from "./problem/store-problem.ts";
import { readIndexes } from "./read-indexes.ts";
import { addRows } from "./write-rows.ts";
import { countUpTo, eachFile, search, type Search } from "./query.ts";

/** Opens a new handle, which may be checked out at another version. */
export type OpenTable = () => Promise<EngineTable>;

/** The prefixes of the branches that this tool creates. The second one is for names that can't be used under the first. */
const prefixes = ["lance-migrate/", "lance-migrate/again/"] as const;

/**
 * Keeps a version by creating a branch on it. The versions around it can still be cleaned up. With a tag instead,
 * `optimize` would fail as soon as it came to remove that version. The engine writes the files of a branch before its name,
 * and deletes them after it. If a process is killed in between, or the answer to a write is lost, creating a branch of that
 * name fails from then on. So a name must not be used for anything else.
 */
export async function keepVersion(open: OpenTable, version: number, name: string): Promise<void> {
  const branches = await (await open()).branches();
  for (const prefix of prefixes)
    try {
      await branches.create(prefix + name, "main", version);
      return;
    } catch (error) {
      if (!isTaken(error)) throw error;
      const { [prefix + name]: own } = await branches.list();
      if (own?.parentVersion === version) return;
    }
  throw new StoreConflict(`the branch ${name}`);
}

export async function releaseVersion(open: OpenTable, name: string): Promise<void> {
  const branches = await (await open()).branches();
  const there = await branches.list();
  for (const prefix of prefixes) if (Object.hasOwn(there, prefix + name)) await branches.delete(prefix + name);
}

export async function keptVersions(open: OpenTable) {
  const branches = await (await (await open()).branches()).list();
  return Object.entries(branches).flatMap(([branch, { parentVersion }]) => {
    const prefix = prefixes.findLast((one) => branch.startsWith(one));
    return prefix === undefined ? [] : [{ name: branch.slice(prefix.length), version: parentVersion }];
  });
}

/** `before` is the newest version that can be read, `newest` the newest of all. */
export async function newestReadable(open: OpenTable): Promise<{ newest: number; before: number | undefined }> {
  const table = await open();
  const versions = (await table.listVersions()).map(({ version }) => version).toSorted((one, other) => other - one);
  for (const version of versions) {
    await table.checkout(version);
    const isReadable = await table.countRows().then(
      () => true,
      () => false,
    );
    if (isReadable) return { newest: versions[0]!, before: version };
  }
  return { newest: versions[0]!, before: undefined };
}

/**
 * Old versions of one table, as a VersionedTable (targets/contract/versioned-table.ts). `place` is where the table is,
 * if it is in a folder.
 */
export function versionsOf(open: OpenTable, place?: Omit<ManifestPlace, "version">) {
  const at = async (version: number): Promise<EngineTable> => {
    const table = await open();
    await table.checkout(version);
    return table;
  };
  return {
    mostCompared: 1_000_000,
    contents: place && (async (version: number) => contentsOf({ ...place, version })),
    version: async (): Promise<number> => await (await open()).version(),
    list: async () =>
      (await (await open()).listVersions())
        .map(({ version, metadata, timestamp }) => ({ version, metadata, at: timestamp.getTime() }))
        .toSorted((one, other) => one.version - other.version),
    async table(version: number): Promise<Table> {
      const then = await at(version);
      const schema = await readSchema(then);
      try {
        return { ...schema, indexes: await readIndexes(then, place?.folder) };
      } catch (error) {
        if (isUnreadable(error)) return schema;
        throw error;
      }
    },
    columns: async (version: number): Promise<readonly Column[]> => await readColumns(await at(version)),
    async count(version: number | undefined, filter?: string, most?: number): Promise<number> {
      const then = version === undefined ? await open() : await at(version);
      return most === undefined ? await then.countRows(filter) : await countUpTo(most, then, filter);
    },
    async *batches(version: number, columns: Search["columns"], filter?: string): AsyncGenerator<Buffer> {
      yield* eachFile(await search(await at(version), { columns, filter }));
    },
    async rows(version: number, filter: string, columns?: readonly (readonly [string, string])[]): Promise<Buffer> {
      const { joinFiles } = await import("../wire/arrow/ipc-file.ts"); // Arrow is slow to load
      const found = await search(await at(version), { filter, columns });
      const chunks: Buffer[] = [];
      for await (const chunk of joinFiles(found.first, found.others).chunks) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
    async restore(version: number): Promise<void> {
      await (await at(version)).restore();
    },
    async append(file: Buffer): Promise<void> {
      const table = await open();
      const append = async () => ({ version: await addRows(table, file, "append") });
      await writeReadably(table, await readColumns(table), append);
    },
  };
}
