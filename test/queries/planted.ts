/** Bugs of the service, each planted by a change of the source: `npm run check queries` has to find every one. */
import type { PlantedBug } from "../support/planted-bug.ts";

/** A query of this seed shows the bug: the one with the number `near`, or a later one. */
export const plantedSeed = 1;

const [routes, texts, forms, engine] = [
  "features/serve/routes/query.ts",
  "features/serve/routes/text-query.ts",
  "features/serve/tables/text-query.ts",
  "engine/query.ts",
];

export const plantedBugs: readonly PlantedBug[] = Object.entries<readonly [number, string, string, string]>({
  "the offset is dropped": [8, engine, "query.offset(offset);", "{}"],
  "there is one row more than the limit": [11, engine, "query.limit(limit);", "query.limit(limit + 1);"],
  "a filter of what was found filters what is searched": [9, routes, "postfilter: given.prefilter === false,", ""],
  "columns come sorted": [7, engine, "query.selectColumns(names);", "query.selectColumns(names.toSorted());"],
  "expressions come reversed": [19, engine, "query.select(pairs.map(", "query.select(pairs.toReversed().map("],
  "row ids are left out": [11, engine, "query.withRowId();", "{}"],
  "nulls come last": [47, routes, "nullsFirst: nullsFirst ?? false,", "nullsFirst: false,"],
  "rows are always ascending": [47, routes, "ascending: ascending ?? true,", "ascending: true,"],
  "an old version is not checked out": [11, routes, "await checkOut(table, body);\n", ""],
  "rows without an index are searched too": [5, engine, "query.fastSearch();", "{}"],
  "the filter of a count is ignored": [
    34,
    "features/serve/routes/rows.ts",
    "table.countRows(body.predicate ?? body.filter)",
    "table.countRows()",
  ],
  "the distance is always the usual one": [2, engine, "query.distanceType(distanceType);", "{}"],
  "all vectors but the first are ignored": [98, engine, "query.addQueryVector(Float32Array.from(vector));", "{}"],
  "there is no farthest distance": [31, engine, "(lowerBound, upperBound);", "(lowerBound, undefined);"],
  "there is no nearest distance": [31, engine, "(lowerBound, upperBound);", "(undefined, upperBound);"],
  "found rows are not measured again": [377, engine, "query.refineFactor(refineFactor);", "{}"],
  "the index is used against the client's will": [109, engine, "query.bypassVectorIndex();", "{}"],
  "the engine chooses how many partitions it searches": [493, engine, "  probe(query, nearest);\n", ""],
  "the slop of a phrase is dropped": [435, forms, "{ slop: query.slop }", "{ slop: 0 }"],
  "no letter may differ": [142, forms, "fuzziness: query.fuzziness as number,", "fuzziness: 0,"],
  "one word is enough": [43, texts, 'operator: given.operator ?? "OR",\n    prefix', 'operator: "OR",\n    prefix'],
  "letters at the beginning may differ": [142, texts, "prefixLength: given.prefix_length ?? 0,", "prefixLength: 0,"],
  "a word stands for fifty others": [1160, texts, "maxExpansions: given.max_expansions ?? 50,", "maxExpansions: 50,"],
  "a match counts once": [301, texts, "boost: given.boost ?? 1,", "boost: 1,"],
  "all columns count the same": [41, texts, "boosts: boost ?? undefined,", "boosts: undefined,"],
  "the engine chooses how much less a boost counts": [
    517,
    texts,
    "negativeBoost: negativeBoost ?? undefined,",
    "negativeBoost: undefined,",
  ],
  "what must not be found should be": [14, texts, '...partsOf("MUST_NOT", mustNot)', '...partsOf("SHOULD", mustNot)'],
  "what must be found should be": [43, texts, '...partsOf("MUST", must)', '...partsOf("SHOULD", must)'],
}).map(([name, [near, file, right, wrong]]) => ({ name, near, changes: [{ file, right, wrong }] }));
