/** The operations of a dialect as requests, and the answers that all of them share. */
import { isMigrateError, type MigrateError } from "../../errors.ts";
import { parseList } from "./answers.ts";
import type { Endpoints, Operation } from "./dialects.ts";
import { openHttp, type Answer, type Request } from "./http.ts";
import type { Settings } from "./options.ts";
import { strangeAnswer } from "./problems.ts";

export interface Client {
  /** Sends a request that changes nothing, with a JSON body. */
  read(operation: Operation, table: string, body: unknown): Promise<Answer>;
  /** Sends a request that changes something, once. */
  write(operation: Operation, table: string, body: Request["body"]): Promise<Answer>;
  list(): Promise<readonly string[]>;
  exists(table: string): Promise<boolean>;
  /** Whether an error says that there is no such table. */
  saysMissing(error: unknown, table: string): Promise<boolean>;
  /** The error for a success that is not what it should be. */
  strange(operation: Operation, table: string, answer: Answer, wanted: string): MigrateError;
  close(): Promise<void>;
}

const json = "application/json";

export function openClient(settings: Settings): Client {
  const http = openHttp(settings);
  const { endpoints, pageSize } = settings.dialect;

  const requestOf = (operation: Operation, table: string, body?: Request["body"]): Request => ({
    endpoint: endpointOf(endpoints, operation, table),
    body,
  });

  const list = async (): Promise<readonly string[]> => {
    const names = new Set<string>();
    const asked = new Set<string | undefined>();
    for (let token: string | undefined; !asked.has(token);) {
      asked.add(token);
      const endpoint = withQuery(endpointOf(endpoints, "list", ""), { limit: pageSize, page_token: token });
      const answer = await http.read({ endpoint });
      const page = parseList(answer);
      if (page === undefined) throw strangeAnswer(answer, { endpoint }, settings, "list of tables");
      const before = names.size;
      for (const name of page.names) names.add(name);
      // A full page without a token may be cut off all the same: the open-source server says nothing.
      const isFull = pageSize !== undefined && page.names.length >= pageSize;
      const next = page.next ?? (isFull ? page.names.at(-1) : undefined);
      if (next === undefined || names.size === before) break;
      token = next;
    }
    return [...names];
  };

  const exists = async (table: string) => (await list()).includes(table);

  return {
    read: (operation, table, body) =>
      http.read(requestOf(operation, table, { type: json, bytes: JSON.stringify(body) })),
    write: (operation, table, body) => http.write(requestOf(operation, table, body)),
    list,
    exists,
    async saysMissing(error, table) {
      if (!isMigrateError(error, "ERR_ANSWER") || ![400, 404].includes(error.details.status)) return false;
      // 404 may also mean that there is no such route, or no such column.
      return !(await exists(table));
    },
    strange: (operation, table, answer, wanted) => strangeAnswer(answer, requestOf(operation, table), settings, wanted),
    close: http.close,
  };
}

function endpointOf(endpoints: Endpoints, operation: Operation, table: string): string {
  const endpoint = endpoints[operation];
  if (endpoint === undefined) throw new TypeError(`the dialect has no ${operation}`);
  return endpoint.replaceAll("{name}", encodeURIComponent(table));
}

function withQuery(endpoint: string, values: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const query = given.map(([key, value]) => `${key}=${encodeURIComponent(value!)}`).join("&");
  return query === "" ? endpoint : `${endpoint}${endpoint.includes("?") ? "&" : "?"}${query}`;
}
