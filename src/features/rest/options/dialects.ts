/** The endpoints and headers of each dialect. A deployment that differs overrides single entries. */
import { textThat } from "../../../checks/check.ts";

/** `METHOD /path`, with `{name}` in place of the table's name. */
export const endpoint = textThat(
  (value) => /^(GET|POST|PUT|PATCH) \/[\x21\x22\x24-\x7e]*$/.test(value),
  'must be a method and a path, such as "POST /v1/tables/{name}"',
);

export interface Dialect {
  readonly databaseHeaders: readonly string[];
  readonly endpoints: Endpoints;
  /** How many tables to request at a time; undefined if it is unknown whether the list has pages. */
  readonly pageSize: number | undefined;
}

export type Operation = keyof typeof everyEndpoint;

/** The request of each operation. The dialect does not support operations that are missing. */
export type Endpoints = Readonly<Record<"list" | "create" | "alter", string>> &
  Readonly<Partial<Record<Operation, string>>>;

/** The operations that restoring a version and keeping it need. */
export const operationsOfVersions: readonly Operation[] = [
  ...(["versions", "restore", "describe", "query", "count", "insert"] as const),
  ...(["tags", "createTag", "deleteTag"] as const),
];

export function keepsVersions(endpoints: Endpoints): boolean {
  return operationsOfVersions.every((operation) => endpoints[operation] !== undefined);
}

/** The three documented endpoints of the service. */
const service: Dialect = {
  databaseHeaders: ["x-service-database"],
  endpoints: {
    list: "GET /v1/tables",
    create: "POST /v1/tables/{name}",
    alter: "POST /v1/table/{name}/alter_columns",
  },
  pageSize: undefined,
};

/** Of the open REST namespace, as LanceDB's own clients use it with LanceDB Cloud and Enterprise. */
const everyEndpoint = {
  list: "GET /v1/table/",
  create: "POST /v1/table/{name}/create/?mode=create",
  alter: "POST /v1/table/{name}/alter_columns/",
  // Without this flag the open-source server leaves out the schema. Other servers ignore it.
  describe: "POST /v1/table/{name}/describe/?load_detailed_metadata=true",
  merge: "POST /v1/table/{name}/merge_insert/",
  query: "POST /v1/table/{name}/query/",
  count: "POST /v1/table/{name}/count_rows/",
  drop: "POST /v1/table/{name}/drop/",
  rename: "POST /v1/table/{name}/rename/",
  update: "POST /v1/table/{name}/update/",
  delete: "POST /v1/table/{name}/delete/",
  addColumns: "POST /v1/table/{name}/add_columns/",
  dropColumns: "POST /v1/table/{name}/drop_columns/",
  setMetadata: "POST /v1/table/{name}/update_field_metadata/",
  createIndex: "POST /v1/table/{name}/create_index/",
  listIndexes: "POST /v1/table/{name}/index/list/",
  dropIndex: "POST /v1/table/{name}/index/{index}/drop/",
  insert: "POST /v1/table/{name}/insert/",
  versions: "POST /v1/table/{name}/version/list/",
  restore: "POST /v1/table/{name}/restore/",
  tags: "POST /v1/table/{name}/tags/list/",
  createTag: "POST /v1/table/{name}/tags/create/",
  deleteTag: "POST /v1/table/{name}/tags/delete/",
};

/** The service's document asks for its own header in every request; LanceDB's services know the other one. */
const namespace: Dialect = {
  databaseHeaders: ["x-service-database", "x-lancedb-database"],
  endpoints: everyEndpoint,
  pageSize: 500,
};

/** The names of all operations. */
export const operations = Object.keys(everyEndpoint) as readonly Operation[];

export const dialects = { service, namespace };
