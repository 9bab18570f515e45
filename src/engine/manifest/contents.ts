/** What a version of a table in a folder contains, read from its manifest without reading a row. */
import { createHash } from "node:crypto";
import {
  fieldsIn,
  fromManifest,
  messagesIn,
  numberIn,
  textIn,
  type ManifestPlace,
  type ProtobufMessage,
} from "./manifest.ts";

/** The number of the manifest's fragments. */
const fragment = 2;
/** The numbers in a fragment, and in one of its files. */
const [files, physicalRows] = [2, 4];
const pathOfFile = 1;

/** Undefined if that version has no manifest that can be read. */
export function contentsOf(place: ManifestPlace) {
  return fromManifest(place, (manifest) => ({ ids: idsIn(manifest), files: filesIn(manifest) }));
}

/**
 * The engine's field ids of each top-level column and of everything inside it, by the column's name. A new column gets
 * ids that no column had before.
 */
function idsIn(manifest: ProtobufMessage): ReadonlyMap<string, string> {
  const columns = new Map<bigint, string>();
  const ids = new Map<string, string>();
  for (const { id, parent, name } of fieldsIn(manifest)) {
    const column = columns.get(parent) ?? name;
    columns.set(id, column);
    ids.set(column, `${ids.get(column) ?? ""} ${id}`);
  }
  return ids;
}

/** How many rows the files of a table's newest version hold, those included that were deleted; undefined if unknown. */
export function storedRows(place: ManifestPlace): number | undefined {
  return fromManifest(place, (manifest) => {
    const rows = messagesIn(manifest, fragment).map((one) => Number(numberIn(one, physicalRows)));
    // Old releases of the engine did not write the number.
    return rows.includes(0) ? undefined : rows.reduce((sum, one) => sum + one, 0);
  });
}

/** The names of the data files of a table's newest version; undefined if its manifest can't be read. */
export function dataFilesOf(place: ManifestPlace): readonly string[] | undefined {
  return fromManifest(place, (manifest) =>
    messagesIn(manifest, fragment).flatMap((one) =>
      messagesIn(one, files).flatMap((file) => textIn(file, pathOfFile) ?? []),
    ),
  );
}

/** A hash of which files hold which rows. */
function filesIn(manifest: ProtobufMessage): string {
  const hash = createHash("sha256");
  for (const one of manifest.get(fragment) ?? []) hash.update(one as Buffer);
  return hash.digest("hex");
}
