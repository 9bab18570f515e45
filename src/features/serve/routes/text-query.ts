/**
 * Full-text queries as clients send them: LanceDB's as the engine writes its own (`{ query: { match: … } }`), those of the
 * namespace in an object of their own (`structured_query`, `string_query`).
 */
import { z } from "zod";
import type { TypedText } from "../../../engine/query.ts";
import type { MatchQuery, StructuredQuery } from "../tables/text-query.ts";
import { largestCount, tooLarge } from "../../../schema/declare/index-options.ts";
import { unsupported } from "../tables/error-answer.ts";
import { object } from "./fields.ts";
import { text } from "./route.ts";

const count = z.int("must be a whole number").min(0, "must be at least 0").max(largestCount, tooLarge);
const number = z.number("must be a number");
const terms = z.string("must be a text");
const operator = z
  .string("must be And or Or")
  .transform((value) => value.toUpperCase())
  .pipe(z.enum(["AND", "OR"], "must be And or Or"));

const match = object({
  terms,
  column: text.nullish(),
  boost: number.nullish(),
  fuzziness: count.nullable().optional(),
  max_expansions: count.nullish(),
  operator: operator.nullish(),
  prefix_length: count.nullish(),
});

const phrase = object({ terms, column: text.nullish(), slop: count.nullish() });

const multiMatch = object({
  query: terms.nullish(),
  columns: z.array(text).nullish(),
  boost: z.array(number).nullish(),
  operator: operator.nullish(),
  match_queries: z.array(match).nullish(),
});

type Sent = z.output<typeof sent>;
const sent = object({
  match: match.nullish(),
  phrase: phrase.nullish(),
  multi_match: multiMatch.nullish(),
  get boost(): z.ZodType<SentBoost | null | undefined> {
    return object({ positive: sent, negative: sent, negative_boost: number.nullish() }).nullish() as never;
  },
  get boolean(): z.ZodType<SentBoolean | null | undefined> {
    const parts = z.array(sent).nullish();
    return object({ must: parts, should: parts, must_not: parts }).nullish() as never;
  },
});

interface SentBoost {
  readonly positive: Sent;
  readonly negative: Sent;
  readonly negative_boost?: number | null | undefined;
}

type SentBoolean = { readonly [Occur in "must" | "should" | "must_not"]?: readonly Sent[] | null | undefined };

const columns = z.array(text).nullish();
const form = "must be a text, or one of match, phrase, boost, multi_match and boolean";

export const textQuery = object({
  query: z.union([z.string(), sent], form).nullish(),
  columns,
  string_query: object({ query: z.string("must be a text"), columns }).nullish(),
  structured_query: object({ query: sent }).nullish(),
}).transform((given, context): TypedText | StructuredQuery => {
  const query = given.structured_query?.query ?? given.string_query?.query ?? given.query;
  const within = given.string_query?.columns ?? given.columns ?? [];
  const isOne = [given.query, given.string_query, given.structured_query].filter((one) => one != null).length === 1;
  if (query == null || !isOne) return problem(context, "must hold one query");
  if (typeof query === "string") return { query, columns: within.length === 0 ? undefined : within };
  if (within.length > 0) return problem(context, "must name its columns inside its query");
  try {
    return typed(query) ?? structured(query);
  } catch (error) {
    if (error instanceof Unclear) return problem(context, error.message);
    throw error;
  }
});

function problem(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: "custom", message });
  return z.NEVER;
}

/** A structure that can't be executed as it was sent. */
class Unclear extends Error {}

/** Without a column, only what a person types can be searched for. */
function typed(given: Sent): TypedText | undefined {
  checkKind(given);
  const { match, phrase } = given;
  if (match != null && match.column == null && isUsual(match) && !isQuoted(match.terms)) return { query: match.terms };
  if (phrase != null && phrase.column == null && (phrase.slop ?? 0) === 0) return { query: `"${phrase.terms}"` };
  return undefined;
}

/** Of two, one would be ignored. */
function checkKind(given: Sent): void {
  const kinds = Object.values(given).filter((part) => part != null);
  if (kinds.length !== 1) throw new Unclear(`must hold one of ${Object.keys(sent.shape).join(", ")}`);
}

function isQuoted(terms: string): boolean {
  return terms.length >= 2 && terms.startsWith('"') && terms.endsWith('"');
}

function isUsual(given: z.output<typeof match>): boolean {
  const { boost, fuzziness, maxExpansions, operator: joined, prefixLength } = toMatch(given, "");
  return boost === 1 && fuzziness === 0 && maxExpansions === 50 && joined === "OR" && prefixLength === 0;
}

/** Values that are absent are the engine's own. */
function toMatch(given: z.output<typeof match>, column: string): MatchQuery {
  return {
    kind: "match",
    terms: given.terms,
    column,
    boost: given.boost ?? 1,
    fuzziness: given.fuzziness === undefined ? 0 : given.fuzziness,
    maxExpansions: given.max_expansions ?? 50,
    operator: given.operator ?? "OR",
    prefixLength: given.prefix_length ?? 0,
  };
}

function structured(given: Sent): StructuredQuery {
  checkKind(given);
  if (given.match != null) return toMatch(given.match, columnOf(given.match));
  if (given.phrase != null)
    return { kind: "phrase", terms: given.phrase.terms, column: columnOf(given.phrase), slop: given.phrase.slop ?? 0 };
  if (given.multi_match != null) return toMultiMatch(given.multi_match);
  if (given.boost != null) {
    const { positive, negative, negative_boost: negativeBoost } = given.boost;
    return {
      kind: "boost",
      positive: structured(positive),
      negative: structured(negative),
      negativeBoost: negativeBoost ?? undefined,
    };
  }
  const { must, should, must_not: mustNot } = given.boolean!;
  const partsOf = <Occur extends "MUST" | "SHOULD" | "MUST_NOT">(
    occur: Occur,
    parts: readonly Sent[] | null | undefined,
  ) => (parts ?? []).map((part) => [occur, structured(part)] as const);
  return {
    kind: "boolean",
    parts: [...partsOf("MUST", must), ...partsOf("SHOULD", should), ...partsOf("MUST_NOT", mustNot)],
  };
}

function columnOf({ column }: { readonly column?: string | null | undefined }): string {
  if (column == null) throw new Unclear("must name a column in each match and phrase");
  return column;
}

function toMultiMatch(given: z.output<typeof multiMatch>): StructuredQuery {
  const { query, columns: within, boost, match_queries: queries } = given;
  if (queries == null) {
    if (query == null || within == null || within.length === 0)
      throw new Unclear("must have query and columns in multi_match");
    if (boost != null && boost.length !== within.length) throw new Unclear("must have one boost for each column");
    return {
      kind: "multiMatch",
      terms: query,
      columns: within,
      boosts: boost ?? undefined,
      operator: given.operator ?? "OR",
    };
  }
  const matches = queries.map((one) => toMatch(one, columnOf(one)));
  const [first] = matches;
  if (first === undefined) throw new Unclear("must have a query in multi_match");
  // The engine's client for JavaScript has one text and one operator for all columns.
  const isOneText = matches.every(({ terms: one, operator: by }) => one === first.terms && by === first.operator);
  if (!isOneText || !queries.every((one) => isUsual({ ...one, boost: 1, operator: "OR" })))
    throw unsupported("multi_match with different texts or options for its columns");
  return {
    kind: "multiMatch",
    terms: first.terms,
    columns: matches.map(({ column }) => column),
    boosts: matches.map(({ boost: one }) => one),
    operator: first.operator,
  };
}
