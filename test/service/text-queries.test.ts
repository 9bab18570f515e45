/** Full-text queries of the official client through the service find what they find on the folder. */
import type { FullTextQuery } from "@lancedb/lancedb";
import { expect, test } from "vitest";
import { lancedb } from "../support/tables.ts";
import { aService, apiKey, plain, type Table } from "./served.ts";

const { BooleanQuery, BoostQuery, MatchQuery, MultiMatchQuery, Occur, Operator, PhraseQuery } = lancedb;

const rows = [
  { id: 1, title: "the quick brown fox", body: "jumps over the lazy dog", vector: [0, 1] },
  { id: 2, title: "quick fox", body: "a brown dog", vector: [1, 1] },
  { id: 3, title: "quack and brawn", body: "the fox is quick", vector: [1, 0] },
  { id: 4, title: "brown bread", body: "quick quick fox", vector: [0.5, 0.5] },
  { id: 5, title: "fox", body: "", vector: [0.2, 0.9] },
];

async function aServiceOfTexts() {
  const served = await aService();
  const table = await served.local.createTable("t", rows);
  for (const column of ["title", "body"])
    await table.createIndex(column, {
      config: lancedb.Index.fts({ withPosition: true, stem: false, removeStopWords: false }),
    });
  return { ...served, near: table, far: await served.remote.openTable("t") };
}

const title = (text: string, options?: object) => new MatchQuery(text, "title", options);
const body = (text: string, options?: object) => new MatchQuery(text, "body", options);

const queries: readonly (readonly [string, FullTextQuery | string])[] = [
  ["a text", "quick"],
  ["a text in quotes", '"quick brown"'],
  ["a text for which there is no column", new MatchQuery("quick", "id")],
  ["a match", title("quick")],
  ["all words", title("quick fox", { operator: Operator.And })],
  ["letters that differ", title("quck", { fuzziness: 1 })],
  ["letters that differ, by the length of the word", title("quck", { fuzziness: null })],
  [
    "letters that differ after two that do not",
    title("quck brwn", { fuzziness: 1, prefixLength: 2, maxExpansions: 1 }),
  ],
  ["a boost", title("fox", { boost: 3 })],
  ["a phrase", new PhraseQuery("quick fox", "title")],
  ["a phrase with slop", new PhraseQuery("quick fox", "title", { slop: 1 })],
  ["less of another", new BoostQuery(title("fox"), body("dog"), { negativeBoost: 0.2 })],
  ["several columns", new MultiMatchQuery("quick", ["title", "body"], { boosts: [1, 4] })],
  [
    "must, should and must not",
    new BooleanQuery([
      [Occur.Must, title("fox")],
      [Occur.Should, body("lazy")],
      [Occur.MustNot, new PhraseQuery("brown dog", "body")],
    ]),
  ],
];

/** The rows, or "refused". */
async function found(table: Table, query: FullTextQuery | string): Promise<unknown> {
  try {
    return plain(await table.query().fullTextSearch(query).select(["id", "_score"]).limit(10).toArray());
  } catch (error) {
    expect(String(error)).toMatch(/column|index|field/);
    return "refused";
  }
}

test("each kind of query finds the same rows, with the same scores", async () => {
  const { near, far } = await aServiceOfTexts();
  const differing: unknown[] = [];
  const results = new Map<string, string>();
  for (const [name, query] of queries) {
    const [here, there] = [await found(near, query), await found(far, query)];
    results.set(name, JSON.stringify(here));
    if (JSON.stringify(here) !== JSON.stringify(there)) differing.push({ name, here, there });
  }
  expect(differing).toEqual([]);
  // Each option matters: without it, the rows or their scores are others.
  expect(results.get("all words")).not.toBe(results.get("a match"));
  expect(results.get("letters that differ")).not.toBe("[]");
  expect(results.get("a phrase with slop")).not.toBe(results.get("a phrase"));
});

test("a hybrid search finds the same rows", async () => {
  const { near, far } = await aServiceOfTexts();
  const reranker = await lancedb.rerankers.RRFReranker.create();
  const search = async (table: Table) => {
    const query = table
      .query()
      .nearestTo([0, 1])
      .fullTextSearch(title("quick fox", { operator: Operator.And }));
    return plain(await query.rerank(reranker).select(["id"]).limit(5).toArray());
  };
  expect(await search(far)).toEqual(await search(near));
});

async function ask(url: string, full_text_query: object, others: object = {}) {
  const answer = await fetch(`${url}/v1/table/t/query`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ vector: [], k: 5, full_text_query, ...others }),
  });
  if (answer.ok) return [answer.status, (await answer.bytes()).length > 0] as const;
  return [answer.status, ((await answer.json()) as { error: string }).error] as const;
}

const match = (own: object = {}) => ({ match: { terms: "fox", column: "title", ...own } });

test.each<[string, object, number, string]>([
  [
    "an unknown kind",
    { query: { macth: {} } },
    400,
    'there is no field "full_text_query.query.macth"; did you mean "match"?',
  ],
  [
    "an unknown option",
    { query: match({ fuzzines: 1 }) },
    400,
    'there is no field "full_text_query.query.match.fuzzines"; did you mean "fuzziness"?',
  ],
  [
    "two kinds",
    { query: { ...match(), phrase: { terms: "x", column: "title" } } },
    400,
    "full_text_query must hold one of match, phrase, multi_match, boost, boolean",
  ],
  [
    "two kinds, of which one has no column",
    { query: { match: { terms: "fox" }, boolean: { must_not: [match()] } } },
    400,
    "full_text_query must hold one of match, phrase, multi_match, boost, boolean",
  ],
  ["two queries", { query: "fox", string_query: { query: "dog" } }, 400, "full_text_query must hold one query"],
  ["no query", {}, 400, "full_text_query must hold one query"],
  [
    "options without a column",
    { query: { match: { terms: "fox", fuzziness: 1 } } },
    400,
    "full_text_query must name a column in each match and phrase",
  ],
  [
    "a number that is no whole one",
    { query: match({ fuzziness: 1.5 }) },
    400,
    expect.stringContaining("whole number") as never,
  ],
  [
    "a number that is too large",
    { query: match({ max_expansions: 2 ** 32 }) },
    400,
    expect.stringContaining("4294967295") as never,
  ],
  [
    "texts that differ by column",
    {
      structured_query: {
        query: { multi_match: { match_queries: [match().match, { terms: "dog", column: "body" }] } },
      },
    },
    501,
    "this service has no multi_match with different texts or options for its columns",
  ],
])("%s is refused", async (_, query, status, sentence) => {
  const { service } = await aServiceOfTexts();
  expect(await ask(service.url, query)).toEqual([status, sentence]);
});

test("a filter of what was found is refused, as the engine's client has none for texts", async () => {
  const { service } = await aServiceOfTexts();
  const [status] = await ask(service.url, { query: "fox" }, { prefilter: false, filter: "id > 1" });
  expect(status).toBe(501);
  // Without a filter, it means nothing.
  expect(await ask(service.url, { query: "fox" }, { prefilter: false })).toEqual([200, true]);
});

test("the namespace's forms are understood", async () => {
  const { service } = await aServiceOfTexts();
  const columns = [match().match, { ...match().match, column: "body" }];
  for (const query of [
    { string_query: { query: "fox", columns: ["title"] } },
    { structured_query: { query: match({ operator: "And" }) } },
    { structured_query: { query: { multi_match: { match_queries: columns } } } },
  ])
    expect(await ask(service.url, query)).toEqual([200, true]);
});
