/**
 * What `migrate prepare` takes to compute the vectors of a new model and to load them with files of the column, and `up`
 * after it, beside a script that does only the least: it reads the same vectors for each fragment, from a table in which
 * they are kept in this order, writes one file of the column and commits it. Whole trees of processes; the code is a module that takes its vectors from a
 * pool of random numbers. Runs with tables of different sizes alternate.
 * `npm run bench prepare [-- --rows 30000,100000 --length N --batch N --fragment N --rounds N]`; needs Linux and Python.
 *
 * Bytes are those that the processes have asked the kernel to read and to write (`rchar` and `wchar`), which are the same
 * on every disk and whatever is cached. The engine maps no data into memory, which these would leave out. The peak is
 * that of the sum of all processes, each with its part of what they share (PSS), sampled every 100 ms.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { median } from "./measure.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "30000,100000,300000" },
    length: { type: "string", default: "768" },
    batch: { type: "string", default: "64" },
    fragment: { type: "string", default: "25000" },
    rounds: { type: "string", default: "1" },
    only: { type: "string" },
  },
});
const sizes = values.rows.split(",").map(Number);
const length = Number(values.length);
const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(root, "dist", "bin.js");
const python = process.env["MIGRATE_PYTHON"] ?? pythonWith(...officialPackages);
const work = mkdtempSync(join(tmpdir(), "lance-migrate-prepare-"));
const poolSize = 2 ** 20;

/** The least that gives each row its vector: the files of one column, one commit for each fragment. */
const bare = `import uuid
import lance, pyarrow
from lance.file import LanceFileWriter
from lance.fragment import DataFile
uri = ".lancedb/docs.lance"
table, values = lance.dataset(uri), lance.dataset("values.lance")
kind = pyarrow.list_(pyarrow.float32(), ${length})
table.add_columns(pyarrow.field("vector", kind))
ids = {field.name(): field.id() for field in table.lance_schema.fields()}
major, minor = (int(part) for part in table.data_storage_version.split("."))
schema = pyarrow.schema([pyarrow.field("vector", kind)])
for fragment, kept in zip(table.get_fragments(), values.get_fragments()):
    name = f"{uuid.uuid4()}.lance"
    with LanceFileWriter(f"{uri}/data/{name}", schema, version=table.data_storage_version) as writer:
        for batch in kept.to_batches(columns=["vector"], batch_size=2048):
            writer.write_batch(batch)
    group = lance.LanceOperation.DataReplacementGroup(fragment.fragment_id, DataFile(name, [ids["vector"]], [0], major, minor))
    table = lance.LanceDataset.commit(uri, lance.LanceOperation.DataReplacement([group]), read_version=table.version)
`;

/** Adds the rows to a table that a migration has made, and keeps their new vectors for the script. */
const fill = `import sys
import lance, numpy, pyarrow
rows = int(sys.argv[1])
uri = ".lancedb/docs.lance"
schema = lance.dataset(uri).schema
random = numpy.random.default_rng(1)
pool = numpy.fromfile("pool.bin", dtype=numpy.float32)
windows = numpy.lib.stride_tricks.sliding_window_view(pool, ${length})
for first in range(0, rows, ${values.fragment}):
    ids = numpy.arange(first, min(first + ${values.fragment}, rows))
    words = "which has some more words, so that it is about as long as the description of a thing in a shop is"
    texts = pyarrow.array([f"document {id}, {words}" for id in ids])
    old = pyarrow.array(random.random(len(ids) * ${length}, dtype=numpy.float32))
    old = pyarrow.FixedSizeListArray.from_arrays(old, ${length})
    columns = [pyarrow.array(ids), texts, old]
    lance.write_dataset(pyarrow.table([one.cast(own.type) for one, own in zip(columns, schema)], schema=schema), uri, mode="append")
    at = ids * 7919 % (len(pool) - ${length})
    vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(windows[at].reshape(-1)), ${length})
    lance.write_dataset(pyarrow.table({"vector": vectors}), "values.lance", mode="append")
`;

const embedder = `import { readFileSync } from "node:fs";
const pool = new Float32Array(new Uint8Array(readFileSync(new URL("./pool.bin", import.meta.url))).buffer);
const vectorOf = (text: string) => {
  const start = (Number(/\\d+/.exec(text)![0]) * 7919) % (pool.length - ${length});
  return pool.subarray(start, start + ${length});
};
export default (rows: readonly { readonly text: string }[]) => rows.map(({ text }) => vectorOf(text));
`;

const migration = `import { reembedColumn, vector } from "lance-migrate";
export const up = [
  reembedColumn("docs", "embedding", { type: vector(${length}), from: ["text"], key: "id", with: "./embed.ts", version: "1", batch: ${values.batch} }),
];
`;

interface Measured {
  /** Of the whole tree, in seconds. */
  readonly cpu: number;
  /** In MB. */
  readonly read: number;
  readonly written: number;
  readonly peak: number;
  /** Of the table. */
  readonly versions: number;
}

type What = "bare script" | "prepare" | "up after it";
const runs = new Map<string, Measured[]>();

try {
  const pool = Float32Array.from({ length: poolSize }, () => Math.fround(Math.random() - 0.5));
  for (const size of sizes) await makeProject(size, pool);
  for (let round = 0; round < Number(values.rounds); round++)
    for (const size of sizes) {
      if (values.only !== "prepare") {
        const folder = copyOf(size);
        await note("bare script", size, folder, [python, "bare.py"]);
        rmSync(folder, { recursive: true });
      }
      if (values.only === "bare") continue;
      const folder = copyOf(size);
      await note("prepare", size, folder, [process.execPath, bin, "prepare", "--quiet"]);
      await note("up after it", size, folder, [process.execPath, bin, "up", "--quiet"]);
      rmSync(folder, { recursive: true });
    }
} finally {
  rmSync(work, { recursive: true, force: true });
}
print();

async function makeProject(size: number, pool: Float32Array): Promise<void> {
  const folder = join(work, `pristine-${size}`);
  for (const name of ["migrations", "node_modules"]) mkdirSync(join(folder, name), { recursive: true });
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  for (const [file, content] of [
    ["package.json", '{ "type": "module" }\n'],
    ["migrate.config.ts", `export default { targets: { one: { kind: "lance", uri: ".lancedb" } } };\n`],
    [
      "migrations/0001_docs.ts",
      `import { createTable, int64, utf8, vector } from "lance-migrate";\nexport const up = [createTable("docs", { id: int64(), text: utf8(), embedding: vector(${length}) })];\n`,
    ],
    ["embed.ts", embedder],
    ["bare.py", bare],
    ["fill.py", fill],
    ["pool.bin", new Uint8Array(pool.buffer)],
  ] as const)
    writeFileSync(join(folder, file), content);
  await measure(folder, [process.execPath, bin, "up", "--quiet"]);
  await measure(folder, [python, "fill.py", String(size)]);
  writeFileSync(join(folder, "migrations/0002_model.ts"), migration);
}

/** Its files are never changed, so that the tables need not be copied. */
function copyOf(size: number): string {
  const from = join(work, `pristine-${size}`);
  const folder = mkdtempSync(join(work, "project-"));
  cpSync(from, folder, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) => !/(docs|values)\.lance\/data\//.test(file),
  });
  for (const table of [".lancedb/docs.lance", "values.lance"])
    for (const file of readdirSync(join(from, table, "data")))
      linkSync(join(from, table, "data", file), join(folder, table, "data", file));
  return folder;
}

async function note(what: What, size: number, folder: string, command: readonly string[]): Promise<void> {
  const measured = await measure(folder, command);
  const key = `${what} ${size}`;
  runs.set(key, [...(runs.get(key) ?? []), measured]);
  console.error(`${key}: ${measured.cpu.toFixed(1)} s of CPU, ${measured.peak.toFixed(0)} MB`);
}

async function measure(folder: string, [program, ...args]: readonly string[]): Promise<Measured> {
  const [before, versions] = [used(), versionsIn(folder)];
  const child = spawn(program!, args, {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, MIGRATE_PYTHON: python, LANCE_LOG: "error" },
  });
  let peak = 0;
  const timer = setInterval(() => (peak = Math.max(peak, memoryOf(child.pid!))), 100);
  const [code] = (await once(child, "close")) as [number | null];
  clearInterval(timer);
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  const after = used();
  return {
    cpu: after.cpu - before.cpu,
    read: (after.read - before.read) / 1e6,
    written: (after.written - before.written) / 1e6,
    peak: peak / 1e3,
    versions: versionsIn(folder) - versions,
  };
}

/** What the processes that this one has started, and those that they have, had used when they ended. */
function used(): { readonly cpu: number; readonly read: number; readonly written: number } {
  // The name of the program, in parentheses, may have spaces.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]!.split(" ");
  const io = readFileSync("/proc/self/io", "utf8");
  const bytes = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(io)![1]);
  return { cpu: (Number(fields[13]) + Number(fields[14])) / 100, read: bytes("rchar"), written: bytes("wchar") };
}

/** In kB, with its children and theirs. */
function memoryOf(pid: number): number {
  try {
    const own = Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))![1]);
    const threads = readdirSync(`/proc/${pid}/task`);
    const children = threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(" ").filter(Boolean),
    );
    return children.reduce((sum, child) => sum + memoryOf(Number(child)), own);
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

function versionsIn(folder: string): number {
  try {
    return readdirSync(join(folder, ".lancedb/docs.lance/_versions")).length;
  } catch {
    return 0;
  }
}

function print(): void {
  const figure = (what: What, size: number): Measured | undefined => {
    const all = runs.get(`${what} ${size}`);
    const of = (name: keyof Measured) => median(all!.map((one) => one[name]));
    return (
      all && { cpu: of("cpu"), read: of("read"), written: of("written"), peak: of("peak"), versions: of("versions") }
    );
  };
  console.log(
    `${length} floats, ${values.batch} rows a call, ${values.fragment} rows a fragment, ${values.rounds} rounds, Node ${process.versions.node}\n`,
  );
  console.log("| rows | | CPU s | µs a row | MB read | MB written | kB a row | peak MB | versions | × CPU | × bytes |");
  console.log("|---|---|---|---|---|---|---|---|---|---|---|");
  for (const size of sizes)
    for (const what of ["bare script", "prepare", "up after it"] as const) {
      const [own, least] = [figure(what, size), figure("bare script", size)];
      if (own === undefined) continue;
      const bytes = own.read + own.written;
      const ratios = least && [own.cpu / least.cpu, bytes / (least.read + least.written)];
      const cells = [
        size.toLocaleString("en"),
        what,
        own.cpu.toFixed(1),
        ((own.cpu * 1e6) / size).toFixed(0),
        own.read.toFixed(0),
        own.written.toFixed(0),
        ((bytes * 1e3) / size).toFixed(1),
        own.peak.toFixed(0),
        String(own.versions),
        ...(ratios ?? []).map((ratio) => ratio.toFixed(2)),
      ];
      console.log(`| ${cells.join(" | ")} |`);
    }
}
