/** Reads the format of a table's files from its newest manifest. The engine's client has no call for it. */
import type { TableFormat } from "../../schema/table-format.ts";
import { fromManifest, readFields, textIn, type Message } from "./manifest.ts";

/** Field numbers of the messages Manifest, DataStorageFormat and Field in Lance's protobuf files. */
const fields = { readerFeatureFlags: 9, dataFormat: 15, version: 2, field: 1, name: 2, logicalType: 5 };
const stableRowIdsFlag = 2;

/** The format of a table of a folder; undefined if it has no manifest that can be read. */
export function tableFormat(folder: string, table: string): TableFormat | undefined {
  return fromManifest({ folder, table }, formatIn);
}

/**
 * Columns and fields whose type ends the engine's process or makes its call fail, each with that type in Lance's names.
 */
export function unreadableColumns(folder: string, table: string): readonly string[] {
  return fromManifest({ folder, table }, unreadableIn) ?? [];
}

function formatIn(manifest: Message): TableFormat | undefined {
  const format = manifest.get(fields.dataFormat)?.at(-1);
  const version = Buffer.isBuffer(format) ? textIn(readFields(format), fields.version) : undefined;
  if (version === undefined) return undefined;
  const flags = manifest.get(fields.readerFeatureFlags)?.at(-1);
  const stableRowIds = typeof flags === "bigint" && (flags & BigInt(stableRowIdsFlag)) !== 0n;
  return { dataStorageVersion: version, stableRowIds };
}

/** The engine supports timestamps with zones such as Europe/Paris, and panics at zones such as +02:00. */
function unreadableIn(manifest: Message): readonly string[] {
  const all = (manifest.get(fields.field) ?? []).filter((one) => Buffer.isBuffer(one)).map(readFields);
  return all.flatMap((one) => {
    const type = textIn(one, fields.logicalType) ?? "";
    return /^timestamp:\w+:[+-]?\d/.test(type) ? [`${textIn(one, fields.name)} is of the type ${type}`] : [];
  });
}
