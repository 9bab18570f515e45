/** Builders for indexes, with the engine's parameters under its names; what is left out is the engine's own choice. */
import type { languages } from "./index-options.ts";
import type { IndexKind, IndexType } from "../table-index.ts";

/** Of every vector index. */
export interface VectorOptions {
  readonly distanceType?: "l2" | "cosine" | "dot";
  /** As many as the engine thinks right for the rows when absent. */
  readonly numPartitions?: number;
  readonly maxIterations?: number;
  readonly sampleRate?: number;
}

export interface FlatOptions extends Omit<VectorOptions, "distanceType"> {
  /** `hamming` for vectors of uint8. */
  readonly distanceType?: "l2" | "cosine" | "dot" | "hamming";
}

export interface QuantisedOptions extends VectorOptions {
  readonly numSubVectors?: number;
  readonly numBits?: number;
}

export interface GraphOptions extends VectorOptions {
  readonly m?: number;
  readonly efConstruction?: number;
}

export interface TextOptions {
  /** Keep where words stand, for searches of phrases. */
  readonly withPosition?: boolean;
  readonly baseTokenizer?: "simple" | "whitespace" | "raw" | "ngram";
  readonly language?: (typeof languages)[number];
  readonly maxTokenLength?: number;
  readonly lowercase?: boolean;
  readonly stem?: boolean;
  readonly removeStopWords?: boolean;
  /** Instead of those of the language. */
  readonly customStopWords?: readonly string[];
  readonly asciiFolding?: boolean;
  readonly ngramMinLength?: number;
  readonly ngramMaxLength?: number;
  readonly prefixOnly?: boolean;
  readonly blockSize?: 128 | 256;
}

/** For equality, ranges and order. */
export const btree = (): IndexType<"btree"> => made("btree");
/** For equality, where few different values are. */
export const bitmap = (): IndexType<"bitmap"> => made("bitmap");
/** For what a list holds. */
export const labelList = (): IndexType<"labelList"> => made("labelList");
/** For parts of text. */
export const fm = (): IndexType<"fm"> => made("fm");
/** For searches of words. */
export const fts = (options: TextOptions = {}): IndexType<"fts"> => made("fts", options);
/** For nearest vectors: in partitions, as they are. */
export const ivfFlat = (options: FlatOptions = {}): IndexType<"ivfFlat"> => made("ivfFlat", options);
/** In partitions, with product quantisation. */
export const ivfPq = (options: QuantisedOptions = {}): IndexType<"ivfPq"> => made("ivfPq", options);
/** In partitions, with binary quantisation. */
export const ivfRq = (options: Omit<QuantisedOptions, "numSubVectors"> = {}): IndexType<"ivfRq"> =>
  made("ivfRq", options);
/** In a graph, with product quantisation. */
export const hnswPq = (options: QuantisedOptions & GraphOptions = {}): IndexType<"hnswPq"> => made("hnswPq", options);
/** In a graph, with scalar quantisation. */
export const hnswSq = (options: GraphOptions = {}): IndexType<"hnswSq"> => made("hnswSq", options);

function made<Kind extends IndexKind>(kind: Kind, options: object = {}): IndexType<Kind> {
  return { kind, options: { ...options } as IndexType["options"] };
}
