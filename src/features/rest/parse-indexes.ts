/** Parses the list of a table's indexes. */
import { isObject, isText } from "../../checks/check.ts";
import type { FoundIndex } from "../../schema/table-index.ts";
import { toIndex } from "../../wire/lance/lance-index.ts";
import { jsonOf, parsedJson } from "./parse-answers.ts";
import type { HttpResponse } from "./http/message.ts";

/** By name. Undefined for what no service sends. */
export function parseIndexes(answer: HttpResponse): Readonly<Record<string, FoundIndex>> | undefined {
  const parsed = jsonOf(answer);
  const list = isObject(parsed) ? parsed["indexes"] : undefined;
  if (!Array.isArray(list) || !list.every(isIndex)) return undefined;
  const found = list.flatMap(({ index_name: name, index_type: type, columns: [path], index_details: details }) => {
    // LanceDB's services send the details as text that holds JSON; others send the object itself.
    const index = toIndex(type ?? undefined, path, isText(details) ? parsedJson(details) : details);
    return index === undefined ? [] : [[name, index] as const];
  });
  return Object.fromEntries(found);
}

interface SentIndex {
  readonly index_name: string;
  readonly index_type?: string | null;
  readonly columns: readonly string[];
  readonly index_details?: unknown;
}

function isIndex(value: unknown): value is SentIndex {
  if (!isObject(value)) return false;
  const { index_name: name, index_type: type, columns } = value;
  const isType = type === undefined || type === null || isText(type);
  return isText(name) && isType && Array.isArray(columns) && columns.every(isText);
}
