/** Sends the operations of a dialect as requests, and handles the answers that they share. */
import { isMigrateError, MigrateError } from "../../errors/migrate-error.ts";
import { failureIn, parseCount, parseList, type Page } from "./parse-answers.ts";
import type { Endpoints, Operation } from "./options/dialects.ts";
import { openHttp } from "./http/http.ts";
import { jsonBody, type HttpRequest, type HttpResponse, type Sent } from "./http/message.ts";
import type { RestSettings } from "./options/options.ts";
import { strangeAnswer } from "./http/http-errors.ts";

export type Client = ReturnType<typeof openClient>;

const mostPages = 10_000;
/** At most this many consecutive pages without new names. */
const mostIdlePages = 5;

export function openClient(settings: RestSettings) {
  const http = openHttp(settings);
  const { endpoints, pageSize } = settings.dialect;

  const requestOf = (operation: Operation, table: string, body?: HttpRequest["body"]): HttpRequest => ({
    endpoint: endpointOf(endpoints, operation, table),
    body,
  });

  const requestFor = (operation: Operation, table: string, { body, names = {}, query = {} }: Sent): HttpRequest => {
    const { endpoint } = requestOf(operation, table);
    const filled = Object.entries(names).reduce((text, [name, value]) => fill(text, name, value), endpoint);
    return { endpoint: withQuery(filled, query), body };
  };

  const listOf = (token: string | undefined) =>
    withQuery(endpointOf(endpoints, "list", ""), { limit: pageSize, page_token: token });

  const page = async (endpoint: string, token: string | undefined): Promise<Page> => {
    const answer = await http.read({ endpoint });
    const found = parseList(answer);
    const hint = "is endpoint the address of a table service?";
    if (found === undefined) throw strangeAnswer(answer, { endpoint }, settings, "list of tables", hint);
    // A full page without a token may still be cut off: the open-source server sends no token.
    const isFull = pageSize !== undefined && found.names.length >= pageSize;
    const last = found.names.at(-1);
    return { ...found, next: found.next ?? (isFull && last !== token ? last : undefined) };
  };

  /** A part of the list would look like a ledger without its newest records. */
  const incomplete = (problem: string) =>
    new MigrateError("ERR_ANSWER", { target: settings.target, request: endpoints.list, status: 200, problem });

  const list = async (): Promise<readonly string[]> => {
    const names = new Set<string>();
    const tokens = new Set<string>();
    let idle = 0;
    for (let next: string | undefined, at = listOf(next); tokens.size < mostPages && idle < mostIdlePages;) {
      const found = await page(at, next);
      const before = names.size;
      for (const name of found.names) names.add(name);
      idle = names.size === before ? idle + 1 : 0;
      next = found.next ?? found.link;
      if (next === undefined) {
        const { more, total = 0 } = found;
        const sign = more ?? (total > names.size ? `total: ${total}` : undefined);
        if (sign !== undefined)
          throw incomplete(`its list of tables is not whole, and nothing shows how to request the rest (${sign})`);
        return [...names];
      }
      if (tokens.has(next)) break;
      tokens.add(next);
      at = found.next === undefined ? linked(at, next) : listOf(next);
    }
    throw incomplete(`its list of tables does not end: its pages come again and again, or are more than ${mostPages}`);
  };

  const exists = async (table: string) => (await list()).includes(table);

  /** Sends a request that changes nothing, with a JSON body. `largest`: the largest Arrow data of its answer, in bytes. */
  const read = (operation: Operation, table: string, body: unknown, largest?: number): Promise<HttpResponse> =>
    http.read({ ...requestOf(operation, table, jsonBody(body)), largest });

  /** The error for an answer of success that is not a `wanted` one. */
  const strange = (operation: Operation, table: string, answer: HttpResponse, wanted: string): MigrateError =>
    strangeAnswer(answer, requestOf(operation, table), settings, wanted);

  /** Reads, and parses the answer. Throws if `parse` gives undefined. `wanted`: what the answer should be, as text. */
  const ask = async <Result>(
    operation: Operation,
    table: string,
    body: unknown,
    parse: (answer: HttpResponse) => Result | undefined,
    wanted: string,
  ): Promise<Result> => {
    const answer = await read(operation, table, body);
    const parsed = parse(answer);
    if (parsed === undefined) throw strange(operation, table, answer, wanted);
    return parsed;
  };

  return {
    read,
    ask,
    /** Counts the rows that match an SQL predicate, or all; in the current table, or in a version. */
    count: (table: string, predicate?: string, version?: number) =>
      ask("count", table, { predicate, version }, parseCount, "number of rows"),
    /** Sends a request that changes something, once. */
    async write(operation: Operation, table: string, sent: Sent): Promise<HttpResponse> {
      const answer = await http.write(requestFor(operation, table, sent));
      if (failureIn(answer) !== undefined) throw strange(operation, table, answer, "answer of a success");
      return answer;
    },
    /** What `write` sends, as text. */
    shown(operation: Operation, table: string, sent: Sent): string {
      const { endpoint, body } = requestFor(operation, table, sent);
      return body === undefined ? endpoint : `${endpoint} ${shownBody(body)}`;
    },
    list,
    exists,
    /** Whether an error means that there is no such table. */
    async saysMissing(error: unknown, table: string): Promise<boolean> {
      if (!isMigrateError(error, "ERR_ANSWER") || ![400, 404].includes(error.details.status)) return false;
      // 404 may also mean that there is no such route, or no such column.
      return !(await exists(table));
    },
    strange,
    close: http.close,
  };
}

/** The request for the page at an address that a page names. Its path counts only up to the prefix of this one. */
function linked(endpoint: string, link: string): string {
  const [, method, path] = /^(\S+) ([^?]*)/.exec(endpoint)!;
  return `${method} ${path}${new URL(link, "http://service").search}`;
}

function shownBody({ bytes }: NonNullable<HttpRequest["body"]>): string {
  return typeof bytes === "string" ? bytes : `<Arrow stream of ${bytes.length} bytes>`;
}

function endpointOf(endpoints: Endpoints, operation: Operation, table: string): string {
  const endpoint = endpoints[operation];
  if (endpoint === undefined) throw new TypeError(`the dialect has no ${operation}`);
  return fill(endpoint, "name", table);
}

function fill(endpoint: string, name: string, value: string): string {
  return endpoint.replaceAll(`{${name}}`, encodeURIComponent(value));
}

function withQuery(endpoint: string, values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const query = given.map(([key, value]) => `${key}=${encodeURIComponent(value!)}`).join("&");
  return query === "" ? endpoint : `${endpoint}${endpoint.includes("?") ? "&" : "?"}${query}`;
}
