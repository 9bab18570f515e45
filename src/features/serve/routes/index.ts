/** The routes to tables. To add a group, add a file and a line here. */
import { columnRoutes } from "./columns.ts";
import { indexRoutes } from "./indexes.ts";
import { jobRoutes } from "./jobs.ts";
import { namespaceRoutes } from "./namespaces.ts";
import { queryRoutes } from "./query.ts";
import { rowRoutes } from "./rows.ts";
import { tableRoutes } from "./tables.ts";
import { unsupportedRoutes } from "./unsupported.ts";
import { versionRoutes } from "./versions.ts";
import type { Route } from "./route.ts";

export const routes: readonly Route[] = [
  ...tableRoutes,
  ...namespaceRoutes,
  ...columnRoutes,
  ...rowRoutes,
  ...queryRoutes,
  ...versionRoutes,
  ...indexRoutes,
  ...jobRoutes,
  ...unsupportedRoutes,
];
