/**
 * Reads when a version of a table was created. In a folder, its manifest tells, because listing all versions reads
 * every manifest.
 */
import type { EngineTable } from "./engine.ts";
import { fromManifest, messagesIn, numberIn, type ProtobufMessage } from "./manifest/manifest.ts";
import type { DatabaseLocation } from "./location.ts";

/**
 * In milliseconds since 1970; undefined if the version or the table does not exist any more. In an object store, this
 * lists all versions.
 */
export async function versionTime(
  { folder }: Pick<DatabaseLocation, "folder">,
  table: string,
  version: number,
  open: () => Promise<EngineTable | undefined>,
): Promise<number | undefined> {
  const at = folder === undefined ? undefined : fromManifest({ folder, table, version }, timeIn);
  if (at !== undefined) return at;
  const versions = await (await open())?.listVersions();
  return versions?.find((one) => one.version === version)?.timestamp.getTime();
}

/** A handle, its version, and that version's time if it can be read without listing all versions. */
interface Opened<Handle> {
  readonly handle: Handle;
  readonly version: number;
  readonly at: number | undefined;
}

/** If others commit without pause, the time stays undefined after this many tries. */
const mostTries = 3;

/**
 * Opens a table; undefined if there is none. The handle is opened after the time was read: if the table is dropped and
 * recreated in between, the time is that of the old table.
 */
export async function openWithTime<Handle extends Pick<EngineTable, "version">>(
  { folder }: Pick<DatabaseLocation, "folder">,
  table: string,
  open: () => Promise<Handle | undefined>,
): Promise<Opened<Handle> | undefined> {
  let handle = await open();
  for (let tries = 0; handle !== undefined; tries++) {
    const version = await handle.version();
    const isTried = folder !== undefined && tries < mostTries;
    const at = isTried ? fromManifest({ folder, table, version }, timeIn) : undefined;
    if (at === undefined) return { handle, version, at };
    handle = await open();
    if (handle !== undefined && (await handle.version()) === version) return { handle, version, at };
  }
  return undefined;
}

/** Field numbers of the messages Manifest and Timestamp. */
const fields = { timestamp: 7, seconds: 1, nanoseconds: 2 };

function timeIn(manifest: ProtobufMessage): number | undefined {
  const [time] = messagesIn(manifest, fields.timestamp);
  if (time === undefined) return undefined;
  return Number(numberIn(time, fields.seconds)) * 1000 + Math.floor(Number(numberIn(time, fields.nanoseconds)) / 1e6);
}
