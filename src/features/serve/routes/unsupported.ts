/**
 * Routes that clients use and this service does not have. They answer with a message and a status that no client
 * retries.
 */
import { unsupported } from "../tables/error-answer.ts";
import { routesOf, type Route } from "./route.ts";

const { route } = routesOf("not served");

const posts: Readonly<Record<string, string>> = {
  "/v1/table/:name/clone": "cloning of tables",
  "/v1/table/:name/register": "registering of tables",
  "/v1/table/:name/deregister": "registering of tables",
  "/v1/table/:name/declare": "declaring of tables; send their schema to create",
  "/v1/table/:name/backfill_column": "computed columns",
  "/v1/table/:name/errors": "computed columns",
  "/v1/table/:name/page_cache/prewarm": "warming of tables",
  "/v1/table/:name/schema_metadata/update": "changing of a schema's metadata",
  "/v1/table/:name/multipart_write/:act": "writes in several parts",
  "/v1/table/:name/branches/:act": "branches",
  "/v1/table/:name/version/create": "versions that clients write",
  "/v1/table/:name/version/delete": "removing of versions",
  "/v1/table/version/batch-create": "versions that clients write",
  "/v1/table/batch-commit": "commits of several tables",
  "/v1/transaction/:transaction/:act": "transactions",
  "/v1/namespace/:namespace/create": "namespaces",
  "/v1/namespace/:namespace/drop": "namespaces",
  "/v1/materialized_view/:view/:act": "materialized views",
  "/v1/view/:view/:act": "views",
  "/v1/function/:function/:act": "functions",
  "/v1/secret/:secret/:act": "secrets",
  ...Object.fromEntries(
    [
      "set_lsm_write_spec",
      "unset_lsm_write_spec",
      "get_lsm_write_spec",
      "get_lsm_stats",
      "flush_lsm",
      "compact_lsm",
    ].map((act) => [`/v1/table/:name/${act}`, "write-ahead log"]),
  ),
};

const lists: Readonly<Record<string, string>> = {
  "/v1/namespace/:namespace/materialized_view/list": "materialized views",
  "/v1/namespace/:namespace/view/list": "views",
  "/v1/namespace/:namespace/function/list": "functions",
  "/v1/namespace/:namespace/secret/list": "secrets",
};

const refusing = (method: "GET" | "POST", paths: Readonly<Record<string, string>>): readonly Route[] =>
  Object.entries(paths).map(([path, what]) =>
    route({
      method,
      path,
      summary: `Answers 501: there is no ${what}`,
      accepts: method === "GET" ? "nothing" : "either",
      handler: () => Promise.reject(unsupported(what)),
    }),
  );

export const unsupportedRoutes: readonly Route[] = [...refusing("POST", posts), ...refusing("GET", lists)];
