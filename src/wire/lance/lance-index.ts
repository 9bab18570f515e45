/** Indexes as the engine describes them, and the REST protocol's names for index parameters. */
import { formatPath, parsePath } from "../../schema/path.ts";
import type { FoundIndex, IndexKind, IndexOption, TableIndex } from "../../schema/table-index.ts";
import { stuckParameters } from "./index-parameters.ts";

/** The protocol's name for each kind. */
export const protocolKinds: Readonly<Record<IndexKind, string>> = {
  btree: "BTREE",
  bitmap: "BITMAP",
  labelList: "LABEL_LIST",
  fts: "FTS",
  fm: "FM",
  ivfFlat: "IVF_FLAT",
  ivfPq: "IVF_PQ",
  ivfRq: "IVF_RQ",
  hnswPq: "IVF_HNSW_PQ",
  hnswSq: "IVF_HNSW_SQ",
};

/** The kinds by the names that the engine and services use, in capitals and without underscores. */
const kinds = new Map<string, IndexKind>([
  ...Object.entries(protocolKinds).map(([kind, name]) => [plainName(name), kind as IndexKind] as const),
  ["INVERTED", "fts"],
  ["HNSWPQ", "hnswPq"],
  ["HNSWSQ", "hnswSq"],
]);

function plainName(name: string): string {
  return name.replaceAll("_", "").toUpperCase();
}

/** Undefined for an unknown kind. */
export function indexKindOf(name: string): IndexKind | undefined {
  return kinds.get(plainName(name));
}

const vectorOptions: Readonly<Record<string, string>> = {
  distanceType: "distance_type",
  numPartitions: "num_partitions",
  numSubVectors: "num_sub_vectors",
  numBits: "num_bits",
  maxIterations: "max_iterations",
  sampleRate: "sample_rate",
  m: "m",
  efConstruction: "ef_construction",
};

const textOptions: Readonly<Record<string, string>> = {
  withPosition: "with_position",
  baseTokenizer: "base_tokenizer",
  language: "language",
  maxTokenLength: "max_token_length",
  lowercase: "lower_case",
  stem: "stem",
  removeStopWords: "remove_stop_words",
  customStopWords: "custom_stop_words",
  asciiFolding: "ascii_folding",
  ngramMinLength: "min_ngram_length",
  ngramMaxLength: "max_ngram_length",
  prefixOnly: "prefix_only",
  blockSize: "block_size",
};

/** The protocol's names of parameters, by the engine's. */
export const protocolOptions: Readonly<Record<string, string>> = { ...vectorOptions, ...textOptions };

/** An index from its description; undefined if it is on no column. */
export function toIndex(type: string | undefined, path: string | undefined, details: unknown): FoundIndex | undefined {
  if (path === undefined) return undefined;
  const kind = indexKindOf(type ?? "");
  // The engine quotes names that need no quotes.
  const plain = formatPath(parsePath(path));
  if (kind === undefined) return unknownIndex(type, plain);
  const stuck = stuckParameters(kind, details, Object.values(placesOf(kind)));
  return { path: plain, kind, options: optionsOf(kind, details), ...(stuck !== undefined && { stuck }) };
}

/** An index of a kind that the engine's client can't create. */
export function unknownIndex(kind: string | undefined, path: string): FoundIndex {
  const stuck = kind === undefined ? "its kind is unknown" : `lance-migrate can't create an index of the kind ${kind}`;
  return { path, kind: kind ?? "unknown", options: {}, stuck };
}

/**
 * The parameters for recreating the index: all that the engine reports. It does not report the number of partitions.
 */
function optionsOf(kind: IndexKind, details: unknown): TableIndex["options"] {
  const at = (path: readonly string[]): unknown =>
    path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], details);
  const found = Object.entries(placesOf(kind)).flatMap(([option, path]) => {
    const value = at(path);
    const plain = option === "distanceType" && typeof value === "string" ? value.toLowerCase() : value;
    const known = ["maxIterations", "sampleRate"].includes(option) ? Number(plain) : plain;
    return isOption(known) ? [[option, known] as const] : [];
  });
  return Object.fromEntries(found);
}

/** The path of each parameter in the details. */
function placesOf(kind: IndexKind): Readonly<Record<string, readonly string[]>> {
  if (kind === "fts") return textDetails;
  if (kind !== "hnswSq") return vectorDetails;
  // The engine reports bits for it that no builder takes.
  const { numBits: _, ...settable } = vectorDetails;
  return settable;
}

const textDetails = Object.fromEntries(Object.entries(textOptions).map(([option, name]) => [option, [name]]));

function isOption(value: unknown): value is IndexOption {
  if (Array.isArray(value)) return value.every((one) => typeof one === "string");
  return ["string", "number", "boolean"].includes(typeof value) && !Number.isNaN(value);
}

const vectorDetails = {
  distanceType: ["metric_type"],
  numSubVectors: ["compression", "num_sub_vectors"],
  numBits: ["compression", "num_bits"],
  m: ["hnsw", "max_connections"],
  efConstruction: ["hnsw", "construction_ef"],
  maxIterations: ["runtime_hints", "lance.ivf.max_iters"],
  sampleRate: ["runtime_hints", "lance.ivf.sample_rate"],
} as const;
