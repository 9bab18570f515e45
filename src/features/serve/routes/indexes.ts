/** Routes for indexes. An index exists when its request is answered: this service has no jobs. */
import { z } from "zod";
import { createIndex } from "../../../engine/indexes.ts";
import { unlistedIndexes } from "../../../engine/read-indexes.ts";
import { indexNameProblem } from "../../../schema/names.ts";
import { indexType as declaredIndex } from "../../../schema/declare/index-options.ts";
import type { IndexKind } from "../../../schema/table-index.ts";
import { indexKindOf, protocolKinds, protocolOptions } from "../../../wire/lance/lance-index.ts";
import { ignored, json, only } from "./fields.ts";
import { flag, optional, pageFields, pageOf, routesOf, text, versionNumber, type RouteRequest } from "./route.ts";
import { checkOut } from "./tables.ts";
import { invalidInput, refuse, unsupported } from "../tables/error-answer.ts";

const { read, change } = routesOf("indexes");

/** The names of parameters in requests, and those of the engine's builders. */
const options: readonly (readonly [string, string])[] = [
  ...Object.entries(protocolOptions).map(([option, name]) => [name, option] as const),
  ["metric_type", "distanceType"],
  ["ngram_min_length", "ngramMinLength"],
  ["ngram_max_length", "ngramMaxLength"],
];

// The types of both shapes name no member, so that the other fields keep their types.
const ownParameters: Record<never, typeof ignored> = Object.fromEntries(options.map(([name]) => [name, ignored]));

/** Parameters that the engine's client for JavaScript does not take, with their usual values. */
const otherParameters: Record<never, typeof ignored> = Object.fromEntries(
  Object.entries({
    target_partition_size: null,
    lance_tokenizer: null,
    index_operators: false,
    preserve_original: false,
    split_identifiers: false,
    split_on_numerics: false,
  }).map(([name, usual]) => [name, only([usual], `indexes with ${name}`)]),
);

/** The name of the index is in the path, and clients may repeat it in the body. */
const repeatedName = { index_name: optional(text) };

function checkName(name: string | undefined, { params }: Pick<RouteRequest, "params">): void {
  if (name !== undefined && name !== params["index"])
    throw invalidInput(`the index_name in the body is not that of the path, ${params["index"]}`);
}

export const indexRoutes = [
  // The namespace has two paths; which kinds are scalar matters to neither.
  ...["/v1/table/:name/create_index", "/v1/table/:name/create_scalar_index"].map((path) =>
    change({
      path,
      summary: `Index a column; index_type is one of ${Object.values(protocolKinds).join(", ")}`,
      body: json(
        { column: text, index_type: text, name: optional(text), replace: optional(flag), ...ownParameters },
        otherParameters,
      ),
      handler: async (table, { body }) => {
        const { column, index_type: indexType, name, replace, ...rest } = body;
        const kind = indexKindOf(indexType);
        if (kind === undefined) throw unsupported(`indexes of type ${indexType}`);
        const problem = name === undefined ? undefined : indexNameProblem(name);
        if (problem !== undefined) throw invalidInput(`the name of an index ${problem}`);
        await createIndex(table, { column, kind, name, replace, options: optionsOf(kind, rest) });
      },
    }),
  ),
  read({
    path: "/v1/table/:name/index/list",
    summary: "The indexes of a table, or of one of its versions",
    body: json({ version: optional(versionNumber), ...pageFields }),
    answer: z.object({
      indexes: z.array(z.looseObject({ index_name: z.string(), columns: z.array(z.string()) })),
      page_token: z.string().optional(),
    }),
    handler: async (table, { tables, body }) => {
      await checkOut(table, body);
      const listed = await table.listIndices();
      const names = new Set(listed.map((index) => index.name));
      const others = await unlistedIndexes(table, names, tables.folder);
      const known = listed.map((index) => ({
        index_name: index.name,
        index_type: index.indexType,
        columns: index.columns,
        index_uuid: index.indexUuid,
        type_url: index.typeUrl,
        created_at: index.createdAt?.toISOString(),
        num_indexed_rows: index.numIndexedRows,
        num_unindexed_rows: index.numUnindexedRows,
        size_bytes: index.sizeBytes,
        num_segments: index.numSegments,
        index_version: index.indexVersion,
        // Clients take this only as text.
        index_details: index.indexDetails === undefined ? undefined : JSON.stringify(index.indexDetails),
        status: "done",
      }));
      const unknown = others.map(({ name, kind, path }) => ({
        index_name: name,
        index_type: kind,
        columns: [path],
        status: "done",
      }));
      // The engine's order is not that of creation.
      const all = [...known, ...unknown].toSorted((one, other) => (one.index_name < other.index_name ? -1 : 1));
      const { shown, next } = pageOf(all, body, (index) => index.index_name);
      return { indexes: shown, ...next };
    },
  }),
  read({
    path: "/v1/table/:name/index/:index/stats",
    summary: "How much of a table an index covers",
    body: json({ version: optional(versionNumber) }, repeatedName),
    handler: async (table, { params, body }) => {
      checkName(body.index_name, { params });
      await checkOut(table, body);
      const stats = await table.indexStats(params["index"]!);
      if (stats === undefined) throw refuse(404, "indexNotFound", `Index '${params["index"]}' was not found`);
      return {
        num_indexed_rows: stats.numIndexedRows,
        num_unindexed_rows: stats.numUnindexedRows,
        index_type: stats.indexType,
        distance_type: stats.distanceType,
        num_indices: stats.numIndices,
      };
    },
  }),
  read({
    path: "/v1/table/:name/index/:index/prewarm",
    summary: "Read an index into the memory of the process that answers",
    body: json({}),
    handler: async (table, { params }) => await table.prewarmIndex(params["index"]!),
  }),
  change({
    path: "/v1/table/:name/index/:index/drop",
    summary: "Drop an index",
    body: json({}, repeatedName),
    handler: async (table, { params, body }) => {
      checkName(body.index_name, { params });
      await table.dropIndex(params["index"]!);
    },
  }),
];

/** Clients write distances in any letter case. */
function valueOf(option: string, value: unknown): unknown {
  return option === "distanceType" && typeof value === "string" ? value.toLowerCase() : value;
}

/** Throws for values with which the engine would build another index, or end its process. */
function optionsOf(kind: IndexKind, given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const sent = options.filter(([name]) => given[name] !== undefined && given[name] !== null);
  const tokenizer = given["base_tokenizer"];
  // They read models from the home folder, or from wherever their names lead to.
  if (typeof tokenizer === "string" && /^(jieba|lindera)/.test(tokenizer))
    throw unsupported(`tokenizers with models, such as ${tokenizer}`);
  const wanted = Object.fromEntries(sent.map(([name, option]) => [option, valueOf(option, given[name])]));
  const checked = declaredIndex.safeParse({ kind, options: wanted });
  if (checked.success) return wanted;
  const issue = checked.error.issues[0]!;
  const names = issue.code === "unrecognized_keys" ? issue.keys : issue.path.slice(1);
  const field = sent.find(([, option]) => option === names[0])?.[0];
  if (issue.code === "unrecognized_keys") throw invalidInput(`an index of type ${protocolKinds[kind]} has no ${field}`);
  throw invalidInput(`${field ?? "the index"} ${issue.message}`);
}
