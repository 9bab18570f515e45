/** A query as plain data, which both clients understand: ask.ts and ask.py. */

export interface Query {
  readonly table: string;
  /** The number or the tag that is checked out. */
  readonly version?: number | string | undefined;
  /** `rowIds` and `offsets` take the rows of `places`. */
  readonly what: "rows" | "count" | "rowIds" | "offsets";
  readonly places?: readonly number[] | undefined;
  readonly filter?: string | undefined;
  readonly postfilter?: boolean | undefined;
  readonly columns?: readonly string[] | undefined;
  /** Pairs of a name and an SQL expression. */
  readonly expressions?: readonly (readonly [string, string])[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly orderBy?: readonly Ordering[] | undefined;
  readonly withRowId?: boolean | undefined;
  readonly fastSearch?: boolean | undefined;
  readonly nearest?: Nearest | undefined;
  readonly text?: Text | undefined;
  /** Where a text that a person typed is looked for. */
  readonly textColumns?: readonly string[] | undefined;
  /** With the rows of both searches, by the reciprocal of their ranks. */
  readonly rerank?: boolean | undefined;
  /** Which of the two interfaces of the client for Python is used. */
  readonly isAsync: boolean;
}

export interface Ordering {
  readonly column: string;
  readonly ascending?: boolean | undefined;
  readonly nullsFirst?: boolean | undefined;
}

export interface Nearest {
  readonly vectors: readonly (readonly number[])[];
  /** What the client is given: a list of numbers, or an array of this type (of float64, for Python alone). */
  readonly type?: "float64" | "uint8" | undefined;
  readonly column?: string | undefined;
  readonly distanceType?: string | undefined;
  readonly nprobes?: number | undefined;
  readonly minimumNprobes?: number | undefined;
  readonly maximumNprobes?: number | undefined;
  readonly lower?: number | undefined;
  readonly upper?: number | undefined;
  readonly ef?: number | undefined;
  readonly refineFactor?: number | undefined;
  readonly bypassIndex?: boolean | undefined;
}

export type Occur = "MUST" | "SHOULD" | "MUST_NOT";
export type Text =
  | string
  | { readonly kind: "match"; readonly text: string; readonly column: string; readonly options: MatchOptions }
  | { readonly kind: "phrase"; readonly text: string; readonly column: string; readonly slop?: number | undefined }
  | { readonly kind: "boost"; readonly positive: Text; readonly negative: Text; readonly by?: number | undefined }
  | MultiMatch
  | { readonly kind: "boolean"; readonly parts: readonly (readonly [Occur, Text])[] };

export interface MatchOptions {
  readonly boost?: number | undefined;
  readonly fuzziness?: number | null | undefined;
  readonly maxExpansions?: number | undefined;
  readonly operator?: "AND" | "OR" | undefined;
  readonly prefixLength?: number | undefined;
}

export interface MultiMatch {
  readonly kind: "multiMatch";
  readonly text: string;
  readonly columns: readonly string[];
  readonly boosts?: readonly number[] | undefined;
  readonly operator?: "AND" | "OR" | undefined;
}

/** What a client answered: a table, or what it threw. */
export type Answer = Found | { readonly error: string };

export type Ask = (query: Query) => Promise<Answer>;

export interface Found {
  /** A name, and what else the schema states of the column, as text. */
  readonly columns: readonly (readonly [string, string])[];
  /** Each cell as text. */
  readonly rows: readonly (readonly string[])[];
}
