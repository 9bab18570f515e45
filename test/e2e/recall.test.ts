/** The recall of vector indexes, as a condition and as information. */
import { expect, test } from "vitest";
import type { Project } from "../support/project.ts";
import { addRows, lancedb, rowsOf } from "../support/tables.ts";
import { casesInTurn } from "../support/rounds.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";
import { onStderr, onStdout } from "../support/project.ts";

const inTurn = casesInTurn();

const poor = `m.ivfPq({ distanceType: "cosine", numPartitions: 1, numSubVectors: 2, numBits: 4 })`;
const good = `m.ivfFlat({ distanceType: "cosine", numPartitions: 1 })`;

/** A table of vectors, which 256 codes do not tell apart. */
async function aScene(way: Way = "lance"): Promise<Project> {
  const { data, migrate, ...rest } = await aProjectOn(way);
  const project = { ...rest, migrate: (args: readonly string[]) => migrate(args, key), database: data };
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int64().notNull(), at: m.vector(8) }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const rows = Array.from({ length: 1_000 }, (_, id) => ({
    id,
    at: Array.from({ length: 8 }, (_, item) => Math.sin(id * (item + 1))),
  }));
  await addRows(project.database, "docs", rows);
  return project;
}

function index(project: Project, kind: string, options: object = { minRecall: 0.95, sample: 20 }): void {
  project.migration("0002_index.ts", `m.createIndex("docs", "at", ${kind}, ${JSON.stringify(options)}),`);
}

async function indexesOf({ database }: Project): Promise<readonly string[]> {
  const docs = await (await lancedb.connect(database)).openTable("docs");
  return (await docs.listIndices()).map(({ name }) => name);
}

test.each(inTurn(["lance", "namespace"] as const))(
  "on %s, an index with too low a recall does not stay in the place of another: that has its parameters again",
  async (way) => {
    const project = await aScene(way);
    const details = async () => {
      const docs = await (await lancedb.connect(project.database)).openTable("docs");
      return (await docs.listIndices()).map(({ name, indexType }) => [name, indexType]);
    };
    index(project, good, {});
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    const replace = (kind: string) =>
      project.migration(
        "0003_other.ts",
        `m.createIndex("docs", "at", ${kind}, { minRecall: 0.9, sample: 20, replace: true }),`,
      );
    replace(poor);
    expect(await project.migrate(["up"])).toMatchObject(onStderr(1, "minRecall is 0.9"));
    expect(await details()).toEqual([["at_idx", "IvfFlat"]]);
    replace(`m.hnswSq({ distanceType: "cosine", numPartitions: 1 })`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await details()).toEqual([["at_idx", "IvfHnswSq"]]);
    expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
    expect(await details()).toEqual([["at_idx", "IvfFlat"]]);
  },
);

test.each(inTurn(["lance", "namespace"] as const))(
  "on %s, an index with too low a recall is dropped again, and the error says the recall and what to change",
  async (way) => {
    const project = await aScene(way);
    const before = await rowsOf(project.database, "docs");
    index(project, poor);
    const plan = await project.migrate(["plan"]);
    expect(plan.stdout).toContain("if its recall@10 is at least 0.95");
    expect(plan.stdout).toContain("a recall@10 of at_idx below 0.95 would stop this");
    const failed = await project.migrate(["up"]);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toMatch(
      /0002_index\.ts, step 1 \(createIndex\) failed: the recall@10 of index at_idx is 0\.\d+ with 20 vectors of docs\.at, and minRecall is 0\.95; use more sub-vectors \(numSubVectors\), fewer partitions \(numPartitions\) or another kind of index, or lower minRecall/,
    );
    expect(await indexesOf(project)).toEqual([]);
    expect(await rowsOf(project.database, "docs")).toEqual(before);
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    index(project, good);
    expect(await project.migrate(["up"])).toMatchObject(onStderr(0, "at_idx of docs: recall@10 1 with 20 vectors; "));
    expect(await indexesOf(project)).toEqual(["at_idx"]);
    expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
    expect(await indexesOf(project)).toEqual([]);
  },
);

test("an index that an application has created is not taken over, and stays", async () => {
  const project = await aScene();
  const docs = await (await lancedb.connect(project.database)).openTable("docs");
  const config = lancedb.Index.ivfPq({ distanceType: "cosine", numPartitions: 1, numSubVectors: 2, numBits: 4 });
  await docs.createIndex("at", { config, name: "at_idx" });
  index(project, poor);
  const stderr = expect.stringContaining("index at_idx of docs already exists");
  expect(await project.migrate(["up"])).toMatchObject({ code: 4, stderr });
  expect(await indexesOf(project)).toEqual(["at_idx"]);
});

test("a rehearsal does not check recall, because its rows may be generated", async () => {
  const project = await aScene();
  index(project, poor);
  expect(await project.migrate(["rehearse"])).toMatchObject({ code: 0 });
});

test("verify --recall measures every vector index, and reports one with less than its migration requires", async () => {
  const project = await aScene();
  index(project, `m.ivfPq({ distanceType: "cosine", numPartitions: 1, numSubVectors: 8 })`, {
    minRecall: 0.8,
    k: 5,
    sample: 20,
  });
  project.migration("0003_more.ts", `m.createIndex("docs", "id", m.btree()),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const well = await project.migrate(["verify", "--recall"]);
  expect(well).toMatchObject(onStdout(0, "1 table of local is as the ledger records"));
  expect(well.stdout).toMatch(
    /docs: index at_idx on at: recall@5 [\d.]+ with 20 vectors; [\d.]+ ms with the index, [\d.]+ ms without; its migration requires 0\.8\n/,
  );
  const docs = await (await lancedb.connect(project.database)).openTable("docs");
  const config = lancedb.Index.ivfPq({ distanceType: "cosine", numPartitions: 1, numSubVectors: 2, numBits: 4 });
  await docs.createIndex("at", { config, name: "at_idx" });
  const low = await project.migrate(["verify", "--recall", "--json"]);
  expect(low.code).toBe(4);
  const { differences, recall } = JSON.parse(low.stdout) as { differences: unknown; recall: readonly object[] };
  expect({ differences, recall }).toEqual({
    differences: [],
    recall: [
      {
        table: "docs",
        index: "at_idx",
        column: "at",
        k: 5,
        recall: expect.any(Number),
        sampled: 20,
        indexMilliseconds: expect.any(Number),
        exactMilliseconds: expect.any(Number),
        minRecall: 0.8,
      },
    ],
  });
  expect(await project.migrate(["verify", "--recall"])).toMatchObject(
    onStdout(4, "1 index has a lower recall than required; create it again in a new migration"),
  );
  // The condition is about 5 neighbours.
  const other = await project.migrate(["verify", "--recall", "--k", "3", "--sample", "1"]);
  expect(other).toMatchObject(onStdout(0, "with 1 vector;"));
  expect(other.stdout).not.toContain("requires");
  expect(await project.migrate(["verify", "-k", "3"])).toMatchObject(
    onStderr(2, "--k and --sample only with --recall"),
  );
});

test("verify --recall refuses a service that can't be searched", async () => {
  const { migrate, ...project } = await aProjectOn("service");
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int64().notNull() }),`);
  expect(await migrate(["up"], key)).toMatchObject({ code: 0 });
  expect(await migrate(["verify", "--recall"], key)).toMatchObject(onStderr(2, "recall can't be measured on"));
});
