/** Parses answers, tolerantly where their form is not specified. Returns undefined for what no service sends. */
import { isNumber, isObject, isText } from "../../checks/check.ts";
import type { Column } from "../../schema/data-type.ts";
import { parseColumns } from "../../wire/lance/parse-lance-type.ts";
import type { HttpResponse } from "./http/message.ts";

export interface Page {
  readonly names: readonly string[];
  /** The token with which to request the next page. */
  readonly next: string | undefined;
}

export function parseList(answer: HttpResponse): Page | undefined {
  const list = jsonOf(answer);
  if (Array.isArray(list)) return pageOf(list, []);
  if (!isObject(list) || !Array.isArray(list["tables"])) return undefined;
  const { page_token, pageToken, next_page_token, nextPageToken } = list;
  return pageOf(list["tables"], [page_token, pageToken, next_page_token, nextPageToken]);
}

/** `tokens`: the token by each name that services give to it. */
function pageOf(entries: readonly unknown[], tokens: readonly unknown[]): Page | undefined {
  const names = entries.map(nameIn);
  if (!names.every(isText)) return undefined;
  if (!tokens.every((token) => (token ?? undefined) === undefined || isText(token) || isNumber(token)))
    return undefined;
  const token = tokens.map((one) => (isNumber(one) ? String(one) : one)).find(Boolean);
  return { names, next: token as string | undefined };
}

/** The name of a table, by itself or in an object. */
function nameIn(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  return isText(entry["name"]) ? entry["name"] : entry["table"];
}

interface Description {
  readonly columns: readonly Column[];
  /** The metadata of the schema, if the service reports it. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly version: number | undefined;
  /** Whether types may be incomplete: a namespace server may leave out units, zones and dictionaries. */
  readonly vague: boolean;
}

export function parseDescription(answer: HttpResponse): Description | undefined {
  const parsed = jsonOf(answer);
  const schema = isObject(parsed) ? parsed["schema"] : undefined;
  if (!isObject(parsed) || !isObject(schema)) return undefined;
  const columns = parseColumns(schema["fields"]);
  const version = parsed["version"] ?? undefined;
  const metadata = schema["metadata"] ?? undefined;
  if (columns === undefined || !(version === undefined || isNumber(version))) return undefined;
  if (!(metadata === undefined || isTexts(metadata))) return undefined;
  // Only the type names of the namespace's document are vague. Lance's have units, and contain string and double.
  const vague = /"type"\s*:\s*"(utf8|large_utf8|timestamp|time32|time64|duration|date32|date64|float(16|32|64))"/i;
  return { columns, metadata, version, vague: vague.test(answer.body.toString("utf8")) };
}

/** The table's version after a change. Services answer `{}`, nothing, or `{"version": n}`. */
export function parseVersion(answer: HttpResponse): { readonly version: number | undefined } | undefined {
  if (answer.body.toString("utf8").trim() === "") return { version: undefined };
  const parsed = jsonOf(answer);
  if (!isObject(parsed)) return undefined;
  const version = parsed["version"] ?? undefined;
  return version === undefined || isNumber(version) ? { version } : undefined;
}

/** How many rows a merge has inserted, if the service reports it. */
export function parseInserted(answer: HttpResponse): number | undefined {
  return numberIn(jsonOf(answer), "num_inserted_rows");
}

/** How many rows a merge has updated, if the service reports it. */
export function parseUpdated(answer: HttpResponse): number | undefined {
  return numberIn(jsonOf(answer), "num_updated_rows");
}

export function parseCount(answer: HttpResponse): number | undefined {
  const parsed = jsonOf(answer);
  return isNumber(parsed) ? parsed : numberIn(parsed, "count");
}

function numberIn(answer: unknown, key: string): number | undefined {
  const value = isObject(answer) ? answer[key] : undefined;
  return isNumber(value) ? value : undefined;
}

/** Whether a value is an object of texts. */
export function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && Object.values(value).every(isText);
}

export function jsonOf({ body }: HttpResponse): unknown {
  return parsedJson(body.toString("utf8").replace(/^\uFEFF/, ""));
}

/** Undefined if it is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
