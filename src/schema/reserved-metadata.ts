/**
 * Keys of a column's metadata that determine how the engine reads and writes the column. If the column has files
 * already, another value makes the table unreadable or every later write fail (measured:
 * test/contract/reserved-metadata.test.ts). Pure.
 */

import { ownValue, type Column } from "./data-type.ts";

/**
 * Why a key can't be set to a value, or removed (null); undefined if it can. `was`: the value before, if it is known.
 */
export function reservedProblem(key: string, value: string | null, was?: string | null): string | undefined {
  if (/^(computed_column|computed_refresh)(\.|$)/.test(key) || key === "lance:field_id")
    return `the metadata key ${key} belongs to the engine, which sets it itself`;
  if (layoutKeys.has(key) || (key === extension && [value, was].some(isEnginesExtension)))
    return `the engine reads a column's files by the metadata key ${key}, and could not read the existing ones any more`;
  if (key === structure && value !== null && !/^(miniblock|fullzip)$/i.test(value))
    return `the metadata key ${key} takes "miniblock" or "fullzip", and with another value the engine writes no more rows`;
  return undefined;
}

const layoutKeys = new Set(["lance-encoding:blob", "lance-encoding:packed", "packed"]);
const structure = "lance-encoding:structural-encoding";
const extension = "ARROW:extension:name";

/** What `specialStorage` gives for blobs. */
export const blob = "a blob";

/** How the engine stores a column otherwise than its type, in words, by the column's metadata; undefined if it does not. */
export function specialStorage(metadata: Column["metadata"] = {}): string | undefined {
  const name = ownValue(metadata, extension);
  if (ownValue(metadata, "lance-encoding:blob") === "true" || name?.startsWith("lance.blob") === true) return blob;
  if (!isEnginesExtension(name)) return undefined;
  return name!.endsWith(".json") ? "JSON" : name!;
}

function isEnginesExtension(name: string | null | undefined): boolean {
  return name === "arrow.json" || name?.startsWith("lance.") === true;
}
