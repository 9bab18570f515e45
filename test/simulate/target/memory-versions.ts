/** Old versions of tables in memory: what is kept, cleaned up, restored. */
import type { Since } from "../../../src/targets/contract/versions.ts";
import type { MemoryTable, MemoryVersions } from "./memory-table.ts";

/** In the error of a call that needs such a version. */
export const releasedByRun = "a run has released it";
export const unknownRows = "it is unknown what was written before the version was restored";

export function memoryVersions(
  existing: (name: string) => MemoryTable,
  put: (name: string, table: MemoryTable) => void,
): MemoryVersions {
  /** By table, not by name: what was kept of one goes with it. */
  const marks = new Map<number, Map<string, number>>();
  const oldest = new Map<number, number>();
  /** By table: versions that a run has released. */
  const released = new Map<number, Set<number>>();
  const marksOf = (name: string) => {
    const { born } = existing(name);
    if (!marks.has(born)) marks.set(born, new Map());
    return marks.get(born)!;
  };
  const list = (name: string): readonly MemoryTable[] => {
    const newest = existing(name);
    const kept = new Set(marksOf(name).values());
    const least = oldest.get(newest.born) ?? 0;
    const found: MemoryTable[] = [];
    for (let one: MemoryTable | undefined = newest; one !== undefined; one = one.previous)
      if (one.version >= least || kept.has(one.version)) found.push(one);
    return found.toReversed();
  };
  const at = (name: string, version: number): MemoryTable => {
    const found = list(name).find((one) => one.version === version);
    if (found === undefined) throw gone(name, version);
    return found;
  };
  const gone = (name: string, version: number) => {
    const isReleased = released.get(existing(name).born)?.has(version) === true;
    return new Error(
      `version ${version} is gone: ${isReleased ? `${releasedByRun}, and ` : ""}old versions were cleaned up`,
    );
  };
  const restoredAs = (name: string, version: number, after: number) => {
    at(name, version);
    return list(name).find((one) => one.restored === version && one.version > after);
  };
  const since = (name: string, version: number, until?: number): Since => {
    const before = new Set(at(name, version).rows);
    const { rows } = until === undefined ? existing(name) : at(name, until);
    const stayed = rows.filter((row) => before.has(row)).length;
    return { added: rows.length - stayed, changed: 0, removed: before.size - stayed };
  };
  const putBefore = (name: string, before: MemoryTable) => {
    const now = existing(name);
    put(name, { ...before, version: now.version + 1, commit: "restore", previous: now, restored: before.version });
  };
  return {
    list,
    at,
    since,
    restoredAs: (name, version, after) => restoredAs(name, version, after)?.version,
    keep(name, version, as) {
      at(name, version);
      marksOf(name).set(as, version);
    },
    release(name, as) {
      const { born } = existing(name);
      const version = marksOf(name).get(as);
      if (version !== undefined) released.set(born, (released.get(born) ?? new Set()).add(version));
      marksOf(name).delete(as);
    },
    kept: (name) => [...marksOf(name)].map(([as, version]) => ({ name: as, version })),
    cleanUp: (name) => void oldest.set(existing(name).born, existing(name).version),
    restore({ table, version, after }) {
      if (restoredAs(table, version, after) === undefined) putBefore(table, at(table, version));
    },
    undoNewest(name) {
      const before = list(name).at(-2);
      if (before !== undefined) putBefore(name, before);
      return before?.version;
    },
    putBack({ table, version, after, since: left = version, writes, columns, mayBeDone }, write) {
      const source = restoredAs(table, version, after)?.previous;
      if (source === undefined) throw new Error(`${unknownRows}: the version that was made of it was cleaned up`);
      if (source.version <= left) return;
      // Where the version that the migration left was cleaned up, the restored one is there (restore-versions.ts).
      const isThere = list(table).some((one) => one.version === left);
      if (!isThere && writes === true) throw new Error(`${unknownRows}: ${gone(table, left).message}`);
      const end = isThere ? left : version;
      const { added, removed } = since(table, end, at(table, source.version).version);
      if (removed > 0) throw new Error("rows were changed or removed before the version was restored");
      if (added === 0) return;
      if (columns === undefined) throw new Error("rows that were added can't be reinserted");
      const [before, there] = [new Set(at(table, end).rows), existing(table).rows];
      // They are looked for only where they may have been reinserted before.
      const rows = source.rows.filter((row) => !before.has(row) && !(mayBeDone === true && there.includes(row)));
      if (rows.length > 0) write([...there, ...rows]);
    },
  };
}
