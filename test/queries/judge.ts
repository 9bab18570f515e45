/** Whether a service answered a query as the embedded engine does. */
import type { Answer, Ask, Found, Query } from "./query.ts";

export type Verdict =
  | { readonly kind: "same" }
  /** Both refused it, or the service alone, with a reason that docs state. */
  | { readonly kind: "refused by both" | "refused"; readonly reason: string }
  | { readonly kind: "different"; readonly reason: string };

const different = (reason: string): Verdict => ({ kind: "different", reason });

/** `ask` asks the embedded engine again: among rows with equal scores, chance decides which it returns, and in which order. */
export async function judge(query: Query, embedded: Answer, served: Answer, ask: Ask): Promise<Verdict> {
  if ("error" in embedded) {
    if (!("error" in served)) return different(`${served.rows.length} rows, but embedded ${embedded.error}`);
    return isInside(served.error)
      ? different(served.error)
      : { kind: "refused by both", reason: statusOf(served.error) };
  }
  if ("error" in served) {
    const known = reasons.find(({ pattern }) => pattern.test(served.error));
    return known === undefined ? different(served.error) : { kind: "refused", reason: known.docs };
  }
  const verdict = await compare(query, embedded, served, ask);
  const isSearch = query.text !== undefined || query.nearest !== undefined;
  if (verdict.kind !== "different" || !isSearch) return verdict;
  for (let run = 0; run < mostRuns; run++) {
    const again = await ask(query);
    if (!("error" in again) && (await compare(query, again, served, ask)).kind === "same") return { kind: "same" };
  }
  return verdict;
}

/** The status and the code of an answer; many queries get no further than the client. */
function statusOf(error: string): string {
  const [, status, code] = /(\d{3}) [A-Z][^{]*\{"code":(\d+)/.exec(error) ?? [];
  return status === undefined ? "by the client" : `${status}, code ${code}`;
}

/** Whether the service failed, instead of refusing what it was asked. */
const isInside = (error: string) => /^5(?!01)/.test(statusOf(error));

/**
 * The engine itself returns one of several answers to some searches: it sums up scores in any order, so that they differ in their last
 * bit, and where one search is ordered by another one or by a column, equal scores decide about more than the order.
 */
const mostRuns = 200;

async function compare(query: Query, here: Found, there: Found, ask: Ask): Promise<Verdict> {
  const [embedded, served] = [byVector(here), byVector(there)];
  const [columns, expected] = [served, embedded].map((one) => JSON.stringify(one.columns));
  if (columns !== expected) return different(`columns ${columns} instead of ${expected}`);
  if (served.rows.length !== embedded.rows.length)
    return different(`${served.rows.length} rows instead of ${embedded.rows.length}`);
  const at = served.rows.findIndex((row, place) => textOf(row) !== textOf(embedded.rows[place]!));
  if (at < 0) return { kind: "same" };
  if (await areTies(query, embedded, served, ask)) return { kind: "same" };
  if (await areTiesOfParts(query, embedded, served, ask)) return { kind: "same" };
  if (await areOtherTies(query, embedded, served, ask)) return { kind: "same" };
  return different(`row ${at} is ${textOf(served.rows[at]!)} instead of ${textOf(embedded.rows[at]!)}`);
}

/** The errors with which the service may answer what the embedded engine can do, and where docs state it. */
const reasons: readonly { readonly pattern: RegExp; readonly docs: string }[] = [
  {
    pattern: /501 .*filters what was found \(prefilter: false\)/,
    docs: "prefilter: false of a full-text search (service.md, Routes)",
  },
  {
    pattern: /400 .*the engine would ignore what follows the semicolon/,
    docs: "a filter with a semicolon (service.md, Routes)",
  },
];

/** With the rows of each vector together: the embedded engine itself returns those of several vectors in any order of the vectors. */
function byVector({ columns, rows }: Found): Found {
  const place = columns.findIndex(([name]) => name === "query_index");
  return { columns, rows: place < 0 ? rows : rows.toSorted((one, other) => Number(one[place]) - Number(other[place])) };
}

const textOf = (row: readonly string[]) => row.join(" | ");

/** Whether the rows differ only in the order, or the choice, of those with equal scores. */
async function areTies(query: Query, embedded: Found, served: Found, ask: Ask): Promise<boolean> {
  const rank = rankOf(query, embedded);
  if (rank === undefined) return false;
  if (served.rows.some((row, at) => rank(row) !== rank(embedded.rows[at]!))) return false;
  const [here, there] = [embedded, served].map(({ rows }) => Map.groupBy(rows, rank));
  const isOpen =
    query.limit !== undefined || query.offset !== undefined || query.nearest !== undefined || query.text !== undefined;
  const ends = isOpen ? [served.rows[0], served.rows.at(-1)].map((row) => rank(row!)) : [];
  for (const [value, rows] of there!) {
    if (isWithin(rows, here!.get(value)!)) continue;
    if (!ends.includes(value)) return false;
    const wider = await ask({ ...query, limit: 10_000, offset: undefined });
    if (
      "error" in wider ||
      !isWithin(
        rows,
        wider.rows.filter((row) => rank(row) === value),
      )
    )
      return false;
  }
  return true;
}

/**
 * A hybrid search orders by the ranks of rows in its two searches. Whether the rows differ only in that rows have changed places
 * which the embedded engine scores alike in both of them.
 */
async function areTiesOfParts(query: Query, embedded: Found, served: Found, ask: Ask): Promise<boolean> {
  const relevance = served.columns.findIndex(([name]) => name === "_relevance_score");
  if (query.rerank !== true || relevance < 0) return false;
  const whole = { ...query, rerank: undefined, limit: 10_000, offset: undefined };
  const parts = [
    await ask({ ...whole, nearest: undefined }),
    await ask({ ...whole, text: undefined, textColumns: undefined }),
  ];
  const scores = parts.map((part) => ("error" in part ? new Map<string, string>() : scoresIn(part)));
  const bareOf = (row: readonly string[]) => bare(served.columns, row);
  const alike = (row: readonly string[]) => scores.map((each) => each.get(bareOf(row)) ?? "").join(" and ");
  const isKnown = served.rows.every((row) => scores.some((each) => each.has(bareOf(row))));
  const hasSameOrder = served.rows.every((row, at) => {
    const other = embedded.rows[at]!;
    return row[relevance] === other[relevance] && alike(row) === alike(other);
  });
  const sorted = ({ rows }: Found) => rows.map(bareOf).toSorted().join("\n");
  return isKnown && hasSameOrder && sorted(served) === sorted(embedded);
}

/**
 * The best rows of a search may be ordered by a column. Whether the rows differ only in which of those with equal scores were
 * found, and are in the order that the embedded engine gives all.
 */
async function areOtherTies(query: Query, embedded: Found, served: Found, ask: Ask): Promise<boolean> {
  const score = served.columns.findIndex(([name]) => name === "_score" || name === "_distance");
  if (query.orderBy === undefined || query.offset !== undefined || score < 0) return false;
  const scoresOf = ({ rows }: Found) => JSON.stringify(rows.map((row) => row[score]).toSorted());
  if (scoresOf(served) !== scoresOf(embedded)) return false;
  const all = await ask({ ...query, limit: 10_000 });
  const left = "error" in all ? [] : all.rows.map(textOf);
  return served.rows.every((row) => {
    const at = left.indexOf(textOf(row));
    left.splice(0, at + 1);
    return at >= 0;
  });
}

/** The scores of the rows, by their other columns. */
function scoresIn({ columns, rows }: Found): ReadonlyMap<string, string> {
  const at = columns.findIndex(([name]) => name === "_score" || name === "_distance");
  const groups = Map.groupBy(rows, (row) => bare(columns, row));
  return new Map([...groups].map(([text, same]) => [text, same.map((row) => row[at]!).join(", ")]));
}

const measures: ReadonlySet<string> = new Set(["_relevance_score", "_score", "_distance"]);

function bare(columns: Found["columns"], row: readonly string[]): string {
  return textOf(row.filter((_, at) => !measures.has(columns[at]![0])));
}

function isWithin(some: readonly (readonly string[])[], all: readonly (readonly string[])[]): boolean {
  const left = all.map(textOf);
  return some.every((row) => {
    const at = left.indexOf(textOf(row));
    if (at >= 0) left.splice(at, 1);
    return at >= 0;
  });
}

/** What decides about the place of a row, as text; undefined if the answer does not contain it. */
function rankOf({ orderBy }: Query, { columns }: Found): ((row: readonly string[]) => string) | undefined {
  const places = (names: readonly string[]) => names.map((name) => columns.findIndex(([column]) => column === name));
  const scores = [["_relevance_score"], ["query_index", "_distance"], ["_distance"], ["_score"]];
  const by = orderBy === undefined ? scores : [orderBy.map(({ column }) => column)];
  const at = by.map(places).find((found) => found.every((place) => place >= 0));
  return at === undefined ? undefined : (row) => at.map((place) => row[place]).join(" | ");
}
