/** Full-text queries: a text as a person types it, or a structure of texts. */
import type { FullTextQuery } from "@lancedb/lancedb";
import { loadEngine } from "./engine.ts";

/** Words that are each compared on their own. */
export interface MatchQuery {
  readonly kind: "match";
  readonly terms: string;
  readonly column: string;
  readonly boost: number;
  /** How many letters may differ; null lets the engine choose by the length of each word. */
  readonly fuzziness: number | null;
  /** The most words that a word may stand for when letters may differ. */
  readonly maxExpansions: number;
  readonly operator: "AND" | "OR";
  /** How many letters at the beginning must be the same. */
  readonly prefixLength: number;
}

/** Words that follow each other. */
export interface PhraseQuery {
  readonly kind: "phrase";
  readonly terms: string;
  readonly column: string;
  /** How many other words may stand between them. */
  readonly slop: number;
}

/** The same words in several columns, each with a boost. */
export interface MultiMatchQuery {
  readonly kind: "multiMatch";
  readonly terms: string;
  readonly columns: readonly string[];
  readonly boosts: readonly number[] | undefined;
  readonly operator: "AND" | "OR";
}

export interface BoostQuery {
  readonly kind: "boost";
  readonly positive: StructuredQuery;
  readonly negative: StructuredQuery;
  readonly negativeBoost: number | undefined;
}

export interface BooleanQuery {
  readonly kind: "boolean";
  readonly parts: readonly (readonly ["MUST" | "SHOULD" | "MUST_NOT", StructuredQuery])[];
}

export type StructuredQuery = MatchQuery | PhraseQuery | MultiMatchQuery | BoostQuery | BooleanQuery;

/** A text in quotes is a phrase. Without columns, it is searched for in all that have an index. */
export interface TypedQuery {
  readonly kind: "typed";
  readonly terms: string;
  readonly columns: readonly string[] | undefined;
}

export type TextQuery = TypedQuery | StructuredQuery;

/** What the engine's binding takes as a query. */
export function toNative(query: TextQuery): object {
  if (query.kind === "typed") return { query: query.terms, columns: query.columns ?? null };
  return { query: (structured(query) as unknown as { readonly inner: object }).inner };
}

function structured(query: StructuredQuery): FullTextQuery {
  const engine = loadEngine();
  switch (query.kind) {
    case "match":
      return new engine.MatchQuery(query.terms, query.column, {
        ...query,
        // The client's types leave out null, which its code passes on.
        fuzziness: query.fuzziness as number,
        operator: query.operator as never,
      });
    case "phrase":
      return new engine.PhraseQuery(query.terms, query.column, { slop: query.slop });
    case "multiMatch":
      return new engine.MultiMatchQuery(query.terms, [...query.columns], {
        ...(query.boosts !== undefined && { boosts: [...query.boosts] }),
        operator: query.operator as never,
      });
    case "boost":
      return new engine.BoostQuery(structured(query.positive), structured(query.negative), {
        ...(query.negativeBoost !== undefined && { negativeBoost: query.negativeBoost }),
      });
    case "boolean":
      return new engine.BooleanQuery(query.parts.map(([occur, part]) => [occur as never, structured(part)]));
  }
}
