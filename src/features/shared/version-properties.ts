/** What a version of a table holds, in the properties of its description by `migrate serve`. */
import { isObject, isText } from "../../checks/check.ts";
import type { VersionContents } from "../../targets/contract/versioned-table.ts";

const names = { files: "lance-migrate:files", ids: "lance-migrate:ids" } as const;

export function propertiesOf({ files, ids }: VersionContents): Readonly<Record<string, string>> {
  return { [names.files]: files, [names.ids]: JSON.stringify([...ids]) };
}

/** Undefined if a service does not state it. */
export function contentsIn(properties: unknown): VersionContents | undefined {
  if (!isObject(properties)) return undefined;
  const { [names.files]: files, [names.ids]: text } = properties;
  if (!isText(files) || !isText(text)) return undefined;
  const ids = pairsIn(text);
  return ids && { files, ids: new Map(ids) };
}

function pairsIn(text: string): readonly (readonly [string, string])[] | undefined {
  try {
    const pairs: unknown = JSON.parse(text);
    const isPair = (one: unknown) => Array.isArray(one) && one.length === 2 && one.every(isText);
    return Array.isArray(pairs) && pairs.every(isPair) ? (pairs as (readonly [string, string])[]) : undefined;
  } catch {
    return undefined;
  }
}
