/** Routes for namespaces. The root is the only one. */
import { z } from "zod";
import { refuse } from "../tables/error-answer.ts";
import { json } from "./fields.ts";
import { page, routesOf, textParameter, type RouteRequest } from "./route.ts";
import { listTables, tableList } from "./tables.ts";

const { route } = routesOf("namespaces");

const delimiter = { delimiter: textParameter.optional() };

export const namespaceRoutes = [
  route({
    method: "GET",
    path: "/v1/namespace/:namespace/table/list",
    summary: "List the tables of the root namespace, which is the only one",
    query: page.extend(delimiter),
    answer: tableList,
    handler: async (request) => {
      checkRoot(request);
      return await listTables(request.tables, request.query);
    },
  }),
  route({
    method: "GET",
    path: "/v1/namespace/:namespace/list",
    summary: "List the namespaces in the root namespace: there are none",
    query: page.extend(delimiter),
    answer: z.object({ namespaces: z.array(z.string()) }),
    handler: async (request) => {
      checkRoot(request);
      return { namespaces: [] };
    },
  }),
  route({
    path: "/v1/namespace/:namespace/describe",
    summary: "The properties of the root namespace: there are none",
    query: z.looseObject(delimiter),
    body: json({}),
    answer: z.object({ properties: z.record(z.string(), z.string()) }),
    handler: async (request) => {
      checkRoot(request);
      return { properties: {} };
    },
  }),
  route({
    path: "/v1/namespace/:namespace/exists",
    summary: "Whether there is a namespace of that name: 200 or 404",
    query: z.looseObject(delimiter),
    body: json({}),
    handler: async (request) => checkRoot(request),
  }),
];

/** Throws a refusal for any namespace but the root, whose name is the delimiter. */
function checkRoot({ params, query }: RouteRequest<{ readonly delimiter?: string | undefined }>): void {
  const namespace = params["namespace"];
  if (namespace !== (query.delimiter ?? "$"))
    throw refuse(404, "namespaceNotFound", `Namespace '${namespace}' was not found; there is only the root`);
}
