/**
 * Routes that clients use and this service does not have. They answer with a message and a status that no client
 * retries.
 */
import { unsupported } from "./fields.ts";
import { routesOf, type Route } from "./route.ts";

const { route } = routesOf("not served");

const paths: Readonly<Record<string, string>> = {
  "/v1/table/:name/clone": "cloning of tables",
  "/v1/table/:name/register": "registering of tables",
  "/v1/table/:name/deregister": "registering of tables",
  "/v1/table/:name/declare": "declaring of tables; send their schema to create",
  "/v1/table/:name/backfill_column": "computed columns",
  "/v1/table/:name/page_cache/prewarm": "warming of tables",
  "/v1/table/:name/schema_metadata/update": "changing of a schema's metadata",
  "/v1/table/:name/multipart_write/:act": "writes in several parts",
  "/v1/table/:name/branches/:act": "branches",
  "/v1/namespace/:namespace/create": "namespaces",
  "/v1/namespace/:namespace/drop": "namespaces",
};

export const unsupportedRoutes: readonly Route[] = Object.entries(paths).map(([path, what]) =>
  route({
    path,
    summary: `Answers 501: there is no ${what}`,
    accepts: "either",
    handler: () => Promise.reject(unsupported(what)),
  }),
);
