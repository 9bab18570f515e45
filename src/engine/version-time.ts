/** When a version of a table was made: from its manifest where that is a file, as listing all versions reads every manifest. */
import type { EngineTable } from "./engine.ts";
import { fromManifest, numberIn, readFields, type Message } from "./manifest/manifest.ts";
import type { DatabaseLocation } from "./location.ts";

/** Undefined where there is no such version, or no such table, any more. In an object store this lists all versions. */
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

/** A handle, and the time of its version where that can be read without listing all versions. */
export interface Opened {
  readonly handle: EngineTable;
  readonly version: number;
  readonly at: number | undefined;
}

/** Writers that commit without pause leave the time undefined. */
const mostTries = 3;

/**
 * The handle is opened after the time was read: should the table be dropped and recreated in between, the time is that of
 * the old one.
 */
export async function openWithTime(
  { folder }: Pick<DatabaseLocation, "folder">,
  table: string,
  open: () => Promise<EngineTable | undefined>,
): Promise<Opened | undefined> {
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

/** Numbers of fields in the messages Manifest and Timestamp of Lance's protobuf files. */
const fields = { timestamp: 7, seconds: 1, nanoseconds: 2 };

function timeIn(manifest: Message): number | undefined {
  const [time] = manifest.get(fields.timestamp) ?? [];
  if (!Buffer.isBuffer(time)) return undefined;
  const parts = readFields(time);
  return Number(numberIn(parts, fields.seconds)) * 1000 + Math.floor(Number(numberIn(parts, fields.nanoseconds)) / 1e6);
}
