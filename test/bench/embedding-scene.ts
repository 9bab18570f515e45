/**
 * A project with a table of texts and vectors, and a migration to another model, which takes its vectors from a pool of
 * random numbers. Needs Python with pylance.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { measureTree } from "./measure.ts";
import { bin, writeMigration, writeProject } from "./project.ts";

export const python = process.env["MIGRATE_PYTHON"] ?? pythonWith(...officialPackages);

export interface Scene {
  /** Of the vectors. */
  readonly length: string;
  /** Rows of each fragment. */
  readonly fragment: string;
  /** An expression of Python with the texts of the rows `ids`. */
  readonly texts: string;
  /** Further statements of Python for each fragment; `at` has the places in the pool of its rows' vectors. */
  readonly also?: string;
  /** Further options of the step. */
  readonly options?: string;
  readonly files?: Readonly<Record<string, string>>;
}

const pool = new Uint8Array(Float32Array.from({ length: 2 ** 20 }, () => Math.fround(Math.random() - 0.5)).buffer);

const embedder = (length: string) => `import { readFileSync } from "node:fs";
const pool = new Float32Array(new Uint8Array(readFileSync(new URL("./pool.bin", import.meta.url))).buffer);
const vectorOf = (text: string) => {
  const start = (Number(/\\d+/.exec(text)![0]) * 7919) % (pool.length - ${length});
  return pool.subarray(start, start + ${length});
};
export default (rows: readonly { readonly text: string }[]) => rows.map(({ text }) => vectorOf(text));
`;

/** The beginning of scripts: `windows` has the vectors of the pool by their place. */
export const poolInPython = (length: string) => `import lance, numpy, pyarrow
pool = numpy.fromfile("pool.bin", dtype=numpy.float32)
windows = numpy.lib.stride_tricks.sliding_window_view(pool, ${length})
`;

const fill = ({ length, fragment, texts, also = "" }: Scene) => `import sys
${poolInPython(length)}
rows = int(sys.argv[1])
uri = ".lancedb/docs.lance"
schema = lance.dataset(uri).schema
random = numpy.random.default_rng(1)
letters = numpy.frombuffer(b"abcdefghijklmnopqrstuvwxyz      ", dtype=numpy.uint8)
for first in range(0, rows, ${fragment}):
    ids = numpy.arange(first, min(first + ${fragment}, rows))
    texts = pyarrow.array(${texts})
    old = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(random.random(len(ids) * ${length}, dtype=numpy.float32)), ${length})
    columns = [pyarrow.array(ids), texts, old]
    lance.write_dataset(pyarrow.table([one.cast(own.type) for one, own in zip(columns, schema)], schema=schema), uri, mode="append")
    at = ids * 7919 % (len(pool) - ${length})
    ${also}
`;

/** Writes the project and its table with that number of rows; the change of the model is pending. */
export async function writeEmbeddingProject(folder: string, rows: number, scene: Scene): Promise<void> {
  const { length, options = "", files = {} } = scene;
  const steps = [`m.createTable("docs", { id: m.int64(), text: m.utf8(), embedding: m.vector(${length}) })`];
  writeProject(folder, { steps, files: { "embed.ts": embedder(length), "fill.py": fill(scene), ...files } });
  writeFileSync(join(folder, "pool.bin"), pool);
  for (const command of [
    [process.execPath, bin, "up", "--quiet"],
    [python, "fill.py", String(rows)],
  ])
    await measureTree(command, { cwd: folder, every: 1_000 }, () => {});
  const given = `type: m.vector(${length}), from: ["text"], key: "id", with: "./embed.ts", version: "1"${options}`;
  writeMigration(folder, 2, `m.reembedColumn("docs", "embedding", { ${given} })`);
}
