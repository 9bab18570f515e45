/** Parses answers, tolerantly where their form is not specified. Returns undefined for what no service sends. */
import { z } from "zod";
import type { Column } from "../../schema/data-type.ts";
import { parseColumns } from "../../wire/lance/parse-lance-type.ts";
import type { HttpResponse } from "./http/message.ts";

export interface Page {
  readonly names: readonly string[];
  /** The token with which to request the next page. */
  readonly next: string | undefined;
}

const entry = z.union([
  z.string(),
  z.looseObject({ name: z.string() }).transform(({ name }) => name),
  z.looseObject({ table: z.string() }).transform(({ table }) => table),
]);
const token = z.union([z.string(), z.number().transform(String)]).nullish();
const list = z.union([
  z.array(entry).transform((names): Page => ({ names, next: undefined })),
  z
    .looseObject({
      tables: z.array(entry),
      page_token: token,
      pageToken: token,
      next_page_token: token,
      nextPageToken: token,
    })
    .transform(({ tables, page_token, pageToken, next_page_token, nextPageToken }): Page => ({
      names: tables,
      next: page_token || pageToken || next_page_token || nextPageToken || undefined,
    })),
]);

export function parseList(answer: HttpResponse): Page | undefined {
  return list.safeParse(jsonOf(answer)).data;
}

interface Description {
  readonly columns: readonly Column[];
  /** The metadata of the schema, if the service reports it. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly version: number | undefined;
  /** Whether types may be incomplete: a namespace server may leave out units, zones and dictionaries. */
  readonly vague: boolean;
}

const description = z.looseObject({
  version: z.number().nullish(),
  schema: z.looseObject({ fields: z.array(z.unknown()), metadata: z.record(z.string(), z.string()).nullish() }),
});

export function parseDescription(answer: HttpResponse): Description | undefined {
  const parsed = description.safeParse(jsonOf(answer)).data;
  const columns = parseColumns(parsed?.schema.fields);
  if (parsed === undefined || columns === undefined) return undefined;
  // Only the type names of the namespace's document are vague. Lance's have units, and contain string and double.
  const vague = /"type"\s*:\s*"(utf8|large_utf8|timestamp|time32|time64|duration|date32|date64|float(16|32|64))"/i;
  return {
    columns,
    metadata: parsed.schema.metadata ?? undefined,
    version: parsed.version ?? undefined,
    vague: vague.test(answer.body.toString("utf8")),
  };
}

/** The table's version after a change. Services answer `{}`, nothing, or `{"version": n}`. */
export function parseVersion(answer: HttpResponse): { readonly version: number | undefined } | undefined {
  if (answer.body.toString("utf8").trim() === "") return { version: undefined };
  const parsed = z.looseObject({ version: z.number().nullish() }).safeParse(jsonOf(answer)).data;
  return parsed && { version: parsed.version ?? undefined };
}

/** How many rows a merge has inserted, if the service reports it. */
export function parseInserted(answer: HttpResponse): number | undefined {
  return z.looseObject({ num_inserted_rows: z.number() }).safeParse(jsonOf(answer)).data?.num_inserted_rows;
}

export function parseCount(answer: HttpResponse): number | undefined {
  const counted = z.union([z.number(), z.looseObject({ count: z.number() }).transform(({ count }) => count)]);
  return counted.safeParse(jsonOf(answer)).data;
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
