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
import { cpSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { python, writeEmbeddingProject } from "./embedding-scene.ts";
import { measureTree, median, type Used } from "./measure.ts";
import { bin, optionsOf, temporaryFolder } from "./project.ts";

const values = optionsOf({
  rows: "30000,100000,300000",
  length: "768",
  batch: "64",
  fragment: "25000",
  rounds: "1",
  only: "",
});
const sizes = values.rows.split(",").map(Number);
const { length } = values;
const work = temporaryFolder();

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

interface Measured extends Used {
  /** In MB. */
  readonly peak: number;
  /** Of the table. */
  readonly versions: number;
}

type What = "bare script" | "prepare" | "up after it";
const runs = new Map<string, Measured[]>();

for (const size of sizes) await makeProject(size);
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
print();

async function makeProject(size: number): Promise<void> {
  const words = "which has some more words, so that it is about as long as the description of a thing in a shop is";
  const keep = `vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(windows[at].reshape(-1)), ${length})
    lance.write_dataset(pyarrow.table({"vector": vectors}), "values.lance", mode="append")`;
  await writeEmbeddingProject(join(work, `pristine-${size}`), size, {
    length,
    fragment: values.fragment,
    texts: `[f"document {id}, ${words}" for id in ids]`,
    also: keep,
    options: `, batch: ${values.batch}`,
    files: { "bare.py": bare },
  });
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

async function measure(folder: string, command: readonly string[]): Promise<Measured> {
  const versions = versionsIn(folder);
  let peak = 0;
  const env = { MIGRATE_PYTHON: python };
  const used = await measureTree(command, { cwd: folder, env, every: 100 }, (pid) => {
    peak = Math.max(peak, memoryOf(pid));
  });
  return { ...used, peak: peak / 1e3, versions: versionsIn(folder) - versions };
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
