/** What each dialect calls its endpoints and headers: one table each. A deployment that differs overrides single entries. */
import { z } from "zod";

/** `METHOD /path`, with `{name}` where the table's name stands. */
export const endpoint = z
  .string('has to be a method and a path, such as "POST /v1/tables/{name}"')
  .regex(
    /^(GET|POST|PUT|PATCH) \/[\x21\x22\x24-\x7e]*$/,
    'has to be a method and a path, such as "POST /v1/tables/{name}"',
  );

export interface Dialect {
  readonly databaseHeader: string;
  readonly endpoints: Endpoints;
  /** How many tables to ask for at a time; undefined where nobody knows whether the list has pages. */
  readonly pageSize: number | undefined;
}

/** The operations, and in which request each is. Those that are undefined the dialect does not have. */
export interface Endpoints {
  readonly list: string;
  readonly create: string;
  readonly alter: string;
  readonly describe?: string | undefined;
  readonly merge?: string | undefined;
  readonly query?: string | undefined;
  readonly count?: string | undefined;
  readonly drop?: string | undefined;
}

export const operations = ["list", "create", "alter", "describe", "merge", "query", "count", "drop"] as const;
export type Operation = (typeof operations)[number];

/** The three endpoints of the service's document. */
const service: Dialect = {
  databaseHeader: "x-service-database",
  endpoints: {
    list: "GET /v1/tables",
    create: "POST /v1/tables/{name}",
    alter: "POST /v1/table/{name}/alter_columns",
  },
  pageSize: undefined,
};

/** The open REST namespace, as LanceDB's own clients speak it to LanceDB Cloud and Enterprise. */
const namespace: Dialect = {
  databaseHeader: "x-lancedb-database",
  endpoints: {
    list: "GET /v1/table/",
    create: "POST /v1/table/{name}/create/?mode=create",
    alter: "POST /v1/table/{name}/alter_columns/",
    // Without the flag the open-source server leaves out the schema; others ignore it.
    describe: "POST /v1/table/{name}/describe/?load_detailed_metadata=true",
    merge: "POST /v1/table/{name}/merge_insert/?on=key&when_not_matched_insert_all=true",
    query: "POST /v1/table/{name}/query/",
    count: "POST /v1/table/{name}/count_rows/",
    drop: "POST /v1/table/{name}/drop/",
  },
  pageSize: 500,
};

export const dialects = { service, namespace };
