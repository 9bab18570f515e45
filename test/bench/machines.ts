/**
 * What each of several machines reads and needs that prepare a column with `--shard I/N`, beside one that computes all
 * rows. Processes run one after the other on this machine. Rows have a number, a text of random words and a vector; the code
 * takes its vectors from a pool of random numbers. With `--python FILE`, a Python that has the packages ray and pylance, also
 * on a Ray cluster that is started on this machine, where a shard and a worker that loads are killed.
 * `npm run bench machines [-- --rows N --shards N --text N --length N --fragment N --python FILE]`; needs Linux and Python.
 * Ends with 1 if a shard reads more than 1.2 times its part of the bytes of one machine, or if a vector is wrong.
 *
 * Bytes are those that the processes have asked the kernel to read (`rchar`), without those that they read to start, which
 * are the same on a table with one row. The peak is that of the resident memory.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { officialPackages, pythonWith } from "../clients/client.ts";

const { values } = parseArgs({
  options: {
    rows: { type: "string", default: "300000" },
    shards: { type: "string", default: "4" },
    text: { type: "string", default: "1000" },
    length: { type: "string", default: "768" },
    fragment: { type: "string", default: "25000" },
    python: { type: "string" },
  },
});
const [rows, shards, length] = [values.rows, values.shards, values.length].map(Number) as [number, number, number];
const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(root, "dist", "bin.js");
const python = process.env["MIGRATE_PYTHON"] ?? pythonWith(...officialPackages);
const work = mkdtempSync(join(tmpdir(), "lance-migrate-machines-"));
const poolSize = 2 ** 20;

const files: Readonly<Record<string, string>> = {
  "package.json": '{ "type": "module" }\n',
  "migrate.config.ts": `export default { targets: { one: { kind: "lance", uri: ".lancedb" } } };\n`,
  "migrations/0001_docs.ts": `import { createTable, int64, utf8, vector } from "lance-migrate";
export const up = [createTable("docs", { id: int64(), text: utf8(), embedding: vector(${length}) })];
`,
  "embed.ts": `import { readFileSync } from "node:fs";
const pool = new Float32Array(new Uint8Array(readFileSync(new URL("./pool.bin", import.meta.url))).buffer);
const vectorOf = (text: string) => {
  const start = (Number(/\\d+/.exec(text)![0]) * 7919) % (pool.length - ${length});
  return pool.subarray(start, start + ${length});
};
export default (rows: readonly { readonly text: string }[]) => rows.map(({ text }) => vectorOf(text));
`,
  // Adds the rows to a table that a migration has made.
  "fill.py": `import sys
import lance, numpy, pyarrow
rows = int(sys.argv[1])
uri = ".lancedb/docs.lance"
schema = lance.dataset(uri).schema
random = numpy.random.default_rng(1)
letters = numpy.frombuffer(b"abcdefghijklmnopqrstuvwxyz      ", dtype=numpy.uint8)
for first in range(0, rows, ${values.fragment}):
    ids = numpy.arange(first, min(first + ${values.fragment}, rows))
    words = letters[random.integers(0, len(letters), (len(ids), ${values.text}))]
    texts = pyarrow.array([f"document {id}, {bytes(own).decode()}" for id, own in zip(ids, words)])
    old = pyarrow.array(random.random(len(ids) * ${length}, dtype=numpy.float32))
    columns = [pyarrow.array(ids), texts, pyarrow.FixedSizeListArray.from_arrays(old, ${length})]
    lance.write_dataset(pyarrow.table([one.cast(own.type) for one, own in zip(columns, schema)], schema=schema), uri, mode="append")
`,
  // Compares each vector with that of the row's text.
  "judge.py": `import lance, numpy
pool = numpy.fromfile("pool.bin", dtype=numpy.float32)
windows = numpy.lib.stride_tricks.sliding_window_view(pool, ${length})
wrong = rows = 0
for batch in lance.dataset(".lancedb/docs.lance").to_batches(columns=["id", "_lance_migrate_next_embedding"], batch_size=2048):
    at = batch["id"].to_numpy() * 7919 % (len(pool) - ${length})
    found = batch.column(1).flatten().to_numpy(zero_copy_only=False).reshape(-1, ${length})
    wrong += int((found != windows[at]).any(axis=1).sum())
    rows += len(at)
assert rows == ${rows} and wrong == 0, f"{wrong} of {rows} rows are wrong"
`,
};

const migration = `import { reembedColumn, vector } from "lance-migrate";
export const up = [
  reembedColumn("docs", "embedding", { type: vector(${length}), from: ["text"], key: "id", with: "./embed.ts", version: "1" }),
];
`;

interface Measured {
  /** In seconds, of the process and those that it has started. */
  readonly cpu: number;
  /** In MB. */
  readonly read: number;
  readonly written: number;
  readonly peak: number;
  /** In MB, what processes have read that compute a shard or that load, when they were last seen. */
  readonly shards: ReadonlyMap<string, number>;
  readonly loaders: readonly number[];
}

try {
  const pool = Float32Array.from({ length: poolSize }, () => Math.fround(Math.random() - 0.5));
  const [one, all] = [await aProject(1, pool), await aProject(rows, pool)];
  const start = await run(one, ["prepare", "--shard", "1/1"]);
  const startOfLoader = (await run(one, ["prepare"])).loaders[0]!;
  console.log(
    `${rows.toLocaleString("en")} rows with ${values.text} letters, ${length} floats, ${values.fragment} rows a fragment, Node ${process.versions.node}; ${start.read.toFixed(0)} MB more are read to start\n`,
  );
  console.log("| | MB read | of one | MB written | processor time | peak |\n|---|---|---|---|---|---|");
  const copy = join(work, "copy");
  cpSync(all, copy, { recursive: true, verbatimSymlinks: true });
  const whole = await run(copy, ["prepare", "--shard", "1/1"]);
  const wholeLoader = (await run(copy, ["prepare"])).loaders[0]!;
  rmSync(copy, { recursive: true });
  const print = (name: string, { read, ...others }: Pick<Measured, "read"> & Partial<Measured>) => {
    const part = (read - start.read) / (whole.read - start.read);
    const { written, cpu, peak } = others;
    const more = [written?.toFixed(0), cpu && `${cpu.toFixed(1)} s`, peak && `${peak.toFixed(0)} MB`].map(
      (one) => one ?? "",
    );
    console.log(`| ${[name, (read - start.read).toFixed(1), part.toFixed(3), ...more].join(" | ")} |`);
    return part;
  };
  const partOfLoader = (name: string, loader: number) => {
    const part = (loader - startOfLoader) / (wholeLoader - startOfLoader);
    console.log(`| ${name} | ${(loader - startOfLoader).toFixed(1)} | ${part.toFixed(3)} | | | |`);
    return part;
  };
  if (values.python !== undefined) cpSync(all, copy, { recursive: true, verbatimSymlinks: true });
  print("one machine that computes", whole);
  for (let shard = 1; shard <= shards; shard++) {
    const name = `${shard}/${shards}`;
    const part = print(`shard ${name}`, await run(all, ["prepare", "--shard", name]));
    if (part > 1.2 / shards) process.exitCode = 1;
  }
  print("the run that loads", await run(all, ["prepare"]));
  await measure(all, [python, "judge.py"]);
  partOfLoader("one process that loads", wholeLoader);
  if (values.python !== undefined) {
    const args = ["prepare", "--on", "ray", "--shards", String(shards)];
    const { shards: computing, loaders } = await run(copy, args, values.python);
    for (const [name, read] of computing)
      if (print(`on Ray: ${name}`, { read, written: NaN, cpu: NaN, peak: NaN }) > 1.2 / shards) process.exitCode = 1;
    for (const read of loaders)
      if (partOfLoader("on Ray: a process that loads", read) > 1.2 / shards) process.exitCode = 1;
    await measure(copy, [python, "judge.py"]);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function aProject(size: number, pool: Float32Array): Promise<string> {
  const folder = join(work, `project-${size}`);
  for (const name of ["migrations", "node_modules"]) mkdirSync(join(folder, name), { recursive: true });
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content);
  writeFileSync(join(folder, "pool.bin"), new Uint8Array(pool.buffer));
  await run(folder, ["up"]);
  await measure(folder, [python, "fill.py", String(size)]);
  writeFileSync(join(folder, "migrations/0002_model.ts"), migration);
  return folder;
}

async function run(folder: string, args: readonly string[], onRay?: string): Promise<Measured> {
  return await measure(folder, [process.execPath, bin, ...args, "--quiet"], onRay);
}

async function measure(folder: string, [program, ...args]: readonly string[], onRay?: string): Promise<Measured> {
  const before = used();
  const child = spawn(program!, args, {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, MIGRATE_PYTHON: onRay ?? python, RAY_ADDRESS: "local", LANCE_LOG: "error" },
  });
  let peak = 0;
  const seen = new Map<number, Seen>();
  const killed = new Set<string>();
  const timer = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid!));
    for (const one of processesIn(folder)) {
      seen.set(one.pid, one);
      // One shard, and the worker of one process that loads, when they have begun.
      const kind = one.shard === undefined ? "loader" : "shard";
      if (onRay === undefined || killed.has(kind) || one.read < 40) continue;
      killed.add(kind);
      process.kill(kind === "shard" ? one.pid : one.parent, "SIGKILL");
    }
  }, 20);
  const [code] = (await once(child, "close")) as [number | null];
  clearInterval(timer);
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  const after = used();
  return {
    cpu: after.cpu - before.cpu,
    read: (after.read - before.read) / 1e6,
    written: (after.written - before.written) / 1e6,
    peak: peak / 1e3,
    shards: new Map(
      [...seen.values()].flatMap(({ pid, shard, read }) =>
        shard === undefined ? [] : [[`shard ${shard}, process ${pid}`, read]],
      ),
    ),
    loaders: [...seen.values()].filter(({ shard }) => shard === undefined).map(({ read }) => read),
  };
}

interface Seen {
  readonly pid: number;
  readonly parent: number;
  /** Undefined if it loads. */
  readonly shard: string | undefined;
  /** In MB. */
  readonly read: number;
}

/** The processes in a folder that compute a shard, or that load. */
function processesIn(folder: string): readonly Seen[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      if (!/^\d+$/.test(name) || readlinkSync(`/proc/${name}/cwd`) !== folder) return [];
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8");
      const shard = /--shard\0(\S+?)\0/.exec(command)?.[1];
      if (shard === undefined && !/load_column\.py|Loads values from tables of results/.test(command)) return [];
      const read = Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${name}/io`, "utf8"))![1]) / 1e6;
      const parent = Number(readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]!.split(" ")[1]);
      return [{ pid: Number(name), parent, shard, read }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/** What the processes that this one has started, and those that they have, had used when they ended. */
function used(): { readonly cpu: number; readonly read: number; readonly written: number } {
  // The name of the program, in parentheses, may have spaces.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]!.split(" ");
  const io = readFileSync("/proc/self/io", "utf8");
  const bytes = (name: string) => Number(new RegExp(`${name}: (\\d+)`).exec(io)![1]);
  return { cpu: (Number(fields[13]) + Number(fields[14])) / 100, read: bytes("rchar"), written: bytes("wchar") };
}

/** In kB; 0 if the process has ended. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
  } catch {
    return 0;
  }
}
