/** Reads the format of a table's files from its newest manifest. The engine's client has no call for it. */
import type { TableFormat } from "../../schema/table-format.ts";
import { fieldsIn, fromManifest, messagesIn, numberIn, textIn } from "./manifest.ts";

/** Field numbers of the messages Manifest and DataStorageFormat. */
const fields = { readerFeatureFlags: 9, dataFormat: 15, version: 2 };
const stableRowIdsFlag = 2n;

/** The format of a table of a folder; undefined if it has no manifest that can be read. */
export function tableFormat(folder: string, table: string): TableFormat | undefined {
  return fromManifest({ folder, table }, (manifest) => {
    const format = messagesIn(manifest, fields.dataFormat).at(-1);
    const version = format && textIn(format, fields.version);
    if (version === undefined) return undefined;
    const stableRowIds = (numberIn(manifest, fields.readerFeatureFlags) & stableRowIdsFlag) !== 0n;
    return { dataStorageVersion: version, stableRowIds };
  });
}

/**
 * Columns and fields whose type ends the engine's process or makes its call fail, each with that type in Lance's names.
 */
export function unreadableColumns(folder: string, table: string): readonly string[] {
  // The engine supports timestamps with zones such as Europe/Paris, and panics at zones such as +02:00.
  const all = fromManifest({ folder, table }, fieldsIn) ?? [];
  return all
    .filter(({ type }) => /^timestamp:\w+:[+-]?\d/.test(type))
    .map(({ name, type }) => `${name} is of the type ${type}`);
}
