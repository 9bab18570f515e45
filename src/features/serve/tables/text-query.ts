/** Full-text queries with a structure, and how the engine is asked for them. */
import { loadEngine } from "../../../engine/engine.ts";
import type { FullTextQuery } from "../../../engine/query.ts";

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

/** The query in the engine's classes. */
export function toEngineQuery(query: StructuredQuery): FullTextQuery {
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
      return new engine.BoostQuery(toEngineQuery(query.positive), toEngineQuery(query.negative), {
        ...(query.negativeBoost !== undefined && { negativeBoost: query.negativeBoost }),
      });
    case "boolean":
      return new engine.BooleanQuery(query.parts.map(([occur, part]) => [occur as never, toEngineQuery(part)]));
  }
}
