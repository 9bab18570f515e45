/** The kinds of indexes, and which types of columns the engine accepts for each (measured). */
import { isBinary, isFloat, isInteger, isTextType, type DataType } from "./data-type.ts";
import { parsePath } from "./path.ts";

export const scalarIndexKinds = ["btree", "bitmap", "labelList"] as const;
export const textIndexKinds = ["fts", "fm"] as const;
export const vectorIndexKinds = ["ivfFlat", "ivfPq", "ivfRq", "hnswPq", "hnswSq"] as const;
export const indexKinds = [...scalarIndexKinds, ...textIndexKinds, ...vectorIndexKinds] as const;
export type IndexKind = (typeof indexKinds)[number];
type PlainIndexKind = Exclude<IndexKind, (typeof vectorIndexKinds)[number]>;

/** The value of a parameter. */
export type IndexOption = string | number | boolean | readonly string[];

/** A kind with its parameters, which have the engine's names. */
export interface IndexType<Kind extends IndexKind = IndexKind> {
  readonly kind: Kind;
  readonly options: Readonly<Record<string, IndexOption>>;
}

export interface TableIndex extends IndexType {
  /** The column that it is on. */
  readonly path: string;
}

/**
 * An index that was found on a table. Another client may have created it with a kind or parameters that the engine's
 * JavaScript client can't create.
 */
export interface FoundIndex extends Omit<TableIndex, "kind"> {
  /** An unknown kind has the engine's name. */
  readonly kind: string;
  /** Why the index can't be recreated as it is, as a clause; undefined if it can. */
  readonly stuck?: string | undefined;
}

export function isRecreatable(index: FoundIndex): index is TableIndex {
  return index.stuck === undefined;
}

export function isVectorIndex({ kind }: Pick<FoundIndex, "kind">): boolean {
  return (vectorIndexKinds as readonly string[]).includes(kind);
}

/**
 * Whether the engine can't create the index, or use it later, until there is a value for it: a vector index has nothing to
 * be trained on, and with an index on a field of a struct that was empty, every `optimize` fails (docs/internals/engine.md).
 */
export function waitsForValues({ kind, path }: Pick<FoundIndex, "kind" | "path">): boolean {
  const isScalar = (scalarIndexKinds as readonly string[]).includes(kind);
  return isVectorIndex({ kind }) || (isScalar && parsePath(path).length > 1);
}

/** What an index is made of, as a word. */
export function valueWord({ kind }: Pick<FoundIndex, "kind">): string {
  return isVectorIndex({ kind }) ? "vector" : "value";
}

/** The name of the distance of a vector index. */
export function distanceOf({ options }: Pick<FoundIndex, "options">): string {
  return String(options["distanceType"] ?? "l2");
}

/**
 * How many values the engine needs to create an index (measured): one for each partition, and one for each code of
 * product quantization; hnswPq ignores `numBits`. In a column of lists, each row counts with all vectors of its list.
 */
export function vectorsNeeded({ kind, options }: Pick<FoundIndex, "kind" | "options">): number {
  const { numPartitions, numBits } = options;
  const bits = kind === "ivfPq" && typeof numBits === "number" ? numBits : 8;
  const codes = kind.endsWith("Pq") ? 2 ** bits : 1;
  return Math.max(typeof numPartitions === "number" ? numPartitions : 1, codes);
}

/** An SQL predicate for the rows whose vectors an index is made of. `sql`: the column, of that type. */
export function holdsVectors(sql: string, type: DataType | undefined): string {
  return type?.kind === "list" ? `array_length(${sql}) > 0` : `${sql} IS NOT NULL`;
}

/** Whether path and kind of two indexes are equal. Parameters are not compared: targets report them differently. */
export function sameIndex(one: FoundIndex | null, other: FoundIndex | null): boolean {
  return one?.path === other?.path && one?.kind === other?.kind;
}

/** Whether the parameters are equal too, as far as they are given. */
export function sameParameters(one: FoundIndex | null, other: FoundIndex | null): boolean {
  const optionsOf = (index: FoundIndex | null) => JSON.stringify(Object.entries(index?.options ?? {}).toSorted());
  return sameIndex(one, other) && optionsOf(one) === optionsOf(other);
}

/** The order of parameters in texts. Others, such as those of `fts`, come after them in their own order. */
const firstOptions: readonly string[] = [
  "distanceType",
  "numPartitions",
  "numSubVectors",
  "numBits",
  "m",
  "efConstruction",
  "maxIterations",
  "sampleRate",
];

function optionPosition(option: string): number {
  const place = firstOptions.indexOf(option);
  return place === -1 ? firstOptions.length : place;
}

/**
 * An index as text: `ivfPq(distanceType: cosine)`. The text does not depend on the order in which a migration or the
 * engine gives the parameters of a vector index.
 */
export function formatIndex({ kind, options }: Pick<FoundIndex, "kind" | "options">): string {
  const words = Object.entries(options)
    .toSorted(([one], [other]) => optionPosition(one) - optionPosition(other))
    .map(([name, value]) => `${name}: ${String(value)}`);
  return words.length === 0 ? kind : `${kind}(${words.join(", ")})`;
}

/** Why the engine can't create an index of that kind on a column of that type; undefined if it can. */
export function indexProblem({ kind, options }: IndexType, type: DataType): string | undefined {
  if (isVectorIndex({ kind }))
    return vectorProblem(options["distanceType"], kind, type) ?? partsProblem({ kind, options }, type);
  const { by, words } = takes[kind as PlainIndexKind];
  return by(type) ? undefined : `is for ${words}`;
}

const isBitmapped = (type: DataType) => isInteger(type) || type.kind === "bool" || isTextOrBinary(type);
const isList = (type: DataType): type is Extract<DataType, { kind: "list" | "largeList" }> =>
  type.kind === "list" || type.kind === "largeList";

const takes: Readonly<Record<PlainIndexKind, { readonly by: (type: DataType) => boolean; readonly words: string }>> = {
  btree: {
    by: (type: DataType) =>
      isInteger(type) ||
      isFloat(type) ||
      ["bool", "utf8", "fixedSizeBinary", "date32", "date64", "time32", "time64", "timestamp"].includes(type.kind),
    words: "numbers, bool, utf8, fixedSizeBinary, dates, times and timestamps",
  },
  bitmap: {
    by: isBitmapped,
    words: "integers, bool, text and binary",
  },
  labelList: {
    by: (type: DataType) => isList(type) && isBitmapped(type.item.type),
    words: "lists of integers, bool, text or binary",
  },
  fts: {
    by: isSearched,
    words: "text and lists of text",
  },
  fm: { by: isTextOrBinary, words: "text and binary" },
};

function vectorProblem(distance: unknown, kind: IndexKind, type: DataType): string | undefined {
  if (type.kind === "list" && type.item.type.kind === "fixedSizeList") {
    if (distance !== "cosine") return 'on a list of vectors takes no distance but "cosine"';
    return vectorProblem(distance, kind, type.item.type);
  }
  if (type.kind !== "fixedSizeList") return "is for vectors";
  const item = type.item.type;
  if (item.kind === "uint8" && distance === "hamming" && kind === "ivfFlat") return undefined;
  if (distance === "hamming") return 'takes the distance "hamming" only as ivfFlat on a vector of uint8';
  return isFloat(item) ? undefined : "is for vectors of floats";
}

/** Why the vectors can't be cut into the parts that the index needs; undefined if they can. */
function partsProblem({ kind, options }: IndexType, type: DataType): string | undefined {
  if (type.kind === "list") return partsProblem({ kind, options }, type.item.type);
  if (type.kind !== "fixedSizeList") return undefined;
  const { length } = type;
  if (kind === "ivfRq" && length % 8 !== 0) return `is for vectors of a length that 8 divides, and this is ${length}`;
  const { numSubVectors, numBits } = options;
  if (typeof numSubVectors !== "number") return undefined;
  if (length % numSubVectors !== 0) return `needs numSubVectors that divides the vector's length of ${length}`;
  return numBits === 4 && numSubVectors % 2 !== 0 ? "needs even numSubVectors with numBits: 4" : undefined;
}

function isSearched(type: DataType): boolean {
  return isTextType(type) || (isList(type) && isSearched(type.item.type));
}

function isTextOrBinary(type: DataType): boolean {
  return isTextType(type) || isBinary(type);
}
