/**
 * The parameters of each kind of index, and their values (measured). They are checked here because the engine ignores
 * unknown names and crashes on an unknown language.
 */
import { z } from "zod";
import { indexKinds, type IndexKind, type IndexType } from "../table-index.ts";

/** The engine counts with 32 bits; larger numbers wrap around. */
export const largestCount = 2 ** 32 - 1;
export const tooLarge = `must not be larger than ${largestCount}`;
const whole = z
  .int("must be a whole number from 1")
  .min(1, "must be a whole number from 1")
  .max(largestCount, tooLarge);
const flag = z.boolean("must be true or false");

export const languages = [
  "Arabic",
  "Danish",
  "Dutch",
  "English",
  "Finnish",
  "French",
  "German",
  "Greek",
  "Hungarian",
  "Italian",
  "Norwegian",
  "Portuguese",
  "Romanian",
  "Russian",
  "Spanish",
  "Swedish",
  "Tamil",
  "Turkish",
] as const;

const oneOf = (...names: readonly string[]) => z.enum(names, `must be one of ${names.join(", ")}`).optional();

const partitioned = {
  distanceType: oneOf("l2", "cosine", "dot"),
  numPartitions: whole.optional(),
  maxIterations: whole.optional(),
  sampleRate: whole.optional(),
};
const bits = z.literal([4, 8], "must be 4 or 8").optional();
const bitsOfRq = z
  .int("must be a whole number from 1 to 9")
  .min(1, "must be 1 to 9")
  .max(9, "must be 1 to 9")
  .optional();
const fewestLinks = 4;
const links = `must be a whole number from ${fewestLinks}`;
const graph = {
  m: z.int(links).min(fewestLinks, links).max(largestCount, tooLarge).optional(),
  efConstruction: whole.optional(),
};

const text = {
  withPosition: flag.optional(),
  baseTokenizer: z.string("must be a name").min(1, "must be a name").optional(),
  language: oneOf(...languages),
  maxTokenLength: whole.optional(),
  lowercase: flag.optional(),
  stem: flag.optional(),
  removeStopWords: flag.optional(),
  customStopWords: z.array(z.string("must be a list of words"), "must be a list of words").optional(),
  asciiFolding: flag.optional(),
  ngramMinLength: whole.optional(),
  ngramMaxLength: whole.optional(),
  prefixOnly: flag.optional(),
  blockSize: z.literal([128, 256], "must be 128 or 256").optional(),
};

/** A strict object, so that a misspelt name is refused. */
function strict<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape).join(", ") || "none";
  const error: z.core.$ZodErrorMap = (issue) =>
    issue.code === "unrecognized_keys"
      ? `hold an unknown one: ${issue["keys"].join(", ")}; there is ${known}`
      : undefined;
  return z.strictObject(shape, { error });
}

/** The engine refuses fewer candidates than links; these are its defaults. */
const linked = z.refine<{ m?: number | undefined; efConstruction?: number | undefined }>(
  ({ m = 20, efConstruction = 300 }) => efConstruction >= m,
  "must have an efConstruction (300 when absent) of at least m (20 when absent)",
);

const indexOptions = {
  btree: strict({}),
  bitmap: strict({}),
  labelList: strict({}),
  fm: strict({}),
  fts: strict(text),
  ivfFlat: strict({ ...partitioned, distanceType: oneOf("l2", "cosine", "dot", "hamming") }),
  ivfPq: strict({ ...partitioned, numSubVectors: whole.optional(), numBits: bits }),
  ivfRq: strict({ ...partitioned, numBits: bitsOfRq }),
  // The engine ignores its `numBits`.
  hnswPq: strict({ ...partitioned, numSubVectors: whole.optional(), numBits: whole.optional(), ...graph }).check(
    linked,
  ),
  hnswSq: strict({ ...partitioned, ...graph }).check(linked),
} as const satisfies Record<IndexKind, z.ZodType>;

/** An index with its parameters, built or written by hand. */
export const indexType = z.discriminatedUnion(
  "kind",
  indexKinds.map((kind) => z.strictObject({ kind: z.literal(kind), options: indexOptions[kind] })) as never,
  "must be an index such as btree() or ivfPq()",
) as unknown as z.ZodType<IndexType>;
