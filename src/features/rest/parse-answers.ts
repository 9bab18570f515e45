/** Parses answers, tolerantly where their form is not specified. Returns undefined for what no service sends. */
import { withoutMark } from "../../checks/byte-order-mark.ts";
import { isNumber, isObject, isText } from "../../checks/check.ts";
import type { Column } from "../../schema/data-type.ts";
import { withExtensions } from "../../schema/reserved-metadata.ts";
import { parseColumns } from "../../wire/lance/parse-lance-type.ts";
import type { VersionContents } from "../../targets/contract/versioned-table.ts";
import { contentsIn } from "../shared/version-properties.ts";
import type { HttpResponse } from "./http/message.ts";

export interface Page {
  readonly names: readonly string[];
  /** The token with which to request the next page. */
  readonly next: string | undefined;
  /** Or the address of the next page. */
  readonly link: string | undefined;
  /** A field that shows that the list continues, if it is unknown how to request the rest. */
  readonly more?: string | undefined;
  /** How many tables there are in all, if the service tells. */
  readonly total?: number | undefined;
}

export function parseList(answer: HttpResponse): Page | undefined {
  const list = jsonOf(answer);
  const link = nextLink(answer.headers["link"]);
  if (Array.isArray(list)) return pageOf(list, [], link);
  if (!isObject(list) || !Array.isArray(list["tables"])) return undefined;
  const { page_token, pageToken, next_page_token, nextPageToken } = list;
  const page = pageOf(list["tables"], [page_token, pageToken, next_page_token, nextPageToken], link);
  const more = page?.next === undefined && page?.link === undefined ? moreIn(list) : undefined;
  return page && { ...page, more, total: totals.map((key) => list[key]).find(isNumber) };
}

/** The address behind `rel="next"` in a Link header. */
function nextLink(header: string | readonly string[] | undefined): string | undefined {
  const links = [header ?? []].flat().flatMap((one) => one.split(/, ?(?=<)/));
  return links.find((one) => /\brel="?next\b/i.test(one))?.match(/<([^<>]*)>/)?.[1];
}

const totals = ["total", "count", "total_count", "totalCount", "total_tables", "totalTables"];
/** Fields that show that a list continues. They are no page tokens, so it is unknown how to request the rest. */
const signs =
  /^(has_?more|(is_?)?truncated|next|next_?(cursor|token|page|link|url|marker)|cursor|continuation(_?token)?)$/i;

/** The field that shows that the list has more, as text. */
function moreIn(list: Readonly<Record<string, unknown>>): string | undefined {
  const isSaid = (value: unknown) => value !== undefined && value !== null && value !== false && value !== "";
  const found = Object.entries(list).find(([key, value]) => signs.test(key) && isSaid(value));
  return found && `${found[0]}: ${JSON.stringify(found[1])}`;
}

/** `tokens`: the token by each name that services give to it. */
function pageOf(entries: readonly unknown[], tokens: readonly unknown[], link: string | undefined): Page | undefined {
  const names = entries.map(nameIn);
  if (!names.every(isText)) return undefined;
  if (!tokens.every((token) => (token ?? undefined) === undefined || isText(token) || isNumber(token)))
    return undefined;
  const token = tokens.map((one) => (isNumber(one) ? String(one) : one)).find(Boolean);
  return { names, next: token as string | undefined, link };
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
  /** What that version holds, if the service states it. */
  readonly contents: VersionContents | undefined;
  /** Whether types may be incomplete: a namespace server may leave out units, zones and dictionaries. */
  readonly vague: boolean;
}

export function parseDescription(answer: HttpResponse): Description | undefined {
  const parsed = jsonOf(answer);
  const schema = isObject(parsed) ? parsed["schema"] : undefined;
  if (!isObject(parsed) || !isObject(schema)) return undefined;
  const columns = parseColumns(schema["fields"])?.map(withExtensions);
  const version = parsed["version"] ?? undefined;
  const metadata = schema["metadata"] ?? undefined;
  if (columns === undefined || !(version === undefined || isNumber(version))) return undefined;
  if (!(metadata === undefined || isTexts(metadata))) return undefined;
  // Only the type names of the namespace's document are vague. Lance's have units, and contain string and double.
  const vague = /"type"\s*:\s*"(utf8|large_utf8|timestamp|time32|time64|duration|date32|date64|float(16|32|64))"/i;
  return {
    columns,
    metadata,
    version,
    contents: contentsIn(parsed["properties"]),
    vague: vague.test(answer.body.toString("utf8")),
  };
}

/** The table's version after a change. Services answer `{}`, nothing, or `{"version": n}`. */
export function parseVersion(answer: HttpResponse): { readonly version: number | undefined } | undefined {
  if (answer.body.toString("utf8").trim() === "") return { version: undefined };
  const parsed = jsonOf(answer);
  if (!isObject(parsed)) return undefined;
  const version = parsed["version"] ?? undefined;
  return version === undefined || isNumber(version) ? { version } : undefined;
}

/** The answer as text if it reports a failure in spite of its status. */
export function failureIn(answer: HttpResponse): string | undefined {
  const parsed = jsonOf(answer);
  if (!isObject(parsed)) return undefined;
  const { status, success, ok, error, errors } = parsed;
  const isFailure =
    success === false ||
    ok === false ||
    (isText(status) && /^(error|fail|failed|failure)$/i.test(status)) ||
    (isNumber(status) && status >= 400) ||
    ![undefined, null, false, ""].includes(error as never) ||
    (Array.isArray(errors) && errors.length > 0);
  return isFailure ? answer.body.toString("utf8") : undefined;
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
  return parsedJson(withoutMark(body.toString("utf8")));
}

/** Undefined if it is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
