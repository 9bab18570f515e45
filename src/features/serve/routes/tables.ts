/** Routes for whole tables: listing, creating, describing, dropping. */
import { z } from "zod";
import { readIpcSchema, type EngineTable } from "../../../engine/engine.ts";
import { contentsOf } from "../../../engine/manifest/contents.ts";
import { tableFromIpc } from "../../../wire/arrow/arrow-schema.ts";
import { toField } from "../../../wire/lance/lance-type.ts";
import { propertiesOf } from "../../shared/version-properties.ts";
import { checkNewTable } from "../tables/new-columns.ts";
import { tableName } from "../tables/table-name.ts";
import { invalidInput, refuse, tableNotFound } from "../tables/error-answer.ts";
import type { CreateMode, ServedTables } from "../tables/open-tables.ts";
import { ignored, json, only, parameters } from "./fields.ts";
import {
  alone,
  committed,
  optional,
  page,
  pageOf,
  routesOf,
  textParameter,
  versionNumber,
  versionOrTag,
  type RouteRequest,
} from "./route.ts";

const { route, read } = routesOf("tables");

export const tableList = z.object({ tables: z.array(z.string()), page_token: z.string().optional() });

/** In a query, an empty object is written in JSON. */
export const tableProperties = only(["{}"], "properties of tables");

/** LanceDB's clients and those of the namespace have names of their own for it. */
const otherNamespace = only([], "namespaces");

/** They ask for more than the answer has, which a client sees from the answer. */
const moreToDescribe = {
  with_table_uri: ignored,
  load_detailed_metadata: ignored,
  check_declared: ignored,
  vend_credentials: ignored,
};

export const tableRoutes = [
  ...["/v1/tables", "/v1/table"].map((path) =>
    route({
      method: "GET",
      path,
      summary: "List the tables",
      query: page,
      answer: tableList,
      handler: ({ tables, query }) => listTables(tables, query),
    }),
  ),
  ...["/v1/tables/:name", "/v1/table/:name/create"].map((path) =>
    route({
      path,
      summary: "Create a table from an Arrow IPC stream",
      accepts: "arrow",
      query: parameters(
        { mode: textParameter.optional() },
        { properties: tableProperties, storage_options: only(["{}"], "storage options") },
      ),
      answer: committed,
      locks: ({ name }) => alone(name),
      handler: createTable,
    }),
  ),
  read({
    path: "/v1/table/:name/describe",
    summary: "A table's version and schema",
    body: json(versionOrTag, moreToDescribe),
    answer: z.looseObject({
      table: z.string(),
      version: z.int(),
      schema: z.object({ fields: z.array(z.looseObject({})), metadata: z.record(z.string(), z.string()) }),
    }),
    handler: async (table, { tables: { folder }, name, body }) => {
      await checkOut(table, body);
      const version = await table.version();
      const { columns, metadata } = tableFromIpc(await readIpcSchema(table));
      const schema = { fields: columns.map(toField), metadata };
      // A rollback compares versions by it. Nothing else asks for a version by its number.
      const contents = body.version === undefined ? undefined : contentsOf({ folder, table: name, version });
      return { table: name, namespace: [], version, schema, ...(contents && { properties: propertiesOf(contents) }) };
    },
  }),
  route({
    path: "/v1/table/:name/exists",
    summary: "Whether there is a table of that name: 200 or 404",
    body: json({ version: optional(versionNumber) }),
    handler: async ({ tables, name, body }) => {
      if (!(await tables.names()).includes(name)) throw tableNotFound(name);
      if (body.version !== undefined) await tables.read(name, (table) => checkOut(table, body));
    },
  }),
  route({
    path: "/v1/table/:name/drop",
    summary: "Drop a table with all its rows and versions",
    body: json({}),
    locks: ({ name }) => alone(name),
    handler: ({ tables, name }) => tables.drop(name),
  }),
  route({
    path: "/v1/table/:name/rename",
    summary: "Give a table another name",
    body: json({ new_table_name: tableName }, { new_namespace_id: otherNamespace, new_namespace: otherNamespace }),
    locks: ({ name, json: given }) => alone(name, newNameOf(given())),
    handler: async ({ tables, name, body }) => {
      if (name === body.new_table_name) throw invalidInput("it has that name already");
      await tables.rename(name, body.new_table_name);
    },
  }),
  read({
    path: "/v1/table/:name/stats",
    summary: "Numbers of rows, bytes and fragments",
    body: json({}),
    handler: async (table) => {
      const { totalBytes, numRows, numIndices, fragmentStats } = await table.stats();
      return {
        total_bytes: totalBytes,
        num_rows: numRows,
        num_indices: numIndices,
        fragment_stats: {
          num_fragments: fragmentStats.numFragments,
          num_small_fragments: fragmentStats.numSmallFragments,
          lengths: fragmentStats.lengths,
        },
      };
    },
  }),
];

/** Checks out the version or the tag, if one is given. Throws a refusal if the version does not exist. */
export async function checkOut(
  table: EngineTable,
  { version, tag }: { readonly version?: number | undefined; readonly tag?: string | undefined },
): Promise<void> {
  try {
    if (version !== undefined) await table.checkout(version);
    else if (tag !== undefined) await table.checkout(tag);
  } catch (error) {
    if (version === undefined || !/not found/i.test(String(error))) throw error;
    throw refuse(404, "versionNotFound", `Table '${table.name}' has no version ${version}`);
  }
}

/** Of a body that is not checked yet: the handler refuses what is no name. */
function newNameOf(body: unknown): string {
  const name = (body as { readonly new_table_name?: unknown } | null | undefined)?.new_table_name;
  return typeof name === "string" ? name : "";
}

export async function listTables(tables: ServedTables, query: z.output<typeof page>) {
  const { shown, next } = pageOf(await tables.names(), query, (name) => name);
  return { tables: shown, ...next };
}

const modes: ReadonlyMap<string, CreateMode> = new Map([
  ["create", "create"],
  ["overwrite", "overwrite"],
  ["existok", "existOk"],
]);

async function createTable({ tables, name, query, arrow }: RouteRequest<{ mode?: string | undefined }>) {
  const mode = modes.get((query.mode ?? "create").toLowerCase().replaceAll("_", ""));
  if (mode === undefined) throw invalidInput(`mode ${JSON.stringify(query.mode)} is not create, overwrite or exist_ok`);
  const { bytes, columns } = arrow();
  checkNewTable(columns, name);
  return { version: await tables.create(name, bytes, mode) };
}
