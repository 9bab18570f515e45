/** Routes for queries: plain, by vector, by text. */
import { z } from "zod";
import { analyze, explain, search, type VectorSearch, type Search } from "../../../engine/query.ts";
import { largestCount, tooLarge } from "../../../schema/declare/index-options.ts";
import { joinFiles } from "../../../wire/arrow/ipc-file.ts";
import { invalidInput, unsupported, withoutFolder } from "../tables/error-answer.ts";
import { toEngineQuery } from "../tables/text-query.ts";
import { checkOut } from "./tables.ts";
import { ignored, json, object, only } from "./fields.ts";
import { checkSql, flag, optional, routesOf, sql, text, versionOrTag } from "./route.ts";
import { textQuery } from "./text-query.ts";

const { route, read } = routesOf("query");

// Not z.int, for which the number that means "all" is too large.
const count = z
  .number("must be a number")
  .min(0, "must be at least 0")
  .refine(Number.isInteger, "must be a whole number");
const number = z.number("must be a number");
const vector = z.array(number);

const vectors = z
  .union(
    [vector, z.array(vector), object({ single_vector: vector.nullish(), multi_vector: z.array(vector).nullish() })],
    "must be an array of numbers, or several of them",
  )
  .transform((given): readonly (readonly number[])[] => {
    const vectors = Array.isArray(given) ? given : (given.multi_vector ?? given.single_vector ?? []);
    // Both protocols require a vector, and an empty one stands for none.
    if (vectors.length === 0) return [];
    return Array.isArray(vectors[0]) ? (vectors as number[][]) : [vectors as number[]];
  });

const noColumns = "must be an array of columns, or an object of names and expressions";
const namespaceColumns = object({
  column_names: z.array(z.string()).nullish(),
  column_aliases: z.record(z.string(), z.string()).nullish(),
});

const columns = z
  .union([z.array(z.string()), z.record(z.string(), z.unknown())], noColumns)
  .transform((given): Search["columns"] => {
    if (Array.isArray(given)) return given;
    // Both may also be names of columns that an older client asks for.
    const isOfNamespace = ["column_names", "column_aliases"].some((name) => typeof given[name] === "object");
    if (!isOfNamespace) return inOrder(given as Record<string, string>);
    const { data, error } = namespaceColumns.safeParse(given);
    if (data === undefined)
      throw invalidInput(
        error.issues[0]!.code === "unrecognized_keys" ? error.issues[0]!.message : `columns ${noColumns}`,
      );
    const { column_names: names, column_aliases: aliases } = data;
    if (names != null && aliases != null) throw unsupported("columns and aliases in one query");
    return names ?? (aliases == null ? undefined : inOrder(aliases));
  })
  .superRefine((given, context) => {
    for (const column of given ?? []) {
      if (typeof column === "string") continue;
      if (typeof column[1] === "string") checkSql(column[1], context);
      else context.addIssue({ code: "custom", message: noColumns });
    }
  });

/**
 * The entries in the order in which they were sent. JSON.parse moves names that are whole numbers to the front; LanceDB's
 * clients send the names sorted by their bytes.
 */
function inOrder(given: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  const entries = Object.entries(given);
  const isMoved = entries.some(([name]) => /^(0|[1-9]\d*)$/.test(name));
  return isMoved ? entries.toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other))) : entries;
}

const orderBy = z.array(
  object({ column_name: z.string(), ascending: flag.optional(), nulls_first: flag.optional() }),
  "must be an array of orderings",
);

const body = json(
  {
    ...versionOrTag,
    filter: optional(sql),
    columns: optional(columns),
    k: optional(count),
    limit: optional(count),
    offset: optional(count.max(largestCount, tooLarge)),
    order_by: optional(orderBy),
    with_row_id: optional(flag),
    fast_search: optional(flag),
    full_text_query: optional(textQuery),
    vector: optional(vectors),
    vector_column: optional(text),
    distance_type: optional(text),
    prefilter: optional(flag),
    nprobes: optional(count.max(largestCount, tooLarge)),
    minimum_nprobes: optional(count.max(largestCount, tooLarge)),
    maximum_nprobes: optional(count.max(largestCount, tooLarge)),
    lower_bound: optional(number),
    upper_bound: optional(number),
    ef: optional(count.max(largestCount, tooLarge)),
    refine_factor: optional(count.max(largestCount, tooLarge)),
    bypass_vector_index: optional(flag),
  },
  {
    // The service has no write-ahead log, so it answers the same with and without one.
    use_lsm: ignored,
    approx_mode: only(["normal"], "modes of approximation"),
  },
);

export const queryRoutes = [
  route({
    path: "/v1/table/:name/query",
    summary: "Rows that a filter lets through, that are nearest to a vector, or that match a text; as Arrow IPC data",
    body,
    answer: undefined,
    handler: async ({ tables, name, body }) => {
      const wanted = toSearch(body);
      // A result can still be read after its table handle is closed.
      const found = await tables.read(name, async (table) => {
        await checkOut(table, body);
        return await search(table, wanted);
      });
      return joinFiles(found.first, found.others);
    },
  }),
  read({
    path: "/v1/table/:name/explain_plan",
    summary: "How the engine would perform a query, as text",
    body: json({ query: body, verbose: optional(flag) }),
    answer: z.string(),
    handler: async (table, { tables, body: { query, verbose } }) => {
      await checkOut(table, query);
      return withoutFolder(await explain(table, toSearch(query), verbose ?? false), tables.folder);
    },
  }),
  read({
    path: "/v1/table/:name/analyze_plan",
    summary: "How the engine performed a query and what each part took, as text",
    body,
    answer: z.string(),
    handler: async (table, { tables, body: query }) => {
      await checkOut(table, query);
      return withoutFolder(await analyze(table, toSearch(query)), tables.folder);
    },
  }),
];

/** What only a search by vector reads. */
const ofVectors = [
  ...(["vector_column", "distance_type", "nprobes", "minimum_nprobes", "maximum_nprobes"] as const),
  ...(["lower_bound", "upper_bound", "ef", "refine_factor", "bypass_vector_index"] as const),
];

function toSearch(given: z.output<typeof body>): Search {
  const limit = given.k ?? given.limit;
  const isPostfilter = given.prefilter === false && given.filter !== undefined;
  if (isPostfilter && given.full_text_query !== undefined && !hasVector(given))
    throw unsupported("full-text search that filters what was found (prefilter: false)");
  // Rows that are near to nothing would be all rows.
  const stray = hasVector(given) ? undefined : ofVectors.find((name) => (given[name] ?? false) !== false);
  if (stray !== undefined) throw invalidInput(`vector is empty, and ${stray} is only for a search by vector`);
  if (given.vector?.some((one) => one.length === 0) === true) throw invalidInput("a query vector has no numbers");
  return {
    filter: given.filter,
    columns: given.columns,
    // The official client asks for all rows with a number that is too large for JSON.
    limit: limit === undefined || limit > largestCount ? undefined : limit,
    offset: given.offset,
    orderBy: given.order_by?.map(({ column_name: columnName, ascending, nulls_first: nullsFirst }) => ({
      columnName,
      ascending: ascending ?? true,
      nullsFirst: nullsFirst ?? false,
    })),
    withRowId: given.with_row_id,
    fastSearch: given.fast_search,
    text: textOf(given.full_text_query),
    nearest: hasVector(given) ? toNearest(given, given.vector) : undefined,
  };
}

function textOf(query: z.output<typeof body>["full_text_query"]): Search["text"] {
  return query !== undefined && "kind" in query ? toEngineQuery(query) : query;
}

/** Both protocols require a vector, and an empty one stands for none. */
function hasVector<Given extends { readonly vector?: VectorSearch["vectors"] | undefined }>(
  given: Given,
): given is Given & { readonly vector: VectorSearch["vectors"] } {
  return given.vector !== undefined && given.vector.length > 0;
}

function toNearest(given: z.output<typeof body>, vectors: VectorSearch["vectors"]): VectorSearch {
  return {
    vectors,
    column: given.vector_column,
    distanceType: given.distance_type,
    nprobes: given.nprobes,
    minimumNprobes: given.minimum_nprobes,
    maximumNprobes: given.maximum_nprobes,
    lowerBound: given.lower_bound,
    upperBound: given.upper_bound,
    ef: given.ef,
    refineFactor: given.refine_factor,
    bypassIndex: given.bypass_vector_index,
    postfilter: given.prefilter === false,
  };
}
