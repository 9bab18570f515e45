/**
 * Vector indexes that Python builds, because an application joins files each time that the client builds one: the client
 * and pylance see the same index as that of the client, and searches find as much.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import type { CreateIndexAction } from "../../src/actions/model/action.ts";
import { prepare } from "../../src/features/embed/prepare/prepare.ts";
import { up } from "../../src/commands/up.ts";
import { verifyTables } from "../../src/commands/verify/verify.ts";
import * as m from "../../src/index.ts";
import type { RunEvent } from "../../src/run/events.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { withExecutors } from "../../src/run/executors.ts";
import { createIndex } from "../../src/features/embed/python/train-index.ts";
import { columnsOf } from "../../src/schema/declare/type-builders.ts";
import { formatPath, type Path } from "../../src/schema/path.ts";
import { distanceOf, type IndexType } from "../../src/schema/table-index.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { lacks } from "../support/needs.ts";
import { root, temporaryFolder } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { addRows, lancedb } from "../support/tables.ts";
import { leapingClock, optionsFor, writeMigrations } from "../support/watched.ts";
import { startScript } from "./judge.ts";

const python = () => pythonWith(...officialPackages);
const [size, length] = [600, 16];
/** Around 20 centres, the same each time. */
const vectorOf = (id: number) =>
  Array.from({ length }, (_, at) => Math.sin((id % 20) * (at + 1)) + 0.1 * Math.sin(id * 7 + at * id));
const ids = (first: number, count: number) => Array.from({ length: count }, (_, at) => first + at);

const look = async (task: object) => await startScript("indexes.py").ask(task);

type Row = (id: number) => Record<string, unknown>;
const plainRow: Row = (id) => ({ id, text: `text ${id}`, v: vectorOf(id) });
const plainColumns = { id: m.int64().notNull(), text: m.utf8(), v: m.vector(length) };

async function openIn(folder: string): Promise<Target> {
  return await openLance({ kind: "lance", uri: folder }, { name: "here", folder });
}

async function handleIn(folder: string) {
  return await (await lancedb.connect(folder)).openTable("docs");
}

/**
 * Between each look at a table and the client's call for an index, an application adds rows and joins files, so that the
 * engine refuses that index.
 */
function busy(folder: string, target: Target, row: Row = plainRow): Target & { readonly calls: () => number } {
  let [calls, id] = [0, 10_000];
  return {
    ...target,
    calls: () => calls,
    async execute(action, seen) {
      if (action.kind === "createIndex") {
        calls++;
        for (let file = 0; file < 2; file++) await addRows(folder, "docs", [row(++id)]);
        const { compaction } = await (await handleIn(folder)).optimize();
        expect(compaction.filesRemoved).toBeGreaterThan(0);
      }
      return await target.execute(action, seen);
    },
  };
}

async function aTable(columns = columnsOf(plainColumns), row = plainRow, count = size) {
  const folder = temporaryFolder();
  const target = await openIn(folder);
  await target.execute({ kind: "createTable", table: "docs", columns }, undefined);
  await addRows(folder, "docs", ids(0, count).map(row));
  return { folder, target };
}

const indexOf = (type: IndexType, path: Path = ["v"]): CreateIndexAction => ({
  kind: "createIndex",
  table: "docs",
  name: "by_v",
  index: { path: formatPath(path), ...type },
});

/** With Python, as the client is refused. Returns what is printed. */
async function buildBeside(folder: string, target: Target, action: CreateIndexAction, row?: Row) {
  const printed: string[] = [];
  const emit = (event: RunEvent) => void (event.event === "printed" && printed.push(event.line));
  const project = { python: python(), emit, signal: undefined, mayWrite: async () => {} };
  const able = withExecutors(busy(folder, target, row), { createIndex }, project);
  const { version } = await able.execute(action, await target.describeTable("docs"));
  expect(version).toBe((await target.describeTable("docs"))!.version);
  return printed;
}

/**
 * What the client and pylance know of the index, and its mean recall. The nearest 30 of 600 are compared by their
 * vectors, as the order by codes alone is chance: ivfRq turns the vectors at random for each index (0.28 to 0.42).
 */
async function seenIn(folder: string, { name, index }: CreateIndexAction) {
  const table = await handleIn(folder);
  const [{ indexUuid: _, createdAt: __, sizeBytes: ___, ...found }] = (await table.listIndices()) as [
    Awaited<ReturnType<typeof table.listIndices>>[number],
  ];
  const { numIndexedRows, numUnindexedRows, ...stats } = (await table.indexStats(name))!;
  const model = await look({ place: join(folder, "docs.lance"), name });
  const search = (id: number) =>
    table
      .vectorSearch(vectorOf(id))
      .column(index.path)
      .distanceType(distanceOf(index) as "l2")
      .select(["id", "_distance"])
      .limit(10)
      .refineFactor(3);
  const keysIn = async (query: ReturnType<typeof search>) => (await query.toArray()).map((row) => Number(row.id));
  let hits = 0;
  for (const id of ids(0, 30)) {
    const near = new Set(await keysIn(search(id)));
    hits += (await keysIn(search(id).bypassVectorIndex())).filter((one) => near.has(one)).length;
  }
  // pylance notes the rate and the iterations of the partitions here, too. Nothing reads that.
  const plain = JSON.stringify({ ...found, numIndexedRows: 0 }).replace(/"lance\.(pq|sq)\.\w+":"\d+",/g, "");
  expect(numIndexedRows).toBeGreaterThanOrEqual(size);
  expect(numUnindexedRows).toBe(0);
  return { seen: { found: JSON.parse(plain) as unknown, stats, model }, recall: hits / 300 };
}

// Each kind for each commit, with its own choices or with those of the migration in turn.
const kinds = ofThisCommit<IndexType>(
  [
    m.ivfFlat(),
    m.ivfFlat({ numPartitions: 5, distanceType: "dot" }),
    m.ivfPq({ distanceType: "cosine" }),
    m.ivfPq({ numPartitions: 4, numSubVectors: 8, numBits: 4, sampleRate: 100, maxIterations: 20 }),
    m.ivfRq(),
    m.ivfRq({ numPartitions: 3, numBits: 3, distanceType: "cosine", sampleRate: 90, maxIterations: 30 }),
    m.hnswPq({ numSubVectors: 4, sampleRate: 100, maxIterations: 20 }),
    m.hnswPq({ numPartitions: 2, m: 12, efConstruction: 100, distanceType: "cosine" }),
    m.hnswSq(),
    m.hnswSq({ numPartitions: 2, m: 12, efConstruction: 100, distanceType: "dot", sampleRate: 70, maxIterations: 9 }),
  ],
  2,
);

test.skipIf(lacks("python")).each(kinds)("$kind($options) is as the client builds it", async (type) => {
  const { folder, target } = await aTable();
  const action = indexOf(type);
  await target.execute(action, await target.describeTable("docs"));
  const plain = await seenIn(folder, action);
  await target.execute({ kind: "dropIndex", table: "docs", name: action.name }, await target.describeTable("docs"));
  expect(await buildBeside(folder, target, action)).toEqual([]);
  const built = await seenIn(folder, action);
  expect(built.seen).toEqual(plain.seen);
  expect(built.recall).toBeGreaterThan(plain.recall - 0.05);
});

const untrained = ofThisCommit<{ readonly type: IndexType; readonly path: Path }>(
  [
    { type: m.hnswSq({ numPartitions: 2 }), path: ["v"] },
    { type: m.ivfPq({ numPartitions: 4 }), path: ["s", "a b-ä"] },
  ],
  2,
);

test.skipIf(lacks("python")).each(untrained)(
  "rows that are deleted, or have no vector, do not train $type.kind on $path",
  async ({ type, path }) => {
    const vectors = { v: m.vector(length), s: m.struct({ "a b-ä": m.vector(length) }) };
    const row: Row = (id) => {
      const v = id % 3 === 0 ? null : vectorOf(id);
      return { id, v, s: { "a b-ä": v } };
    };
    const { folder, target } = await aTable(columnsOf({ id: m.int64(), ...vectors }), row, 1_000);
    // Each other one would be a centre of its own.
    await addRows(
      folder,
      "docs",
      ids(1_000, 50).map((id) => ({ id, v: vectorOf(id).map((one) => one * 1e6), s: null })),
    );
    const table = await handleIn(folder);
    await table.delete("id >= 1000 or id % 10 = 5");
    const action = indexOf(type, path);
    await target.execute(action, await target.describeTable("docs"));
    const plain = await seenIn(folder, action);
    await target.execute({ kind: "dropIndex", table: "docs", name: action.name }, await target.describeTable("docs"));
    expect(await buildBeside(folder, target, action, row)).toEqual([]);
    const built = await seenIn(folder, action);
    expect(built.seen).toEqual(plain.seen);
    expect(built.recall).toBeGreaterThan(plain.recall - 0.05);
  },
);

test.skipIf(lacks("python"))("it has as many partitions as the client chooses", async () => {
  const { folder, target } = await aTable(undefined, undefined, 17_000);
  const types = { ivfFlat: m.ivfFlat(), ivfRq: m.ivfRq(), ivfPq: m.ivfPq({ numSubVectors: 2, numBits: 4 }) };
  for (const [kind, type] of ofThisCommit(Object.entries(types), 3)) {
    const partitions = async () => {
      const [count] = (await look({ place: join(folder, "docs.lance"), name: "by_v" })) as [number];
      return [kind, count];
    };
    await target.execute({ ...indexOf(type), replace: true }, await target.describeTable("docs"));
    const plain = await partitions();
    await buildBeside(folder, target, { ...indexOf(type), replace: true });
    expect(await partitions()).toEqual(plain);
    expect(plain).not.toEqual([kind, 1]);
  }
});

test.skipIf(lacks("python"))("the index may be on a field of a struct whose name has a space", async () => {
  const columns = columnsOf({ id: m.int64(), s: m.struct({ "a b-ä": m.vector(length) }) });
  const row: Row = (id) => ({ id, s: { "a b-ä": vectorOf(id) } });
  const { folder, target } = await aTable(columns, row);
  const action = indexOf(m.ivfPq({ numPartitions: 4 }), ["s", "a b-ä"]);
  expect(await buildBeside(folder, target, action, row)).toEqual([]);
  expect(await target.rows!.indexes("docs")).toMatchObject({ by_v: { path: action.index.path, kind: "ivfPq" } });
});

test.skipIf(lacks("python"))("it takes the place of another one, if that is wanted", async () => {
  const { folder, target } = await aTable();
  await target.execute(indexOf(m.ivfFlat()), await target.describeTable("docs"));
  await buildBeside(folder, target, { ...indexOf(m.ivfPq({ distanceType: "cosine" })), replace: true });
  const indexes = await target.rows!.indexes("docs");
  expect(indexes).toMatchObject({ by_v: { kind: "ivfPq", options: { distanceType: "cosine" } } });
});

/** A table whose application joins its files during each call for an index, and a migration that is pending there. */
async function aScene(first: readonly object[], pending: readonly object[] = [], rows = size) {
  const [folder, migrations] = [temporaryFolder(), temporaryFolder()];
  const quiet = await openIn(folder);
  writeMigrations(migrations, [[m.createTable("docs", plainColumns), ...first]]);
  await up(optionsFor(migrations, quiet, leapingClock()));
  await addRows(folder, "docs", ids(0, rows).map(plainRow));
  if (pending.length > 0) writeMigrations(migrations, [[m.createTable("docs", plainColumns), ...first], pending]);
  const target = busy(folder, quiet);
  const options: MigratorOptions = {
    ...optionsFor(migrations, target, leapingClock()),
    folder: temporaryFolder(),
    python: python(),
  };
  return { options, target };
}

const sizes = [
  [size, 1],
  [10_000, 0],
] as const;

test.skipIf(lacks("python")).each(ofThisCommit(sizes, 2))(
  "a prepared column of %i rows gets its index beside an application that joins files",
  async (rows, calls) => {
    const how = {
      type: m.vector(8),
      from: ["text"],
      key: "id",
      with: "./embed.mjs",
      version: "2",
      index: m.ivfPq({ numPartitions: 2, distanceType: "cosine" }),
    };
    const { options, target } = await aScene([], [m.reembedColumn("docs", "v", how)], rows);
    const numbers = `Array.from({ length: 8 }, (_, at) => Math.sin(text.length + at * Number(text.slice(5))))`;
    const code = `export default (rows) => rows.map(({ text }) => ${numbers});\n`;
    writeFileSync(join(options.folder!, "embed.mjs"), code);
    await prepare(options);
    expect(target.calls()).toBe(calls);
    await up(options);
    expect(target.calls()).toBe(calls);
    expect(await target.rows!.indexes("docs")).toMatchObject({ v_idx_2: { path: "v", kind: "ivfPq" } });
    expect(await verifyTables(options)).toMatchObject({ differences: [], stale: [] });
  },
);

const step = m.createIndex("docs", "v", m.ivfPq({ numPartitions: 2 }));

test.skipIf(lacks("python"))("an index of a migration is built beside such an application", async () => {
  const { options, target } = await aScene([], [step]);
  await up(options);
  expect(target.calls()).toBe(1);
  expect(await target.rows!.indexes("docs")).toMatchObject({ v_idx: { path: "v", kind: "ivfPq" } });
});

test.skipIf(lacks("python"))("a deferred index is built beside such an application", async () => {
  const { options, target } = await aScene([step]);
  expect(await verifyTables(options)).toMatchObject({ deferred: [expect.objectContaining({ index: "v_idx" })] });
  await up(options);
  expect(target.calls()).toBe(1);
  expect(await verifyTables(options)).toMatchObject({ differences: [], deferred: [] });
});

test.skipIf(lacks("python"))("without Python, the client is refused each time", async () => {
  const { options, target } = await aScene([], [step]);
  await expect(up({ ...options, python: undefined })).rejects.toThrow("preempted");
  expect(target.calls()).toBe(30);
});

test.skipIf(lacks("python")).each(ofThisCommit([true, false], 2))(
  "Ctrl-C ends the tries (with Python: %s)",
  async (hasPython) => {
    const { options, target } = await aScene([], [step]);
    const control = new AbortController();
    const execute: Target["execute"] = async (action, seen) => {
      if (action.kind === "createIndex") control.abort();
      return await target.execute(action, seen);
    };
    const stopped = { ...options, ...(!hasPython && { python: undefined }), target: { ...target, execute } };
    await expect(up({ ...stopped, signal: control.signal })).rejects.toMatchObject({ code: "ERR_INTERRUPTED" });
    expect(target.calls()).toBe(1);
    await up(options);
    expect(await verifyTables(options)).toMatchObject({ differences: [], doubts: [] });
  },
);

test.skipIf(lacks("python"))("a script whose run has ended does so at once, and leaves nothing wrong", async () => {
  const { folder, target } = await aTable();
  const vectors = { column: "v", dimension: length, partitions: 2, partition_size: 1, sub_vectors: 2, bits: 8 };
  const training = { metric: "l2", sample_rate: 256, max_iters: 50, code_max_iters: 50, parameters: {} };
  const index = { name: "by_v", kind: "IVF_PQ", replace: false, ...vectors, ...training };
  const task = { table: target.rows!.files!("docs").uri, options: null, folder: temporaryFolder(), ...index };
  const child = spawn(python(), [join(root, "python/index_column.py")], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify(task)}\n`);
  expect((await lines.next()).value).toBe('{"ask": "commit"}');
  child.stdin.end("yes\n");
  await once(child, "close");
  await buildBeside(folder, target, { ...indexOf(m.ivfPq()), replace: true });
  await seenIn(folder, indexOf(m.ivfPq()));
});
