/** Computed columns that Python loads with files of their own: pylance and the clients read each value, and no row moves. */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyName, keptMark, preparedMark } from "../../src/actions/rewrite/prepared-columns.ts";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { lacks } from "../support/needs.ts";
import { aProject, type Project, onStderr } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { addRows, lancedb } from "../support/tables.ts";
import { startJudge } from "./judge.ts";

const [fragments, size] = [3, 150];
const draft = copyName(preparedMark("embedding_old"));
const ids = (count: number) => Array.from({ length: count }, (_, id) => id);
const vectorOf = (text: string) => [text.length, Number(text.split(" ")[1] ?? -1), 0.5];

const embedder = (fails = "") => `import { appendFileSync } from "node:fs";
export default async function embed(rows: { text: string }[]) {
  ${fails}
  appendFileSync("log.txt", rows.map(({ text }) => text + "\\n").join(""));
  return rows.map(({ text }) => [text.length, Number(text.split(" ")[1] ?? -1), 0.5]);
}
`;

interface Row {
  readonly id: number;
  readonly text: string;
  readonly embedding: readonly number[];
}

const rowsFrom = (first: number, count: number): readonly Row[] =>
  Array.from({ length: count }, (_, at) => ({
    id: first + at,
    text: `text ${first + at}`,
    embedding: [first + at, 1],
  }));

/** A table of several fragments with two indexes, and a pending migration that changes its embedding model. */
async function aScene(options = "", rows = size): Promise<Project> {
  const project = aProject("shared");
  project.migration(
    "0001_docs.ts",
    `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8(), embedding: m.vector(2) }),`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  for (let part = 0; part < fragments; part++)
    await addRows(project.database, "docs", rowsFrom(part * rows, rows) as unknown as Record<string, unknown>[]);
  const docs = await docsIn(project);
  await docs.createIndex("id", { config: lancedb.Index.btree() });
  await docs.createIndex("text", { config: lancedb.Index.fts() });
  project.write("code/new.ts", embedder());
  const how = `from: ["text"], key: "id", with: "./code/new.ts", version: "2", batch: 50, concurrency: 1, ${options}`;
  project.migration("0002_model.ts", `m.reembedColumn("docs", "embedding", { type: m.vector(3), ${how} }),`);
  return project;
}

async function docsIn({ database }: Project) {
  return await (await lancedb.connect(database)).openTable("docs");
}

async function addressesIn(project: Project): Promise<ReadonlyMap<number, number>> {
  const found = await (await docsIn(project)).query().select(["id", "_rowaddr"]).toArray();
  return new Map(found.map((row) => [Number(row.id), Number(row._rowaddr)]));
}

async function unindexed(project: Project): Promise<readonly unknown[]> {
  const docs = await docsIn(project);
  return await Promise.all(["id_idx", "text_idx"].map(async (name) => (await docs.indexStats(name))?.numUnindexedRows));
}

test("doctor and plan state which Python loads values, or why none does", async () => {
  const project = await aScene();
  const usable = pythonWith(...officialPackages);
  const named = `${usable} has pylance 14.0.2`;
  const doctor = async (...args: string[]) => await project.migrate(["doctor", ...args]);
  expect((await doctor()).stdout).toContain(
    "no   loads computed columns with Python: no Python is configured (--python, MIGRATE_PYTHON, python), and there is no .venv with pylance beside the configuration, so values are merged into the table, which writes whole rows",
  );
  expect((await doctor("--python", usable)).stdout).toContain(`yes  loads computed columns with Python: ${named}`);
  const { stdout } = await project.migrate(["doctor", "--python", "no-python", "--json"]);
  expect(JSON.parse(stdout)).toMatchObject({
    fit: true,
    findings: expect.arrayContaining([
      expect.objectContaining({
        found: false,
        needed: false,
        detail: expect.stringContaining("no-python can't be started"),
      }),
    ]),
  });
  expect((await project.migrate(["plan"])).stdout).toContain("values are merged into the table");
  // A setting, which the variable overrides.
  const local = `targets: { local: { kind: "lance", uri: ".lancedb" } }`;
  project.write("migrate.config.ts", `export default { python: ${JSON.stringify(usable)}, ${local} };`);
  expect((await project.migrate(["plan"])).stdout).toContain(
    `values are loaded as separate files of the column: ${named}`,
  );
  expect((await project.migrate(["plan"], { MIGRATE_PYTHON: "another" })).stdout).toContain("another can't be started");
  expect(await project.migrate(["up"])).toMatchObject(onStderr(0, "values loaded with files"));
});

const withPython = (python = pythonWith(...officialPackages)) => ({ MIGRATE_PYTHON: python });

/** The new values as the embedder gives them, and the old ones as they were. */
async function expectRight(project: Project, rows: readonly Row[]): Promise<void> {
  await using judge = startJudge();
  // The old column keeps the marks beside it.
  await (await docsIn(project)).dropColumns(["_lance_migrate_kept_embedding_old"]);
  // In the order in which they are stored.
  const stored = [...(await addressesIn(project)).keys()];
  const ordered = rows.toSorted((one, other) => stored.indexOf(one.id) - stored.indexOf(other.id));
  const wanted = ordered.map(({ embedding, ...row }) => ({
    ...row,
    embedding_old: embedding,
    embedding: vectorOf(row.text),
  }));
  expect(await judge.difference(join(project.database, "docs.lance"), wanted)).toBeNull();
  expect((await (await lancedb.connect(project.database)).tableNames()).toSorted()).toEqual(["_migrations", "docs"]);
}

test.skipIf(lacks("python"))(
  "no row moves, indexes cover what they covered, and each value is that of its row",
  async () => {
    const project = await aScene();
    const before = await addressesIn(project);
    const prepared = await project.migrate(["prepare"], withPython());
    expect(prepared).toMatchObject(
      onStderr(0, `docs.embedding: ${fragments * size} values loaded with files of the column\n`),
    );
    expect(await addressesIn(project)).toEqual(before);
    expect(await unindexed(project)).toEqual([0, 0]);
    expect(await project.migrate(["up"], withPython())).toMatchObject({ code: 0 });
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    await expectRight(project, rowsFrom(0, fragments * size));
  },
);

test.skipIf(lacks("python"))(
  "rows that were deleted, changed, added and compacted since they were computed",
  async () => {
    const project = await aScene();
    project.write(
      "code/new.ts",
      embedder(`if (rows.some(({ text }) => text === "text 300")) throw new Error("not yet");`),
    );
    expect(await project.migrate(["prepare"], withPython())).toMatchObject({ code: 1 });
    const docs = await docsIn(project);
    await docs.delete("id % 10 = 3");
    await docs.update({ where: "id = 7", values: { text: "text 7000" } });
    // Changes what the value is not computed from.
    await docs.update({ where: "id = 8", values: { embedding: [8, 2] } });
    await docs.add([{ id: 900, text: "text 900", embedding: [900, 1] }]);
    await docs.optimize();
    project.write("code/new.ts", embedder());
    expect(await project.migrate(["prepare"], withPython())).toMatchObject({ code: 0 });
    expect(await project.migrate(["up"], withPython())).toMatchObject({ code: 0 });
    const rows = rowsFrom(0, fragments * size).filter(({ id }) => id % 10 !== 3);
    const now = rows.map((row) => ({
      ...row,
      ...(row.id === 7 && { text: "text 7000" }),
      ...(row.id === 8 && { embedding: [8, 2] }),
    }));
    await expectRight(project, [...now, ...rowsFrom(900, 1)]);
  },
);

/** Runs the script, and kills it after its first commit. */
const killing = (python: string) => `#!${python}
import subprocess, sys
child = subprocess.Popen([${JSON.stringify(python)}, *sys.argv[1:]], stdin=sys.stdin, stdout=subprocess.PIPE)
for line in child.stdout:
    sys.stdout.buffer.write(line)
    sys.stdout.flush()
    if b"loaded" in line:
        child.kill()
        sys.exit(1)
`;

/** In the moment before each of the first commits, an application changes another row of the fragment. */
const busy = (change: string) => `import lance, pyarrow
commit = lance.LanceDataset.commit
turns = iter(range(9))
def late(uri, *given, **options):
    turn = next(turns, None)
    if turn is not None:
        docs, text = lance.dataset(uri), f"text {900 + turn}"
        ${change}
    return commit(uri, *given, **options)
lance.LanceDataset.commit = staticmethod(late)
`;

const update = `docs.update({"text": f"'{text}'"}, where=f"id = {turn}")`;

const changes = [
  // The rows move to another fragment.
  ["updates", update, 9, 9],
  // The fragment gets new files of the other columns, which does not disturb that of the new one.
  [
    "merges",
    `docs.merge_insert("id").when_matched_update_all().execute(pyarrow.table({"id": [turn], "text": [text]}))`,
    1,
    0,
  ],
  // The fragment and its neighbours are no more.
  ["compacts", `docs.optimize.compact_files()`, 0, 0],
] as const;

test.skipIf(lacks("python")).each(ofThisCommit(changes, changes.length))(
  "a fragment whose rows an application changes again and again is loaded: %s",
  async (_, change, changed, moved) => {
    const project = await aScene();
    project.write("packages/sitecustomize.py", busy(change));
    const environment = { ...withPython(), PYTHONPATH: join(project.folder, "packages") };
    const { code, stderr } = await project.migrate(["prepare"], environment);
    const all = fragments * size;
    expect({ code, stderr }).toMatchObject(
      onStderr(0, `docs.embedding: ${all - moved} values loaded with files of the column\n`),
    );
    // The few rows that are merged are no reason to write all others again.
    const places = new Set([...(await addressesIn(project)).values()].map((address) => Math.floor(address / 2 ** 32)));
    if (moved > 0) expect(places.size).toBeGreaterThan(fragments);
    expect(await project.migrate(["up"], withPython())).toMatchObject({ code: 0 });
    await expectRight(
      project,
      rowsFrom(0, all).map((row) => (row.id < changed ? { ...row, text: `text ${900 + row.id}` } : row)),
    );
  },
);

test.skipIf(lacks("python")).each(ofThisCommit([true, false], 2))(
  "a rollback beside an application computes only the rows that it has changed, with Python: %s",
  async (hasPython) => {
    const project = await aScene(`down: { with: "./code/old.ts", version: "1" }`);
    project.write("code/old.ts", embedder().replace("log.txt", "old.txt").replace(", 0.5]", "]"));
    expect(await project.migrate(["up"], withPython())).toMatchObject({ code: 0 });
    const docs = await docsIn(project);
    await docs.update({ where: "id = 300", values: { text: "text 3000" } });
    // What a run has left that was killed while it loaded the marks.
    await docs.addColumns([{ name: draft, valueSql: "cast('other' as string)" }]);
    project.write("packages/sitecustomize.py", busy(update));
    const environment = { ...withPython(), PYTHONPATH: join(project.folder, "packages") };
    const { code, stderr } = await project.migrate(["down", "--yes"], hasPython ? environment : {});
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining("can't be loaded") });
    const changed = hasPython ? ids(9) : [];
    expect(new Set(readFileSync(join(project.folder, "old.txt"), "utf8").trim().split("\n"))).toEqual(
      new Set(["text 3000", ...changed.map((id) => `text ${900 + id}`)]),
    );
    const rows = rowsFrom(0, fragments * size).map((row) => {
      const text = row.id === 300 ? "text 3000" : changed.includes(row.id) ? `text ${900 + row.id}` : row.text;
      return { ...row, text, ...(text !== row.text && { embedding: vectorOf(text).slice(0, 2) }) };
    });
    const found = await (await docsIn(project)).query().toArray();
    const columns = Object.keys(found[0]!.toJSON());
    expect(columns.filter((name) => name.startsWith("_lance_migrate"))).toEqual([keptMark("embedding")]);
    const given = found.map(({ id, text, embedding }) => ({ id: Number(id), text, embedding: [...embedding] }));
    expect(given.toSorted((one, other) => one.id - other.id)).toEqual(rows);
  },
);

test.skipIf(lacks("python"))("what Python can't load is merged, and the run states why", async () => {
  // Fragments of which two are not committed together.
  const rows = 6_000;
  const project = await aScene("", rows);
  project.write("killing.py", killing(pythonWith(...officialPackages)));
  const program = join(project.folder, "killing.py");
  chmodSync(program, 0o755);
  expect(await project.migrate(["prepare"], withPython(program))).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /docs\.embedding: 6,000 values loaded with files of the column; the rest is merged into the table, because the Python script that loads them failed: it ended with exit code 1/,
    ),
  });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await expectRight(project, rowsFrom(0, fragments * rows));
});

test.each([
  ["no-such-python", "it can't be started (spawn no-such-python ENOENT)"],
  ["python3", "it lacks a package: "],
])("without a usable Python (%s), all values are merged", async (python, why) => {
  const project = await aScene();
  expect(await project.migrate(["up"], withPython(python))).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(
      `docs.embedding: values are merged into the table, because the Python script that would load them failed: ${why}`,
    ),
  });
  expect(await (await docsIn(project)).countRows("embedding is null")).toBe(0);
});
