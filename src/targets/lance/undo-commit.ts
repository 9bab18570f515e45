/** Undoes a commit that the engine made on another table than the one that its handle had opened. */
import { readIpcSchema, type EngineTable } from "../../engine/engine.ts";
import type { OpenTable } from "../../engine/versions.ts";
import type { UndoResult } from "../contract/target.ts";

/** `handle`: the one that made the commit. Undefined if the commit may be another writer's. */
export async function undoCommit(handle: EngineTable, made: number, open: OpenTable): Promise<UndoResult | undefined> {
  const table = await open();
  const versions = (await table.listVersions()).map(({ version }) => version).toSorted((one, other) => one - other);
  const before = versions.findLast((version) => version < made);
  const newer = versions.filter((version) => version > made);
  if (!versions.includes(made) || !(await showsTheSame(handle, table, made))) return undefined;
  if (before === undefined || newer.length > 0) return { before, newer };
  await table.checkout(before);
  await table.restore();
  const restored = await (await open()).version();
  if (restored !== made + 1)
    throw new Error(`version ${before} was restored after others had committed: compare version ${restored - 1}`);
  return { restored: before };
}

/**
 * Whether the handle and the current table agree on what the version holds. They do not if the call committed to the
 * old table and the current one has a version of the same number: the files of the old table are gone.
 */
async function showsTheSame(handle: EngineTable, table: EngineTable, version: number): Promise<boolean> {
  await table.checkout(version);
  const [one, other] = await Promise.all([handle, table].map(contentOf));
  return one!.version === version && JSON.stringify(one) === JSON.stringify(other);
}

async function contentOf(table: EngineTable) {
  const [version, rows, schema] = [await table.version(), await table.countRows(), await readIpcSchema(table)];
  const isReadable = await table
    .query()
    .limit(1)
    .toArray()
    .then(
      () => true,
      () => false,
    );
  return { version, rows, schema: schema.toString("base64"), isReadable };
}
