/**
 * Reads the manifests of a table in a folder. A manifest describes one version. It is a protobuf message whose offset
 * is in the last 16 bytes of the file. The engine's client has no call for what is read here. The numbers of fields are those
 * of Lance's protobuf files (table.proto and file.proto).
 */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";

export interface ManifestPlace {
  readonly folder: string;
  readonly table: string;
  /** The newest version if absent. */
  readonly version?: number | undefined;
}

/** Undefined if there is no such manifest or it can't be read. */
export function fromManifest<Value>(
  { folder, table, version }: ManifestPlace,
  read: (manifest: ProtobufMessage, file: Buffer) => Value,
): Value | undefined {
  try {
    const versions = join(folder, versionsOf(table));
    const path = version === undefined ? newestIn(versions) : pathIn(versions, version);
    const file = path === undefined ? undefined : readFileSync(path);
    if (file === undefined || file.toString("latin1", file.length - 4) !== "LANC") return undefined;
    return read(messageAt(file, Number(file.readBigUInt64LE(file.length - 16))), file);
  } catch {
    return undefined; // the table is gone, or something else wrote it
  }
}

/** The message at an offset of the file, where its length precedes it. */
export function messageAt(file: Buffer, start: number): ProtobufMessage {
  return readFields(file.subarray(start + 4, start + 4 + file.readUInt32LE(start)));
}

const last = 2n ** 64n - 1n;

/** The path of a version's manifest in the folder of the database; undefined if there is none. */
export function manifestPath({ folder, table, version }: Required<ManifestPlace>): string | undefined {
  const path = version === undefined ? undefined : pathIn(join(folder, versionsOf(table)), version);
  return path && join(versionsOf(table), basename(path));
}

/** The path of the manifest of a table's newest version; undefined if it has none. */
export function newestManifest({ folder, table }: Omit<ManifestPlace, "version">): string | undefined {
  try {
    return newestIn(join(folder, versionsOf(table)));
  } catch {
    return undefined; // the folder is no table, or is gone
  }
}

const versionsOf = (table: string) => join(`${table}.lance`, "_versions");

/** File names count up, or down from 2^64 - 1 if they have 20 digits, so that the newest is listed first. */
function pathIn(versions: string, version: number): string | undefined {
  // The folder is not listed, because it may hold thousands of manifests.
  const names = [String(last - BigInt(version)).padStart(20, "0"), String(version)];
  return names.map((name) => join(versions, `${name}.manifest`)).find((path) => existsSync(path));
}

function newestIn(versions: string): string | undefined {
  const numbers = readdirSync(versions).flatMap((name) => {
    const digits = /^(\d+)\.manifest$/.exec(name)?.[1];
    if (digits === undefined) return [];
    return Number(digits.length === 20 ? last - BigInt(digits) : digits);
  });
  return numbers.length === 0 ? undefined : pathIn(versions, Math.max(...numbers));
}

/** The values of a protobuf message by field number. */
export type ProtobufMessage = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

export function messagesIn(message: ProtobufMessage, field: number): readonly ProtobufMessage[] {
  return (message.get(field) ?? []).filter((one) => Buffer.isBuffer(one)).map(readFields);
}

export function textIn(message: ProtobufMessage, field: number): string | undefined {
  const value = message.get(field)?.at(-1);
  return Buffer.isBuffer(value) ? value.toString("utf8") : undefined;
}

/** The number may be negative. Protobuf leaves out a number that is 0. */
export function numberIn(message: ProtobufMessage, field: number): bigint {
  const value = message.get(field)?.at(-1);
  return typeof value === "bigint" ? BigInt.asIntN(64, value) : 0n;
}

/** A column, a field of a struct, or the items of a list. */
interface ManifestField {
  readonly id: bigint;
  /** The id of the field around it; -1 for a column. */
  readonly parent: bigint;
  readonly name: string;
  /** In Lance's names. */
  readonly type: string;
}

/** All fields of a manifest's schema. Parents come before their children. */
export function fieldsIn(manifest: ProtobufMessage): readonly ManifestField[] {
  return messagesIn(manifest, 1).map((field) => ({
    id: numberIn(field, 3),
    parent: numberIn(field, 4),
    name: textIn(field, 2) ?? "",
    type: textIn(field, 5) ?? "",
  }));
}

function readFields(message: Buffer): ProtobufMessage {
  const found = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => message.subarray(at, (at += length));
  const note = (field: number, value: bigint | Buffer) => {
    const others = found.get(field);
    if (others === undefined) found.set(field, [value]);
    else others.push(value); // not a copy: there may be thousands of fragments
  };
  while (at < message.length) {
    const tag = Number(varint());
    const kind = tag & 7;
    if (kind === 0) note(tag >> 3, varint());
    else if (kind === 2) note(tag >> 3, bytes(Number(varint())));
    else if (kind === 1 || kind === 5) bytes(kind === 1 ? 8 : 4);
    else throw new Error(`a field of kind ${kind}`);
  }
  return found;
}
