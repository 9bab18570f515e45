/** Reads the indexes of a table in a folder from its manifest. */
import { formatPath, type Path } from "../../schema/path.ts";
import {
  fieldsIn,
  fromManifest,
  messageAt,
  messagesIn,
  numberIn,
  textIn,
  type ManifestPlace,
  type ProtobufMessage,
} from "./manifest.ts";

/** Field numbers of the messages Manifest, IndexSection, IndexMetadata and Any. */
const fields = { section: 6, index: 1, indexed: 2, indexName: 3, details: 6, typeUrl: 1 };

export interface IndexEntry {
  readonly name: string;
  readonly path: string;
  /** As Lance calls it, such as ZoneMap; undefined if an old client wrote the index. */
  readonly kind: string | undefined;
}

/** Without indexes on columns that no longer exist. Undefined if there is no such manifest or it can't be read. */
export function indexesInManifest(place: ManifestPlace): readonly IndexEntry[] | undefined {
  return fromManifest(place, indexesIn);
}

function indexesIn(manifest: ProtobufMessage, file: Buffer): readonly IndexEntry[] {
  // Not by its value: the section may be at offset 0, the beginning of the file.
  if (!manifest.has(fields.section)) return [];
  const start = Number(numberIn(manifest, fields.section));
  const paths = pathsIn(manifest);
  return messagesIn(messageAt(file, start), fields.index).flatMap((index): readonly IndexEntry[] => {
    const name = textIn(index, fields.indexName);
    // The engine's internal indexes are on no column.
    const path = paths.get(firstIndexed(index) ?? -1n);
    if (name === undefined || path === undefined) return [];
    return [{ name, path: formatPath(path), kind: kindOf(index) }];
  });
}

/** The path of each column by the engine's field id. */
function pathsIn(manifest: ProtobufMessage): ReadonlyMap<bigint, Path> {
  const paths = new Map<bigint, Path>();
  for (const { id, parent, name } of fieldsIn(manifest)) paths.set(id, [...(paths.get(parent) ?? []), name]);
  return paths;
}

/** The first indexed field's id. Packed numbers are one byte string. */
function firstIndexed(index: ProtobufMessage): bigint | undefined {
  const packed = index.get(fields.indexed)?.[0];
  if (!Buffer.isBuffer(packed)) return packed;
  let value = 0n;
  for (const [at, byte] of packed.entries()) {
    value |= BigInt(byte & 0x7f) << BigInt(7 * at);
    if (byte < 0x80) return value;
  }
  return undefined;
}

function kindOf(index: ProtobufMessage): string | undefined {
  const details = messagesIn(index, fields.details)[0];
  const url = details && textIn(details, fields.typeUrl);
  return (
    url
      ?.split(/\W/)
      .at(-1)
      ?.replace(/(?:Index)?(?:Details)?$/, "") || undefined
  );
}
