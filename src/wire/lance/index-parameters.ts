/** Parameters in an index's description that the engine's builders can't set. Another client may have set them. */
import type { IndexKind } from "../../schema/table-index.ts";

/**
 * For other parameters, null means that nothing is set. For this one the engine then has a number, and no builder takes
 * null.
 */
const withoutNull = "max_token_length";

interface Parameter {
  /** The path of the parameter in the details. */
  readonly path: readonly string[];
  readonly value: unknown;
}

/**
 * Why an index can't be recreated with the same details, as a clause; undefined if it can. `settable`: the paths of the
 * parameters that builders set.
 */
export function stuckParameters(
  kind: IndexKind,
  details: unknown,
  settable: readonly (readonly string[])[],
): string | undefined {
  const keys = new Set(settable.map(keyOf));
  const all = parametersIn(details);
  const values = new Map(all.map(({ path, value }) => [keyOf(path), value]));
  const own = ownValues(kind, values);
  const other = all.filter(({ path, value }) => {
    const key = keyOf(path);
    if (value === null) return key === withoutNull;
    if (own.has(key)) return value !== own.get(key);
    return !keys.has(key) && !isMute(key) && value !== false && value !== "";
  });
  if (other.length === 0) return undefined;
  const words = other.map(({ path, value }) => `${path.at(-1)!} to ${String(value)}`);
  return `lance-migrate can't set ${words.join(" and ")}`;
}

function parametersIn(details: unknown, parent: readonly string[] = []): readonly Parameter[] {
  if (typeof details !== "object" || details === null || Array.isArray(details)) return [];
  return Object.entries(details).flatMap(([name, value]): readonly Parameter[] => {
    const path = [...parent, name];
    const isLeaf = typeof value !== "object" || value === null || Array.isArray(value);
    return isLeaf ? [{ path, value }] : parametersIn(value, path);
  });
}

function keyOf(path: readonly string[]): string {
  return path.join(" ");
}

const iterations = "runtime_hints lance.ivf.max_iters";
const samples = "runtime_hints lance.ivf.sample_rate";

/**
 * The values that the engine itself gives an index that its client creates (measured;
 * test/contract/foreign-indexes.test.ts).
 */
function ownValues(kind: IndexKind, values: ReadonlyMap<string, unknown>): ReadonlyMap<string, unknown> {
  const isCode = values.get("base_tokenizer") === "code";
  return new Map<string, unknown>([
    ["lance_tokenizer", "text"],
    ["split_identifiers", false],
    ["index_operators", false],
    ["split_on_numerics", isCode],
    ["preserve_original", isCode],
    ["compression rotation_type", "fast"],
    // The builders of these kinds ignore this parameter.
    ...(kind.startsWith("hnsw") ? [["compression num_bits", 8] as const] : []),
    ["hnsw max_level", 7],
    ["runtime_hints lance.hnsw.prefetch_distance", "2"],
    ["runtime_hints lance.skip_transpose", "false"],
    ["runtime_hints lance.pq.kmeans_redos", "1"],
    ["runtime_hints lance.pq.max_iters", kind === "ivfPq" ? (values.get(iterations) ?? "50") : "50"],
    ["runtime_hints lance.pq.sample_rate", "256"],
    ["runtime_hints lance.sq.sample_rate", values.get(samples) ?? "256"],
  ]);
}

/**
 * Parameters that don't matter: the compression type, which follows from the kind, and how much is done at once while
 * the index is built, which leaves nothing in it.
 */
function isMute(key: string): boolean {
  return key === "compression type" || key.startsWith("runtime_hints lance.ivf.shuffle_");
}
