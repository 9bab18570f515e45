/** Draws requests over every route: valid ones, and mutations of their bodies, names, headers, queries and framing. */
import { routes } from "../../../src/features/serve/routes/index.ts";
import type { Route } from "../../../src/features/serve/routes/route.ts";
import { jsonType, streamType } from "../../../src/wire/content-types.ts";
import type { Chance } from "../../simulate/seeded-random.ts";
import { mutatedStream, validStream } from "./arrow-bodies.ts";
import { jsonBody, mutatedJson } from "./json-bodies.ts";
import { anyName, columnName, sql, tableName } from "./texts.ts";

export interface DrawnRequest {
  /** In the notation of the web framework. */
  readonly route: string;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  readonly sending: Sending;
}

/** How the bytes are sent. An answer is owed only to a request that is sent completely and framed correctly. */
export type Sending = "whole" | "slowly" | "chunked" | "half" | "garbage" | "misframed";

const extraRoutes = [
  { method: "GET", path: "/healthz", accepts: "nothing" },
  { method: "GET", path: "/openapi.json", accepts: "nothing" },
  { method: "GET", path: "/no/such/route", accepts: "json" },
] as const;

type DrawnRoute = Pick<Route, "method" | "path" | "accepts">;

const all: readonly DrawnRoute[] = [...routes, ...extraRoutes];

/** How often the service answers the same for other bodies: one of them is enough. */
const weightOf = ({ path }: DrawnRoute) => (/\/(drop|drop_columns|rename)$/.test(path) ? 0.2 : 1);

export function drawRequest(chance: Chance, apiKey: string): DrawnRequest {
  const route = drawRoute(chance);
  const isValid = chance.happens(0.4);
  const table = tableName(chance);
  const isArrow = route.accepts === "arrow" || (route.accepts === "either" && chance.happens(0.5));
  const body = drawBody(chance, route, table, isArrow, isValid);
  const headers = [
    ["host", "127.0.0.1"],
    ["x-api-key", apiKey],
    ["content-type", isArrow ? streamType : jsonType],
  ] as const;
  return {
    route: route.path,
    method: isValid || chance.happens(0.95) ? route.method : chance.pick(otherMethods),
    path: pathOf(chance, route.path, table) + queryOf(chance, route.path, isValid),
    headers: isValid || chance.happens(0.8) ? headers : mutatedHeaders(chance, headers),
    body,
    sending: drawSending(chance, isValid),
  };
}

function drawRoute(chance: Chance): DrawnRoute {
  const route = chance.pick(all);
  return chance.happens(weightOf(route)) ? route : drawRoute(chance);
}

const otherMethods = ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "GET", "POST", "PROPFIND", "QUERY"];

function drawBody(chance: Chance, route: DrawnRoute, table: string, isArrow: boolean, isValid: boolean): Buffer {
  if (route.method === "GET" && chance.happens(0.95)) return Buffer.alloc(0);
  if (isArrow) {
    const stream = validStream(chance, table);
    return isValid || chance.happens(0.1) ? stream : mutatedStream(chance, stream);
  }
  const json = jsonBody(chance, route.path);
  return Buffer.from(isValid || chance.happens(0.3) ? JSON.stringify(json) : mutatedJson(chance, json));
}

function pathOf(chance: Chance, path: string, table: string): string {
  return path.replace(/:(\w+)/g, (_, part: string) => {
    if (part === "name") return table;
    if (part === "namespace") return chance.pick(["$", "$", "%24", "root", ".."]);
    if (part === "index") return encoded(chance.pick(["id_idx", "title_idx", "vector_idx", anyName(chance)]));
    return encoded(anyName(chance));
  });
}

const parameters: Readonly<Record<string, (chance: Chance) => string>> = {
  mode: (chance) => chance.pick(["append", "overwrite", "create", "exist_ok", "ExistOk", "", "nonsense"]),
  on: columnName,
  when_matched_update_all: (chance) => chance.pick(["true", "false", "1"]),
  when_matched_update_all_filt: sql,
  when_not_matched_insert_all: (chance) => chance.pick(["true", "TRUE", "maybe"]),
  when_not_matched_by_source_delete: (chance) => chance.pick(["true", "false"]),
  when_not_matched_by_source_delete_filt: sql,
  limit: (chance) => chance.pick(["1", "0", "-1", "99999999999999999999", "x"]),
  page_token: anyName,
  delimiter: (chance) => chance.pick(["$", "", ".", "o"]),
  branch: (chance) => chance.pick(["main", "other"]),
  upload_id: anyName,
  __proto__: anyName,
  "a[b][c]": anyName,
};

function queryOf(chance: Chance, path: string, isValid: boolean): string {
  if (path.endsWith("/merge_insert") && chance.happens(0.9))
    return "?on=id&when_matched_update_all=true&when_not_matched_insert_all=true";
  if (path.endsWith("/create") || path === "/v1/tables/:name")
    return chance.pick(["", "?mode=overwrite", "?mode=exist_ok", "?mode=create"]);
  if (isValid || chance.happens(0.6)) return "";
  const pairs = Array.from({ length: 1 + chance.below(4) }, () => {
    const name = chance.pick(Object.keys(parameters));
    return `${encodeURIComponent(name)}=${encoded(parameters[name]!(chance)).slice(0, 8_000)}`;
  });
  return `?${pairs.join("&")}${chance.pick(["", "", "&", "&&=", "&%", "#x", `&${"a=1&".repeat(1_500)}`])}`;
}

/** Also texts with half of a pair of surrogates. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

type Headers = DrawnRequest["headers"];

const headerMutations: readonly ((headers: Headers, chance: Chance) => Headers)[] = [
  (headers) => headers.filter(([name]) => name !== "x-api-key"),
  (headers) => headers.map(([name, value]) => [name, name === "x-api-key" ? `${value}x` : value] as const),
  (headers) => [...headers, ["x-api-key", "another key"]],
  (headers) => headers.filter(([name]) => name !== "content-type"),
  (headers, chance) => [
    ...headers.filter(([name]) => name !== "content-type"),
    [
      "content-type",
      chance.pick([
        "text/plain",
        "application/json; charset=\u00e4",
        "application/json;".repeat(200),
        "a/b/c",
        ";",
        "multipart/form-data",
      ]),
    ],
  ],
  (headers) => [...headers, ["content-type", jsonType]],
  (headers, chance) => [
    ...headers,
    ["content-encoding", chance.pick(["gzip", "identity", "br, gzip", "x".repeat(5_000)])],
  ],
  (headers, chance) => [...headers, ["x-request-id", chance.pick(["abc", "a b\tc", "::error::x", "x".repeat(3_000)])]],
  (headers) => [...headers, ["x-long", "x".repeat(15_000)]],
  (headers) => [...headers, ["x-long", "x".repeat(40_000)]],
  (headers) => [...headers, ...Array.from({ length: 1_500 }, (_, place) => [`x-${place}`, "1"] as const)],
  (headers) => [...headers, ["expect", "100-continue"]],
  (headers) => [...headers, ["expect", "nonsense"]],
  (headers) => [...headers, ["connection", "upgrade"], ["upgrade", "websocket"]],
  (headers) => [...headers, ["transfer-encoding", "gzip, chunked"]],
  (headers) => [...headers, ["host", "elsewhere"]],
  (headers) => headers.filter(([name]) => name !== "host"),
  (headers) => [...headers, ["accept", "nonsense"], ["range", "bytes=0-1"], ["if-match", "*"]],
  (headers) => [...headers, ["x-lancedb-database", "other"], ["x-service-database", "other"]],
  (headers) => [...headers, ["__proto__", "x"], ["constructor", "y"]],
];

function mutatedHeaders(chance: Chance, headers: Headers): Headers {
  return chance.pick(headerMutations)(headers, chance);
}

function drawSending(chance: Chance, isValid: boolean): Sending {
  if (isValid) return chance.happens(0.95) ? "whole" : "chunked";
  if (chance.happens(0.85)) return "whole";
  return chance.pick(["slowly", "chunked", "half", "garbage", "misframed"]);
}
