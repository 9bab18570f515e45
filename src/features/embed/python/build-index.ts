/** Builds a vector index with pylance, which can be given a trained model. The client for Node trains it at each try. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CreateIndexAction } from "../../../actions/model/action.ts";
import { firstLine } from "../../../errors/migrate-error.ts";
import type { DataType } from "../../../schema/data-type.ts";
import { distanceOf, type IndexType } from "../../../schema/table-index.ts";
import type { TableFiles } from "../../../targets/contract/row-access.ts";
import { protocolKinds } from "../../../wire/lance/lance-index.ts";
import { runScript } from "./run-script.ts";

export interface IndexBuild {
  /** The program that has the package pylance. */
  readonly python: string;
  readonly action: CreateIndexAction;
  /** The type of the column. */
  readonly type: DataType;
  readonly table: TableFiles;
}

/** The version with the index; or why it is not built; or that this is not known, and why. */
export type BuiltIndex = { readonly version: number } | { readonly problem: string; readonly inDoubt: boolean };

interface BuilderMessage {
  readonly ask: string;
  readonly preempted: boolean;
  readonly built: number;
  readonly problem: string;
  readonly missing: string;
}

/**
 * `mayWrite`: throws if this run may not write any more; called before each try. Throws if `signal` is aborted. A try that
 * has begun is awaited, as it may make a version.
 */
export async function buildIndex(
  { python, action, type, table }: IndexBuild,
  mayWrite: () => Promise<void>,
  signal?: AbortSignal,
): Promise<BuiltIndex> {
  const length = lengthOf(type);
  if (length === undefined) return { problem: "its column holds no vectors", inDoubt: false };
  let isTrying = false;
  const idle = new AbortController();
  const stop = () => isTrying || idle.abort(signal?.reason);
  signal?.addEventListener("abort", stop);
  let [version, problem]: [number?, string?] = [];
  // Of this process, which is not killed when it is interrupted.
  const folder = await mkdtemp(join(tmpdir(), "lance-migrate-index-"));
  try {
    const task = { table: table.uri, options: table.options ?? null, folder, ...taskOf(action, length) };
    const failed = await runScript<BuilderMessage>(
      { python, name: "index_column.py", task },
      async ({ ask, preempted, built, problem: reason, missing }, answer) => {
        if (preempted === true || built !== undefined) isTrying = false;
        version = built ?? version;
        problem = reason ?? missing ?? problem;
        if (preempted === true || ask !== undefined) signal?.throwIfAborted();
        if (ask === undefined) return;
        await mayWrite();
        isTrying = true;
        answer("yes");
      },
      idle.signal,
    );
    if (version !== undefined) return { version };
    return { problem: firstLine(problem ?? failed ?? "it ended early"), inDoubt: isTrying };
  } finally {
    signal?.removeEventListener("abort", stop);
    await rm(folder, { recursive: true, force: true });
  }
}

/** With the defaults of the client, of version 0.39. */
function taskOf({ name, index, replace = false }: CreateIndexAction, length: number): object {
  const { path, kind, options } = index;
  const { numPartitions = null, numSubVectors = usualParts(length), sampleRate = 256, maxIterations = 50 } = options;
  return {
    column: path,
    dimension: length,
    name,
    kind: protocolKinds[kind],
    metric: distanceOf(index),
    replace,
    partitions: numPartitions,
    partition_size: partitionSize(kind),
    sub_vectors: kind.endsWith("Pq") ? numSubVectors : null,
    // The client ignores both parameters for hnswPq.
    bits: kind === "ivfPq" ? (options["numBits"] ?? 8) : 8,
    code_max_iters: kind === "ivfPq" ? maxIterations : 50,
    sample_rate: sampleRate,
    max_iters: maxIterations,
    parameters: parametersOf(index),
  };
}

function parametersOf({ kind, options }: IndexType): object {
  if (kind === "ivfRq") return { num_bits: options["numBits"] ?? 1 };
  return kind.startsWith("hnsw") ? { m: options["m"] ?? 20, ef_construction: options["efConstruction"] ?? 300 } : {};
}

function partitionSize(kind: IndexType["kind"]): number {
  if (kind.startsWith("hnsw")) return 2 ** 20;
  return kind === "ivfPq" ? 8192 : 4096;
}

function usualParts(length: number): number {
  return [16, 8].map((size) => length / size).find(Number.isInteger) ?? 1;
}

function lengthOf(type: DataType): number | undefined {
  if (type.kind === "list") return lengthOf(type.item.type);
  return type.kind === "fixedSizeList" ? type.length : undefined;
}
