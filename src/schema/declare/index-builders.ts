/** Builders for indexes. Parameters have the engine's names; the engine chooses those that are left out. */
import type { languages } from "./index-options.ts";
import type { IndexKind, IndexType } from "../table-index.ts";

/** The parameters of every vector index. */
interface VectorOptions {
  readonly distanceType?: "l2" | "cosine" | "dot";
  /** When absent, the engine chooses it by the number of rows. */
  readonly numPartitions?: number;
  readonly maxIterations?: number;
  readonly sampleRate?: number;
}

interface FlatOptions extends Omit<VectorOptions, "distanceType"> {
  /** `hamming` is for vectors of uint8. */
  readonly distanceType?: "l2" | "cosine" | "dot" | "hamming";
}

interface QuantisedOptions extends VectorOptions {
  readonly numSubVectors?: number;
  readonly numBits?: number;
}

interface GraphOptions extends VectorOptions {
  readonly m?: number;
  readonly efConstruction?: number;
}

interface TextOptions {
  /** Stores the positions of words, for phrase searches. */
  readonly withPosition?: boolean;
  readonly baseTokenizer?: "simple" | "whitespace" | "raw" | "ngram";
  readonly language?: (typeof languages)[number];
  readonly maxTokenLength?: number;
  readonly lowercase?: boolean;
  readonly stem?: boolean;
  readonly removeStopWords?: boolean;
  /** Replaces the stop words of the language. */
  readonly customStopWords?: readonly string[];
  readonly asciiFolding?: boolean;
  readonly ngramMinLength?: number;
  readonly ngramMaxLength?: number;
  readonly prefixOnly?: boolean;
  readonly blockSize?: 128 | 256;
}

/** For equality, ranges and sorting. */
export const btree = (): IndexType<"btree"> => made("btree");
/** For equality on columns with few distinct values. */
export const bitmap = (): IndexType<"bitmap"> => made("bitmap");
/** For the items of lists. */
export const labelList = (): IndexType<"labelList"> => made("labelList");
/** For parts of text. */
export const fm = (): IndexType<"fm"> => made("fm");
/** For full-text search. */
export const fts = (options: TextOptions = {}): IndexType<"fts"> => made("fts", options);
/** For nearest vectors: partitioned, without quantization. */
export const ivfFlat = (options: FlatOptions = {}): IndexType<"ivfFlat"> => made("ivfFlat", options);
/** For nearest vectors: partitioned, with product quantization. */
export const ivfPq = (options: QuantisedOptions = {}): IndexType<"ivfPq"> => made("ivfPq", options);
/** For nearest vectors: partitioned, with binary quantization. */
export const ivfRq = (options: Omit<QuantisedOptions, "numSubVectors"> = {}): IndexType<"ivfRq"> =>
  made("ivfRq", options);
/** For nearest vectors: in a graph, with product quantization. */
export const hnswPq = (options: QuantisedOptions & GraphOptions = {}): IndexType<"hnswPq"> => made("hnswPq", options);
/** For nearest vectors: in a graph, with scalar quantization. */
export const hnswSq = (options: GraphOptions = {}): IndexType<"hnswSq"> => made("hnswSq", options);

function made<Kind extends IndexKind>(kind: Kind, options: object = {}): IndexType<Kind> {
  return { kind, options: { ...options } as IndexType["options"] };
}
