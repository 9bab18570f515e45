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
import { cpSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import { poolInPython, python, writeEmbeddingProject } from "./embedding-scene.ts";
import { measureTree, type Used } from "./measure.ts";
import { bin, optionsOf, temporaryFolder } from "./project.ts";

const values = optionsOf({
  rows: "300000",
  shards: "4",
  text: "1000",
  length: "768",
  fragment: "25000",
  python: "",
});
const { length } = values;
const [rows, shards] = [Number(values.rows), Number(values.shards)];
const work = temporaryFolder();

/** Compares each vector with that of the row's text. */
const judge = `${poolInPython(length)}
wrong = rows = 0
for batch in lance.dataset(".lancedb/docs.lance").to_batches(columns=["id", "_lance_migrate_next_embedding"], batch_size=2048):
    at = batch["id"].to_numpy() * 7919 % (len(pool) - ${length})
    found = batch.column(1).flatten().to_numpy(zero_copy_only=False).reshape(-1, ${length})
    wrong += int((found != windows[at]).any(axis=1).sum())
    rows += len(at)
assert rows == ${rows} and wrong == 0, f"{wrong} of {rows} rows are wrong"
`;

interface Measured extends Used {
  /** In MB. */
  readonly peak: number;
  /** In MB, what processes have read that compute a shard or that load, when they were last seen. */
  readonly shards: ReadonlyMap<string, number>;
  readonly loaders: readonly number[];
}

const [one, all] = [await aProject(1), await aProject(rows)];
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
if (values.python !== "") cpSync(all, copy, { recursive: true, verbatimSymlinks: true });
print("one machine that computes", whole);
for (let shard = 1; shard <= shards; shard++) {
  const name = `${shard}/${shards}`;
  const part = print(`shard ${name}`, await run(all, ["prepare", "--shard", name]));
  if (part > 1.2 / shards) process.exitCode = 1;
}
print("the run that loads", await run(all, ["prepare"]));
await measure(all, [python, "judge.py"]);
partOfLoader("one process that loads", wholeLoader);
if (values.python !== "") {
  const args = ["prepare", "--on", "ray", "--shards", String(shards)];
  const { shards: computing, loaders } = await run(copy, args, values.python);
  for (const [name, read] of computing)
    if (print(`on Ray: ${name}`, { read, written: NaN, cpu: NaN, peak: NaN }) > 1.2 / shards) process.exitCode = 1;
  for (const read of loaders)
    if (partOfLoader("on Ray: a process that loads", read) > 1.2 / shards) process.exitCode = 1;
  await measure(copy, [python, "judge.py"]);
}

async function aProject(size: number): Promise<string> {
  const folder = join(work, `project-${size}`);
  const words = `letters[random.integers(0, len(letters), (len(ids), ${values.text}))]`;
  const texts = `[f"document {id}, {bytes(own).decode()}" for id, own in zip(ids, ${words})]`;
  await writeEmbeddingProject(folder, size, {
    length,
    fragment: values.fragment,
    texts,
    files: { "judge.py": judge },
  });
  return folder;
}

async function run(folder: string, args: readonly string[], onRay?: string): Promise<Measured> {
  return await measure(folder, [process.execPath, bin, ...args, "--quiet"], onRay);
}

async function measure(folder: string, command: readonly string[], onRay?: string): Promise<Measured> {
  let peak = 0;
  const seen = new Map<number, Seen>();
  const killed = new Set<string>();
  const env = { MIGRATE_PYTHON: onRay ?? python, RAY_ADDRESS: "local" };
  const used = await measureTree(command, { cwd: folder, env, every: 20 }, (pid) => {
    peak = Math.max(peak, peakOf(pid));
    for (const one of processesIn(folder)) {
      seen.set(one.pid, one);
      // One shard, and the worker of one process that loads, when they have begun.
      const kind = one.shard === undefined ? "loader" : "shard";
      if (onRay === undefined || killed.has(kind) || one.read < 40) continue;
      killed.add(kind);
      process.kill(kind === "shard" ? one.pid : one.parent, "SIGKILL");
    }
  });
  return {
    ...used,
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

/** In kB; 0 if the process has ended. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]);
  } catch {
    return 0;
  }
}
