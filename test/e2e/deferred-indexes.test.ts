/** Vector indexes on tables that hold too few vectors to train them. */
import { expect, test } from "vitest";
import type { Project } from "../support/project.ts";
import { addRows, lancedb } from "../support/tables.ts";
import { casesInTurn } from "../support/rounds.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";
import { onStdout } from "../support/project.ts";

const inTurn = casesInTurn();

const ways: readonly Way[] = ["lance", "namespace"];

const docs = `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8(), embedding: m.vector(4) }),`;
const flat = `m.createIndex("docs", "embedding", m.ivfFlat({ numPartitions: 2 })),`;
const deferred = (index: string, held: string, needs: string) =>
  `index ${index} is deferred: docs holds ${held} for it, and ${needs}; migrate up builds it once there are enough\n`;

/** Vectors of the number in the text, as the application writes them. */
function vectorFor(id: number): readonly number[] {
  return Array.from({ length: 4 }, (_, place) => Math.sin(id * (place + 1)));
}

function rowsFrom(first: number, count: number) {
  return Array.from({ length: count }, (_, at) => ({
    id: first + at,
    text: `text ${first + at}`,
    embedding: vectorFor(first + at),
  }));
}

async function aScene(way: Way = "lance"): Promise<Project> {
  const { data, migrate, ...rest } = await aProjectOn(way);
  const project = { ...rest, migrate: (args: readonly string[]) => migrate(args, key), database: data };
  project.write(
    "embed.ts",
    `export default async (rows: { text: string }[]) => rows.map(({ text }) => Array.from({ length: 3 }, (_, at) => Number(text.split(" ")[1]) + at));`,
  );
  return project;
}

async function openDocs({ database }: Project) {
  return await (await lancedb.connect(database)).openTable("docs");
}

async function indexesOf(project: Project): Promise<readonly string[]> {
  const found = await (await openDocs(project)).listIndices();
  return found.map(({ name, columns }) => `${name} on ${columns.join()}`).toSorted();
}

async function metadataOf(project: Project, column: string): Promise<Readonly<Record<string, string>>> {
  const { fields } = await (await openDocs(project)).schema();
  return Object.fromEntries(fields.find(({ name }) => name === column)!.metadata);
}

test.each(inTurn(ways))(
  "on %s, one up makes all of a new database, and a later one builds its indexes",
  async (way) => {
    const project = await aScene(way);
    project.migration("0001_docs.ts", `${docs} ${flat}`);
    project.migration(
      "0002_model.ts",
      `m.reembedColumn("docs", "embedding", { type: m.vector(3), from: ["text"], key: "id", with: "./embed.ts", version: "2", index: m.ivfPq({ numSubVectors: 1 }) }),`,
    );
    const first = await project.migrate(["up"]);
    expect(first).toMatchObject(onStdout(0, "2 migrations applied"));
    expect(first.stderr).toContain(deferred("embedding_idx", "0 vectors", "ivfFlat needs at least 2"));
    expect(first.stderr).toContain(deferred("embedding_idx_2", "0 vectors", "ivfPq needs at least 256"));
    expect(await indexesOf(project)).toEqual([]);
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });

    const idle = await project.migrate(["up"]);
    expect(idle).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    expect(idle.stderr).toContain(deferred("embedding_idx_2", "0 vectors", "ivfPq needs at least 256"));

    const rows = rowsFrom(0, 255).map(({ embedding, ...row }) => ({
      ...row,
      embedding: embedding.slice(0, 3),
      embedding_old: embedding,
    }));
    await addRows(project.database, "docs", rows);
    const some = await project.migrate(["up"]);
    expect(some).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^built index embedding_idx of docs \(.*\)\nno migration was pending\n$/),
    });
    expect(some.stderr).toContain(deferred("embedding_idx_2", "255 vectors", "ivfPq needs at least 256"));
    expect(await indexesOf(project)).toEqual(["embedding_idx on embedding_old"]);

    await addRows(project.database, "docs", [{ ...rows[0]!, id: 255 }]);
    const all = await project.migrate(["up"]);
    expect(all.stdout).toMatch(/^built index embedding_idx_2 of docs/);
    expect(all.stderr).not.toContain("deferred");
    expect(await indexesOf(project)).toEqual(["embedding_idx on embedding_old", "embedding_idx_2 on embedding"]);
    const model = { lance_migrate_version: "2", lance_migrate_with: "./embed.ts" };
    expect(await metadataOf(project, "embedding")).toEqual(model);
    const search = (await openDocs(project)).search([1, 2, 3]) as InstanceType<typeof lancedb.VectorQuery>;
    expect(await search.column("embedding").explainPlan()).toContain("ANN");
    expect(await project.migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n", stderr: "" });
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  },
);

test("plan, status and verify name what is deferred, and exit with 0", async () => {
  const project = await aScene();
  project.migration("0001_docs.ts", docs);
  project.migration("0002_index.ts", flat);
  const risk = "fewer than 2 vectors in docs.embedding would defer index embedding_idx";
  const plan = await project.migrate(["plan"]);
  expect(plan).toMatchObject(onStdout(0, `${risk}: migrate up builds it`));
  expect(plan.stdout).toContain("no row now");
  const { pending } = JSON.parse((await project.migrate(["plan", "--json"])).stdout) as {
    pending: { actions: { risks: unknown[] }[] }[];
  };
  expect(pending[1]!.actions[0]!.risks).toEqual([
    { kind: "deferral", text: `${risk}: migrate up builds it once there are enough`, rows: 0 },
  ]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });

  const words = deferred("embedding_idx", "0 vectors", "ivfFlat needs at least 2");
  const found = { table: "docs", index: "embedding_idx", kind: "ivfFlat", vectors: 0, needed: 2 };
  for (const args of [["status"], ["verify"]]) {
    expect(await project.migrate(args)).toMatchObject(onStdout(0, words));
    const { stdout } = await project.migrate([...args, "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ deferred: [found] });
  }
  const lines = (await project.migrate(["up", "--json"])).stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual({ event: "deferred", ...found });
  expect(await project.migrate(["verify", "--recall"])).toMatchObject(onStdout(0, "no vector indexes"));
});

test("plan says nothing of a deferral if there are enough vectors", async () => {
  const project = await aScene();
  project.migration("0001_docs.ts", docs);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", rowsFrom(0, 2));
  project.migration("0002_index.ts", flat);
  expect((await project.migrate(["plan"])).stdout).not.toContain("defer");
  const up = await project.migrate(["up"]);
  expect(up).toMatchObject({ code: 0 });
  expect(up.stderr).not.toContain("deferred");
  expect(await indexesOf(project)).toEqual(["embedding_idx on embedding"]);
});

test.each<[string, string, readonly string[]]>([
  ["follows its column when that is renamed", `m.renameColumn("docs", "embedding", "at"),`, ["embedding_idx on at"]],
  ["goes with its table", `m.dropTable("docs"), ${docs}`, []],
  [
    "outlives a rewrite of its column",
    `m.retypeColumn("docs", "embedding", m.vector(4, m.float64())),`,
    ["embedding_idx on embedding"],
  ],
  [
    "is replaced",
    `m.createIndex("docs", "embedding", m.ivfPq({ numSubVectors: 2, numBits: 4 }), { replace: true }),`,
    ["embedding_idx on embedding"],
  ],
])("a deferred index %s", async (_, step, left) => {
  const project = await aScene();
  project.migration("0001_docs.ts", `${docs} ${flat}`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0002_next.ts", step);
  expect(await project.migrate(["up", "--accept", "irreversible"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  const [vectors] = (await (await openDocs(project)).schema()).fields.slice(2);
  const column = vectors?.name ?? "none";
  const rows = rowsFrom(0, 20).map(({ embedding, ...row }) =>
    column === "none" ? row : { ...row, [column]: embedding },
  );
  await addRows(project.database, "docs", rows);
  const up = await project.migrate(["up"]);
  expect(up).toMatchObject({ code: 0 });
  expect(up.stderr).not.toContain("deferred");
  expect(await indexesOf(project)).toEqual(left);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n", stderr: "" });
});

test.each(inTurn(ways))("on %s, down removes a deferred index, and one that an up has built since", async (way) => {
  const project = await aScene(way);
  project.migration("0001_docs.ts", docs);
  project.migration("0002_index.ts", flat);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await metadataOf(project, "embedding")).toEqual({});
  expect(await project.migrate(["status"])).toMatchObject({ stdout: expect.not.stringContaining("deferred") });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", rowsFrom(0, 2));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await indexesOf(project)).toEqual(["embedding_idx on embedding"]);
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await indexesOf(project)).toEqual([]);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test("down defers an index that it must recreate, if rows were deleted since", async () => {
  const project = await aScene();
  project.migration("0001_docs.ts", docs);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", rowsFrom(0, 2));
  project.migration("0002_index.ts", flat);
  project.migration("0003_drop.ts", `m.dropIndex("docs", "embedding_idx"),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await (await openDocs(project)).delete("id = 0");
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject(onStdout(0, "docs holds 1 vector for it"));
});

test("prepare defers the index of a new model, and up builds it with the rows of then", async () => {
  const project = await aScene();
  project.migration("0001_docs.ts", docs);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration(
    "0002_model.ts",
    `m.reembedColumn("docs", "embedding", { type: m.vector(3), from: ["text"], key: "id", with: "./embed.ts", version: "2", index: m.ivfFlat({ numPartitions: 2 }), minRecall: 0.5 }),`,
  );
  expect(await project.migrate(["prepare"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", rowsFrom(0, 20));
  const up = await project.migrate(["up"]);
  expect(up).toMatchObject({ code: 0 });
  expect(up.stderr).toContain("recall");
  expect(await indexesOf(project)).toEqual(["embedding_idx_2 on embedding"]);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n", stderr: "" });
});

test("a saved plan builds nothing more, and a column of lists counts with all of its vectors", async () => {
  const project = await aScene();
  project.migration(
    "0001_lists.ts",
    `m.createTable("docs", { id: m.int64(), at: m.list(m.vector(4)) }), m.createIndex("docs", "at", m.ivfFlat({ numPartitions: 3, distanceType: "cosine" })),`,
  );
  expect(await project.migrate(["plan", "--out", "plan.json"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up", "--plan", "plan.json"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", [{ id: 1, at: [vectorFor(1), vectorFor(2)] }]);
  expect((await project.migrate(["up"])).stderr).toContain("docs holds 2 vectors for it");
  await addRows(project.database, "docs", [{ id: 2, at: [vectorFor(3), vectorFor(4)] }]);
  expect(await project.migrate(["up"])).toMatchObject({
    stdout: expect.stringContaining("built index at_idx of docs"),
  });
  expect(await indexesOf(project)).toEqual(["at_idx on at"]);
});

test("a new ledger knows what is deferred: by repair, and by baseline", async () => {
  for (const command of [["repair", "--yes"], ["baseline"]]) {
    const project = await aScene();
    project.migration("0001_docs.ts", `${docs} ${flat}`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    await (await lancedb.connect(project.database)).dropTable("_migrations");
    expect(await project.migrate(command)).toMatchObject({ code: 0 });
    await addRows(project.database, "docs", rowsFrom(0, 2));
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await indexesOf(project)).toEqual(["embedding_idx on embedding"]);
  }
});

test.each(inTurn(ways))(
  "on %s, down says that the version that it restores lacks an index that was built since",
  async (way) => {
    const project = await aScene(way);
    project.migration("0001_docs.ts", `${docs} ${flat}`);
    project.migration("0002_delete.ts", `m.execute("docs", { delete: "id > 100" }),`);
    expect(await project.migrate(["up", "--accept", "lossy,irreversible"])).toMatchObject({ code: 0 });
    await addRows(project.database, "docs", rowsFrom(0, 2));
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await indexesOf(project)).toEqual(["embedding_idx on embedding"]);

    const plan = await project.migrate(["plan", "--down", "--reinsert"]);
    expect(plan.stdout).toMatch(
      /risk: version \d+ of docs lacks index embedding_idx, which was built since: it is deferred again, and migrate up builds it once there are enough vectors\n/,
    );
    const down = await project.migrate(["down", "--reinsert", "--json"]);
    expect(down).toMatchObject({ code: 0 });
    const events = down.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly event: string });
    expect(events.slice(-2)).toMatchObject([
      { event: "deferred", table: "docs", index: "embedding_idx", vectors: 2, needed: 2 },
      { event: "finished", reverted: 1 },
    ]);
    expect(await indexesOf(project)).toEqual([]);
    const back = await project.migrate(["plan", "--down", "--to", "0"]);
    expect(back.stdout).not.toContain("deferred again");
  },
);

test("an index is deferred if its column is retyped to another length, with nulls", async () => {
  const project = await aScene();
  project.migration("0001_docs.ts", `${docs} ${flat}`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", rowsFrom(0, 3));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0002_length.ts", `m.retypeColumn("docs", "embedding", m.vector(3), { using: "null" }),`);
  const words = "index embedding_idx is deferred, because docs.embedding is all null then";
  expect((await project.migrate(["plan"])).stdout).toContain(`risk: ${words}`);
  const up = await project.migrate(["up", "--accept", "lossy"]);
  expect(up).toMatchObject({ code: 0 });
  expect(up.stderr).toContain(deferred("embedding_idx", "0 vectors", "ivfFlat needs at least 2"));
  expect(await indexesOf(project)).toEqual([]);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  await (await openDocs(project)).update({ valuesSql: { embedding: "make_array(id, id * 2, 3)" } });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await indexesOf(project)).toEqual(["embedding_idx on embedding"]);
});

test.each(inTurn(ways))(
  "indexes on fields of structs wait for a value, as the engine could not optimize the table otherwise, on %s",
  async (way) => {
    const project = await aScene(way);
    const columns = "{ id: m.int64(), s: m.struct({ x: m.int32(), l: m.list(m.utf8()) }) }";
    const indexes = [`m.createIndex("docs", "s.x", m.btree())`, `m.createIndex("docs", "s.l", m.labelList())`];
    project.migration("0001_docs.ts", `m.createTable("docs", ${columns}), ${indexes.join(", ")},`);
    const made = await project.migrate(["up"]);
    expect(made).toMatchObject({ code: 0 });
    expect(made.stderr).toContain(deferred("s_x_idx", "0 values", "btree needs at least 1"));
    expect(await indexesOf(project)).toEqual([]);
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    await addRows(project.database, "docs", [{ id: 1, s: { x: 1, l: ["a"] } }]);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await indexesOf(project)).toEqual(["s_l_idx on s.l", "s_x_idx on s.x"]);
    await addRows(project.database, "docs", [{ id: 2, s: { x: 2, l: ["b"] } }]);
    const table = await openDocs(project);
    await table.optimize();
    expect(await table.countRows("s.x = 2 and array_has(s.l, 'b')")).toBe(1);
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    project.migration(
      "0002_fm.ts",
      `m.addColumn("docs", "f", m.struct({ t: m.utf8() })), m.createIndex("docs", "f.t", m.fm()),`,
    );
    const refused = await project.migrate(["up"]);
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.stderr).toContain(
      "with an fm index on f.t, a field of a struct, the engine can't optimize docs any more",
    );
  },
);
