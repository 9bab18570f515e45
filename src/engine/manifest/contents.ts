/** What a version of a table in a folder contains, read from its manifest without reading a row. */
import { createHash } from "node:crypto";
import { fromManifest, numberIn, readFields, textIn, type ManifestPlace, type Message } from "./manifest.ts";

/** Field numbers of the messages Manifest and Field in Lance's protobuf files. */
const fields = { field: 1, fragment: 2, name: 2, id: 3, parent: 4 };

export interface ManifestContents {
  /**
   * The engine's field ids of each top-level column and of everything inside it, by the column's name. A new column
   * gets ids that no column had before.
   */
  readonly ids: ReadonlyMap<string, string>;
  /** A hash of which files hold which rows. */
  readonly files: string;
}

/** Undefined if that version has no manifest that can be read. */
export function contentsOf(place: ManifestPlace): ManifestContents | undefined {
  return fromManifest(place, (manifest) => ({ ids: idsIn(manifest), files: filesIn(manifest) }));
}

function idsIn(manifest: Message): ReadonlyMap<string, string> {
  // Parents come before their children. The parent of a top-level column is -1.
  const tops = new Map<bigint, string>();
  const ids = new Map<string, string>();
  for (const part of manifest.get(fields.field) ?? []) {
    const field = readFields(part as Buffer);
    const [id, parent] = [numberIn(field, fields.id), numberIn(field, fields.parent)];
    const top = tops.get(parent) ?? textIn(field, fields.name) ?? "";
    tops.set(id, top);
    ids.set(top, `${ids.get(top) ?? ""} ${id}`);
  }
  return ids;
}

function filesIn(manifest: Message): string {
  const hash = createHash("sha256");
  for (const fragment of manifest.get(fields.fragment) ?? []) hash.update(fragment as Buffer);
  return hash.digest("hex");
}
