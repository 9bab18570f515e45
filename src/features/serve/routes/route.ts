/** The interface of a route. To add one, add an entry to the list of its file; nothing else refers to single routes. */
import { z } from "zod";
import type { EngineTable } from "../../../engine/engine.ts";
import { hasSecondStatement, longestChain } from "./sql-limits.ts";
import type { ServedTables } from "../tables/open-tables.ts";
import type { TableLock } from "../tables/table-locks.ts";
import { toCheckedFile, type IpcAnswer, type IpcFile } from "../../../wire/arrow/ipc-file.ts";
import { refuse } from "../tables/error-answer.ts";

/** What the OpenAPI document contains about a route. */
export interface DescribedRoute {
  readonly method: "GET" | "POST";
  /** In the web framework's notation: `/v1/table/:name/describe`. */
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  /** What the body may be. A missing body always counts as an empty JSON object. */
  readonly accepts: "json" | "arrow" | "either" | "nothing";
  readonly query: z.ZodObject;
  readonly body: z.ZodType;
  /** What a successful answer contains; undefined for Arrow data. */
  readonly answer: z.ZodType | undefined;
}

export interface Route extends DescribedRoute {
  /** What must be locked while the handler works. Called with a query that the schema has accepted. */
  readonly locks: (request: LockRequest) => readonly TableLock[];
  /** Gives the answer; undefined for an empty object. */
  readonly handler: (request: RouteRequest) => Promise<unknown>;
}

/** What is known of a request before a worker parses its body. */
export interface LockRequest {
  readonly name: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** The JSON body, not checked yet. */
  readonly json: () => unknown;
}

/**
 * The interface that a request follows. They share paths, and a few answers differ: `lancedb` is that of LanceDB's own
 * clients, whose paths end in a slash; `namespace` is the open Lance namespace; `document` is this service's document.
 */
export type Protocol = "lancedb" | "namespace" | "document";

export interface RouteRequest<Query = Readonly<Record<string, unknown>>, Body = unknown> {
  readonly tables: ServedTables;
  /** The parts of the path by name. */
  readonly params: Readonly<Record<string, string>>;
  /** The table's name; empty if the path has none. */
  readonly name: string;
  readonly query: Query;
  readonly protocol: Protocol;
  readonly body: Body;
  /** Whether the body is Arrow data. Then only `arrow` may be used, not `body`. */
  readonly hasArrow: boolean;
  /** The checked Arrow data of the body. Throws if there is none. */
  readonly arrow: () => IpcFile;
}

interface RouteInput<Query extends z.ZodObject, Body extends z.ZodType> {
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly summary: string;
  readonly accepts?: Route["accepts"];
  readonly query?: Query;
  readonly body?: Body;
  readonly answer?: z.ZodType | undefined;
  readonly locks?: Route["locks"];
  readonly handler: (request: RouteRequest<z.output<Query>, z.output<Body>>) => Promise<unknown>;
}

export const anything = z.looseObject({});

/** A route whose handler gets the table that its path names. */
type TableRouteInput<Query extends z.ZodObject, Body extends z.ZodType> = Omit<RouteInput<Query, Body>, "handler"> & {
  readonly handler: (table: EngineTable, request: RouteRequest<z.output<Query>, z.output<Body>>) => Promise<unknown>;
};

/** Other requests may write rows at the same time. */
export const shared = (table: string): readonly TableLock[] => [{ table, alone: false }];
/** No other request writes to the table at the same time. */
export const alone = (...tables: readonly string[]): readonly TableLock[] =>
  [...new Set(tables)].map((table) => ({ table, alone: true }));

/**
 * Gives the functions that define the routes of a group: `route`, and for handlers that only work on the table of the
 * path, `read`, `write` (rows) and `change` (the table itself). Types flow from the schemas into the handler.
 */
export function routesOf(group: string) {
  const route = <Query extends z.ZodObject = typeof anything, Body extends z.ZodType = z.ZodUnknown>(
    input: RouteInput<Query, Body>,
  ): Route => ({
    method: "POST",
    accepts: input.body === undefined ? "nothing" : "json",
    query: anything,
    body: z.unknown(),
    answer: anything,
    locks: () => [],
    ...input,
    group,
    // The handler is called only with values that the schemas have accepted.
    handler: input.handler as Route["handler"],
  });
  const tableRoute =
    (access: "read" | "write", locks: Route["locks"]) =>
    <Query extends z.ZodObject = typeof anything, Body extends z.ZodType = z.ZodUnknown>({
      handler,
      ...input
    }: TableRouteInput<Query, Body>): Route =>
      route<Query, Body>({
        locks,
        ...input,
        handler: (request) => request.tables[access](request.name, (table) => handler(table, request)),
      });
  return {
    route,
    read: tableRoute("read", () => []),
    write: tableRoute("write", ({ name }) => shared(name)),
    change: tableRoute("write", ({ name }) => alone(name)),
  };
}

/** Absent and null mean the same. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** No name or path needs more. The engine may take seconds for a longer one. */
export const text = z.string("must be a text").max(10_000, "must not be longer than 10000 characters");
export const sql = z.string("must be a text").superRefine(checkSql);
export const flag = z.boolean("must be true or false");
export const versionNumber = z.int("must be a whole number").min(1, "must be at least 1");
/** A tag is a file. The engine encodes its name twice, and adds to it while it writes the file. */
const longestTag = 210;
export const tag = z
  .string("must be a text")
  .min(1, "must not be empty")
  .refine(
    (name) => encodeURIComponent(encodeURIComponent(name.toWellFormed())).length <= longestTag,
    `must not be longer than ${longestTag} characters; one outside ASCII counts as ten or more`,
  );
/** The version of a table to read; the latest by default. */
export const versionOrTag = { version: optional(versionNumber), tag: optional(tag) };
export const committed = z.looseObject({ version: z.int() });

/** A query parameter that is a whole number. */
export const numberParameter = z
  .string("is given twice")
  .regex(/^-?\d{1,15}$/, "must be a whole number")
  .transform(Number);

/** A query parameter that is true or false. */
export const flagParameter = z
  .string("is given twice")
  .regex(/^(true|false)$/i, "must be true or false")
  .transform((value) => value.toLowerCase() === "true");

export const textParameter = z.string("is given twice");
export const sqlParameter = textParameter.superRefine(checkSql);

/** In characters: a list of 20,000 ids fits. */
const longestSql = 2 ** 20;
/** The engine overflows its stack at 700 to 1,000. */
const mostOperators = 500;

export function checkSql(sql: string, context: Pick<z.RefinementCtx, "addIssue">): void {
  const message =
    sql.length > longestSql
      ? `must not be longer than ${longestSql} characters`
      : hasSecondStatement(sql)
        ? "must be one expression; the engine would ignore what follows the semicolon"
        : longestChain(sql) > mostOperators
          ? `must not chain more than ${mostOperators} operators`
          : undefined;
  if (message !== undefined) context.addIssue({ code: "custom", message });
}

/** The query parameters of a list that is answered in pages. */
export const page = z.looseObject({
  limit: numberParameter.refine((limit) => limit > 0, "must be at least 1").optional(),
  page_token: textParameter.optional(),
});
/** The same in a body. */
export const pageFields = {
  limit: optional(z.int("must be a whole number").min(1, "must be at least 1")),
  page_token: optional(text),
};

/** What a request asks for in its query or its body. */
interface PageRequest {
  readonly limit?: number | undefined;
  readonly page_token?: string | undefined;
}

/** The page behind the token, which is the key of the last item before it, and the token of the next page. */
export function pageOf<Item>(
  items: readonly Item[],
  { limit, page_token: token = "" }: PageRequest,
  keyOf: (item: Item) => string,
  isAfter: (item: Item, token: string) => boolean = (item) => keyOf(item) > token,
): { readonly shown: readonly Item[]; readonly next: { readonly page_token?: string } } {
  const rest = token === "" ? items : items.filter((item) => isAfter(item, token));
  const shown = rest.slice(0, limit);
  return { shown, next: shown.length < rest.length ? { page_token: keyOf(shown.at(-1)!) } : {} };
}

export function isIpcAnswer(answer: unknown): answer is IpcAnswer {
  return typeof answer === "object" && answer !== null && "chunks" in answer && "contentType" in answer;
}

export function arrowOf(body: unknown, largest: number): IpcFile {
  if (!Buffer.isBuffer(body)) throw refuse(415, "invalidInput", "this route takes an Arrow IPC stream");
  return toCheckedFile(body, largest);
}
