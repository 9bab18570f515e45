/** Taking migrations back by the version that a table had before, with the built command. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { aProject, onStderr } from "../support/project.ts";
import { casesInTurn, isLong } from "../support/rounds.ts";
import { addRows, columnsOf, lancedb, rowsOf } from "../support/tables.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";

const inTurn = casesInTurn();

const create = `m.createTable("documents", {
  id: m.int32().notNull(), title: m.utf8(), score: m.float64(), body: m.utf8(),
}),`;
/** What float32 holds just about. */
const rows = [
  { id: 1, title: "one", score: 0.1, body: "a" },
  { id: 2, title: null, score: null, body: null },
  { id: 3, title: "three", score: 1e300, body: "c" },
  { id: 4, title: "four", score: 123456789.12345679, body: "d" },
];

/** These lose something, and their files do not say that they may. */
const up = ["up", "--accept", "lossy"];

const lossy = {
  "a type that holds less": `m.retypeColumn("documents", "score", m.float32()),`,
  "an expression": `m.retypeColumn("documents", "body", m.int32(), { using: "length(body)" }),`,
  "an expression for the last column, of the same type": `m.retypeColumn("documents", "body", m.utf8(), { using: "upper(body)" }),`,
  "a dropped column": `m.dropColumn("documents", "title"),`,
  "a dropped column and one of its name": `m.dropColumn("documents", "body"), m.addColumn("documents", "body", m.utf8()),`,
  "inserted rows": `m.insertRows("documents", [{ id: 7, title: "seven", score: 7, body: "g" }], { key: "id" }),`,
  "updated rows": `m.execute("documents", { update: { title: "'same'" }, where: "id > 1" }),`,
  "deleted rows": `m.execute("documents", { delete: "id > 1" }),`,
  "much at once": `m.renameColumn("documents", "title", "headline"), m.dropColumn("documents", "score"),
    m.setNullable("documents", "id", true), m.createIndex("documents", "id", m.btree()), m.addColumn("documents", "n", m.int32(), { as: "7" }),`,
};

/** Fails at a null, which is not known before: an expression makes the column first. */
const stops = `m.retypeColumn("documents", "body", m.utf8(), { using: "lower(body)" }), m.setNullable("documents", "body", false),`;

interface Seeing {
  readonly data: string;
}

async function seen({ data }: Seeing) {
  return { columns: await columnsOf(data, "documents"), rows: await rowsOf(data, "documents") };
}

/** A project with the key of its service at hand. */
async function projectOn(way: Way = "lance") {
  const project = await aProjectOn(way);
  return { ...project, migrate: async (args: readonly string[]) => await project.migrate(args, key) };
}

/** A project with rows, and a second migration that has run. */
async function migrated(steps: string, way: Way = "lance") {
  const project = await projectOn(way);
  project.migration("0001_create.ts", create);
  expect(await project.migrate(up)).toMatchObject({ code: 0 });
  await addRows(project.data, "documents", rows);
  const before = await seen(project);
  project.migration("0002_lossy.ts", steps);
  expect(await project.migrate(up)).toMatchObject({ code: 0 });
  return { project, before, after: await seen(project) };
}

/** What keeps old versions. */
async function tagsOf({ data }: Seeing): Promise<readonly string[]> {
  const table = await (await lancedb.connect(data)).openTable("documents");
  return Object.keys(await (await table.tags()).list()).toSorted();
}

async function branchesOf({ data }: Seeing): Promise<readonly string[]> {
  const table = await (await lancedb.connect(data)).openTable("documents");
  return Object.keys(await (await table.branches()).list()).toSorted();
}

const allCases = (["lance", "namespace"] as const).flatMap((way) =>
  Object.entries(lossy).map(([what, steps]) => ({ what, steps, way })),
);
/** Both targets restore a version in the same way, whatever was lost: columns, rows, or both. */
const ofEachCommit: Readonly<Record<Way, readonly (keyof typeof lossy)[]>> = {
  lance: ["a dropped column and one of its name", "much at once"],
  namespace: ["an expression", "deleted rows"],
  service: [],
};
const cases = isLong ? allCases : allCases.filter(({ way, what }) => ofEachCommit[way].some((one) => one === what));

test.each(cases)("$what: up, down and up again, on $way", async ({ steps, way }) => {
  const { project, before, after } = await migrated(steps, way);
  expect(after).not.toEqual(before);
  const kept = way === "lance" ? branchesOf : tagsOf;
  expect(await kept(project)).toEqual([
    expect.stringMatching(way === "lance" ? /^lance-migrate\/0002\.v\d+\.e\d+$/ : /^lance-migrate-0002\.v\d+\.e\d+$/),
  ]);
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await seen(project)).toEqual(before);
  expect(await kept(project)).toEqual([]);
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  expect(await project.migrate(up)).toMatchObject({ code: 0 });
  expect(await seen(project)).toEqual(after);
});

test("a number beyond the range of the old type is null in rows that are reinserted, and not infinite", async () => {
  const project = aProject();
  project.migration("0001_t.ts", `m.createTable("t", { id: m.int32(), a: m.float32(), h: m.float16() })`);
  const wider = `m.alterColumns("t", [{ path: "a", type: m.float64() }, { path: "h", type: m.float32() }])`;
  project.migration("0002_wider.ts", `${wider}, m.insertRows("t", [{ id: 0 }], { key: "id" })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "t", [
    { id: 1, a: 1e300, h: 70_000 },
    { id: 2, a: -1e300, h: 0.5 },
    { id: 3, a: Infinity, h: -Infinity },
    { id: 4, a: NaN, h: null },
    { id: 5, a: null, h: NaN },
  ]);
  expect(await project.migrate(["down", "--reinsert"])).toMatchObject({ code: 0 });
  const found = await (await (await lancedb.connect(project.database)).openTable("t")).query().toArray();
  const plain = found.map((row) => ({ ...(row.toJSON() as { id: number; a: unknown; h: unknown }) }));
  expect(plain.toSorted((one, other) => one.id - other.id)).toEqual([
    { id: 1, a: null, h: null },
    { id: 2, a: null, h: 0.5 },
    { id: 3, a: Infinity, h: -Infinity },
    { id: 4, a: NaN, h: null },
    { id: 5, a: null, h: NaN },
  ]);
});

const floats = `m.retypeColumn("documents", "score", m.float32()), m.renameColumn("documents", "title", "headline"),`;
const appended = Array.from({ length: 1_000 }, (_, at) => ({
  id: 100 + at,
  headline: `h${at}`,
  score: at / 8,
  body: null,
}));

test.each(inTurn(["lance", "namespace"] as const))(
  "a type that holds less is not exact, every bit comes back, and rows that were added since can be kept, on %s",
  async (way) => {
    const project = await projectOn(way);
    project.migration("0001_create.ts", create);
    await project.migrate(up);
    await addRows(project.data, "documents", rows);
    const before = await seen(project);
    project.migration("0002_lossy.ts", floats);
    const { stdout } = await project.migrate(["plan"]);
    expect(stdout).toContain(
      "back: restore documents as it was before (restore, refused if rows were written since, metadata only)",
    );
    const { pending } = JSON.parse((await project.migrate(["plan", "--json"])).stdout);
    expect(pending[0].actions.map(({ rollback }: { rollback: object }) => rollback)).toMatchObject([
      { class: "restore", restores: "documents" },
      { class: "restore", restores: "documents" },
    ]);
    await project.migrate(up);
    await addRows(project.data, "documents", appended);
    const after = await seen(project);

    expect(await project.migrate(["down"])).toEqual({
      code: 4,
      stdout: "",
      stderr:
        "rows block the rollback: 1,000 rows of documents were written since, which restoring version 2 would lose; " +
        "pass --reinsert to reinsert these rows, or --accept lossy to lose them\n",
    });
    expect(await seen(project)).toEqual(after);
    // Nothing is reinserted as long as that is refused.
    const shown = await project.migrate(["plan", "--down"]);
    expect(shown).toMatchObject({ code: 4, stdout: expect.not.stringContaining("reinsert") as string });
    expect(await project.migrate(["plan", "--down", "--reinsert"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^0002_lossy\n {2}restore version 2 of documents \(metadata only\)\n {4}undoes: retype documents\.score to float32; rename documents\.title to headline\n {2}reinsert the rows of documents that came after version \d+ \(writes 1,000 rows\)\n1,000 rows of documents were written since, which are reinserted\n/,
      ),
    });
    expect(await project.migrate(["down", "--reinsert"])).toMatchObject({ code: 0 });
    const old = appended.map(({ headline, ...row }) => ({ ...row, title: headline }));
    expect(await seen(project)).toEqual({
      columns: before.columns,
      rows: [...before.rows, ...old.map((row) => ({ id: row.id, title: row.title, score: row.score, body: null }))],
    });
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  },
);

test("rows that were changed since can't be reinserted, whatever is asked for", async () => {
  const { project, before } = await migrated(floats);
  const table = await (await lancedb.connect(project.data)).openTable("documents");
  await table.update({ values: { headline: "changed" }, where: "id = 3" });
  await table.delete("id = 4");
  const why = ", and rows that were changed or removed can't be reinserted";
  for (const [flags, words] of [
    [[], ""],
    [["--reinsert"], why],
  ] as const)
    expect(await project.migrate(["down", ...flags])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        "1 row of documents was written since, 2 rows of documents were changed or removed since (a changed row may count as both), which restoring version 2 would lose" +
          `${words}; pass --accept lossy to lose that`,
      ),
    });
  expect(await project.migrate(["down", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect(await seen(project)).toEqual(before);
});

test("rows of others are told from those that the migration wrote, and reinserted", async () => {
  const { project, before } = await migrated(lossy["inserted rows"]);
  const theirs = { id: 50, title: "theirs", score: 1, body: "b" };
  await addRows(project.data, "documents", [theirs]);
  expect(await project.migrate(["down"])).toMatchObject(
    onStderr(4, "1 row of documents was written since, which restoring version 2 would lose"),
  );
  expect(await project.migrate(["down", "--reinsert"])).toMatchObject({ code: 0 });
  expect(await seen(project)).toEqual({ columns: before.columns, rows: [...before.rows, theirs] });
});

test("old versions are cleaned up as ever, the one before the migration stays, and rows are reinserted after a compaction", async () => {
  const { project, before } = await migrated(lossy["a dropped column"]);
  await addRows(project.data, "documents", [{ id: 9, score: 1, body: "b" }]);
  const table = await (await lancedb.connect(project.data)).openTable("documents");
  const { prune } = await table.optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });
  expect(prune.oldVersionsRemoved).toBeGreaterThan(0);
  expect((await table.listVersions()).map(({ version }) => version)).toContain(2);
  await addRows(project.data, "documents", [{ id: 10, score: 2, body: "c" }]);
  // Compaction has moved all rows, and the version that the migration left is gone.
  expect(await project.migrate(["down"])).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      "2 rows of documents were written since, which restoring version 2 would lose; they can be reinserted with null in title; pass",
    ),
  });
  expect(await project.migrate(["down", "--reinsert"])).toMatchObject({ code: 0 });
  expect(await seen(project)).toEqual({
    columns: before.columns,
    rows: [...before.rows, { id: 9, title: null, score: 1, body: "b" }, { id: 10, title: null, score: 2, body: "c" }],
  });
});

test("a column that the application has recreated is not lost", async () => {
  const { project } = await migrated(lossy["a dropped column"]);
  const table = await (await lancedb.connect(project.data)).openTable("documents");
  await table.addColumns([{ name: "upper", valueSql: "upper(body)" }]);
  await table.dropColumns(["body"]);
  await table.alterColumns([{ path: "upper", rename: "body" }]);
  const after = await seen(project);
  expect(await project.migrate(["down"])).toMatchObject({ code: 4 });
  expect(await seen(project)).toEqual(after);
});

test("where the version is gone that is said by prune and down, and nothing is changed", async () => {
  const { project, after } = await migrated(lossy["a dropped column"]);
  // Through a relative path, the engine does not see what is kept.
  const script = `
    import { connect } from ${JSON.stringify(import.meta.resolve("@lancedb/lancedb"))};
    const table = await (await connect(${JSON.stringify(basename(project.data))})).openTable("documents");
    await table.optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });`;
  execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: dirname(project.data) });
  expect(await project.migrate(["prune"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      "version 2 of documents, from before 0002_lossy; gone: a clean-up has deleted it, so down can't restore it\n",
    ),
  });
  const { kept } = JSON.parse((await project.migrate(["prune", "--json"])).stdout);
  expect(kept).toMatchObject([{ version: 2, isGone: true }]);
  for (const flags of [[], ["--accept", "lossy"]])
    expect(await project.migrate(["down", ...flags])).toMatchObject(
      onStderr(4, "documents: version 2 is gone: old versions were cleaned up"),
    );
  expect(await seen(project)).toEqual(after);
});

test("a table that the migration made goes with all that it gave it", async () => {
  const project = await projectOn();
  project.migration(
    "0001_create.ts",
    `${create} m.insertRows("documents", [{ id: 7, title: "seven", score: 7, body: "g" }], { key: "id" }), m.dropColumn("documents", "body"),`,
  );
  expect((await project.migrate(["plan"])).stdout).toContain("back: drop table documents (");
  expect(await project.migrate(up)).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect((await lancedb.connect(project.data).then((db) => db.tableNames())).filter((name) => name[0] !== "_")).toEqual(
    [],
  );
  expect(await project.migrate(up)).toMatchObject({ code: 0 });
  await addRows(project.data, "documents", [{ id: 8, title: "theirs", score: 1 }]);
  expect(await project.migrate(["down"])).toMatchObject(
    onStderr(4, "documents has 2 rows, 1 of them written since, and goes with them"),
  );
});

test.each(inTurn(["namespace", "lance"] as const))(
  "of the rows that a migration gave to its own table others are told also where there are as many, on %s",
  async (way) => {
    const seed = `m.insertRows("documents", [{ id: 7, title: "seven", score: 7, body: "g" }], { key: "id" }),`;
    const created = create.replace("}),", `}, { rows: [{ id: 6, title: "six", score: 6, body: "f" }] }),`);
    const both = `${created} ${seed}`;
    for (const steps of isLong ? [created, both, `${create} ${seed}`] : [both]) {
      const project = await projectOn(way);
      project.migration("0001_create.ts", steps);
      expect((await project.migrate(["plan"])).stdout).toContain("refused if rows of documents were written since");
      expect(await project.migrate(up)).toMatchObject({ code: 0 });
      const documents = await (await lancedb.connect(project.data)).openTable("documents");
      const own = await documents.countRows();
      // Compaction gives rows new addresses.
      await documents.optimize();
      expect(await project.migrate(["plan", "--down"])).toMatchObject({ code: 0 });
      await documents.delete("true");
      // What was only removed is not missed.
      expect(await project.migrate(["plan", "--down"])).toMatchObject({ code: 0 });
      await addRows(project.data, "documents", three.slice(0, own));
      const theirs = `documents has ${own} row${own === 1 ? "" : "s"}, ${own} of them written since, and goes with them`;
      expect(await project.migrate(["down"])).toMatchObject(onStderr(4, theirs));
      expect(await project.migrate(["down", "--accept", "lossy"])).toMatchObject(onStderr(0, theirs));
      expect(await project.migrate(up)).toMatchObject({ code: 0 });
      expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
      // Made anew, it is at the same version.
      expect(await project.migrate(up)).toMatchObject({ code: 0 });
      const db = await lancedb.connect(project.data);
      const schema = await (await db.openTable("documents")).schema();
      await db.dropTable("documents");
      await db.createTable("documents", three, { schema });
      expect(await project.migrate(["down"])).toMatchObject(onStderr(4, "documents has 3 rows"));
    }
  },
);

test("several migrations go back to the versions that they had", async () => {
  const { project, before } = await migrated(lossy["a dropped column"]);
  project.migration("0003_more.ts", lossy["updated rows"].replace("title", "body"));
  project.migration("0004_exact.ts", `m.renameColumn("documents", "body", "text"),`);
  expect(await project.migrate(up)).toMatchObject({ code: 0 });
  expect(await branchesOf(project)).toEqual([
    expect.stringMatching(/^lance-migrate\/0002\.v/),
    expect.stringMatching(/^lance-migrate\/0003\.v/),
  ]);
  expect(await project.migrate(["down", "--to", "1"])).toMatchObject({ code: 0 });
  expect(await seen(project)).toEqual(before);
  expect(await branchesOf(project)).toEqual([]);
});

test("an up that stopped half-way, and went on, goes back all the way, and what it needs is not let go", async () => {
  const project = await projectOn();
  project.migration("0001_create.ts", create);
  await project.migrate(up);
  await addRows(project.data, "documents", rows);
  const before = await seen(project);
  project.migration("0002_lossy.ts", `${lossy["a dropped column"]} ${stops}`);
  expect(await project.migrate(up)).toMatchObject({ code: 1 });
  expect(await project.migrate(["prune", "--yes"])).toMatchObject({
    code: 0,
    stdout:
      "version 2 of documents, from before 0002_lossy; needed until the unfinished migration is done\nno version can be released now\n",
  });
  expect(await branchesOf(project)).toEqual([expect.stringMatching(/^lance-migrate\/0002\.v/)]);
  const half = await project.migrate(["down"]);
  expect(half).toMatchObject({ code: 0 });
  expect(await seen(project)).toEqual(before);
  expect(await project.migrate(up)).toMatchObject({ code: 1 });
  const table = await (await lancedb.connect(project.data)).openTable("documents");
  await table.delete("body is null");
  expect(await project.migrate(up)).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject(onStderr(4, "1 row of documents was changed or removed since"));
  expect(await project.migrate(["down", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect(await seen(project)).toEqual(before);
});

const three = [1, 2, 3].map((id) => ({ id, title: `t${id}`, score: id / 3, body: "b" }));

/** A project with rows, and further migrations that have run one after the other. */
async function migratedBy(...steps: readonly string[]) {
  const project = await projectOn();
  project.migration("0001_create.ts", create);
  await project.migrate(up);
  await addRows(project.data, "documents", three);
  for (const [at, text] of steps.entries()) {
    if (text.startsWith("import")) project.write(`migrations/000${at + 2}_more.ts`, text);
    else project.migration(`000${at + 2}_more.ts`, text);
  }
  expect(await project.migrate(up)).toMatchObject({ code: 0 });
  return project;
}

const many = { update: (value: string) => `m.execute("documents", { update: { score: "${value}" } }),` };

test("rows that a restored version brings back block what is rolled back after it", async () => {
  const deleted = await migratedBy(lossy["deleted rows"].replace("id > 1", "id > 0"));
  expect(await deleted.migrate(["down", "--to", "0"])).toMatchObject(
    onStderr(4, "documents has 3 rows, 3 of them written since, and goes with them"),
  );
  const emptied = await projectOn();
  emptied.migration("0001_create.ts", create);
  emptied.migration("0002_more.ts", `m.addColumn("documents", "n", m.int32()),`);
  await emptied.migrate(up);
  await addRows(
    emptied.data,
    "documents",
    three.map((row) => ({ ...row, n: row.id })),
  );
  emptied.migration("0003_more.ts", `m.execute("documents", { update: { n: "null" } }),`);
  await emptied.migrate(up);
  expect(await emptied.migrate(["down", "--to", "1"])).toMatchObject(
    onStderr(4, "3 rows of documents.n have values, which the rollback drops"),
  );
});

test("and those that it takes away do not", async () => {
  const seeded = await projectOn();
  seeded.migration("0001_create.ts", create);
  seeded.migration("0002_seed.ts", lossy["inserted rows"]);
  await seeded.migrate(up);
  expect(await seeded.migrate(["down", "--to", "0"])).toMatchObject({ code: 0 });
  const renamed = await migratedBy(
    `m.addColumn("documents", "n", m.int32()),`,
    `m.renameColumn("documents", "n", "k"), m.dropColumn("documents", "score"),`,
  );
  expect(await renamed.migrate(["down", "--to", "1"])).toMatchObject({ code: 0 });
  expect((await seen(renamed)).rows).toEqual(three);
});

test("several that write rows anew, and a table of which nothing is left", async () => {
  const project = await migratedBy(many.update("5.5"), many.update("6.5"));
  await (await (await lancedb.connect(project.data)).openTable("documents")).createIndex("id");
  expect(await project.migrate(["down", "--to", "1"])).toMatchObject({ code: 0 });
  expect((await seen(project)).rows).toEqual(three);
  const made = await projectOn();
  made.migration("0001_create.ts", `${create} ${lossy["inserted rows"]} ${lossy["deleted rows"]}`);
  await made.migrate(up);
  await addRows(made.data, "documents", three.slice(0, 1));
  expect(await made.migrate(["down"])).toMatchObject(
    onStderr(4, "documents has 1 row, 1 of them written since, and goes with them"),
  );
});

test("rows of others are missed that came while an up had stopped half-way", async () => {
  const project = await projectOn();
  project.migration("0001_create.ts", create);
  await project.migrate(up);
  await addRows(project.data, "documents", rows);
  project.migration("0002_more.ts", `${lossy["updated rows"]} ${stops}`);
  expect(await project.migrate(up)).toMatchObject({ code: 1 });
  await addRows(project.data, "documents", three);
  await (await (await lancedb.connect(project.data)).openTable("documents")).delete("body is null");
  expect(await project.migrate(up)).toMatchObject({ code: 0 });
  const after = await seen(project);
  expect(await project.migrate(["down"])).toMatchObject(
    onStderr(4, "it is unknown what was written to documents since"),
  );
  expect(await seen(project)).toEqual(after);
});

test("a version of another table of that name is not restored", async () => {
  const project = await migratedBy(
    lossy["a dropped column"],
    `import * as m from "lance-migrate";
     export const accepts = ["irreversible"];
     export const up = [m.dropTable("documents")];
     export const down = [m.createTable("documents", { id: m.int32().notNull(), score: m.float64(), body: m.utf8() })];`,
  );
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  for (const flags of [[], ["--accept", "lossy"]])
    expect(await project.migrate(["down", ...flags])).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(/documents(: version \d+ is gone| was dropped and recreated after \d+_)/),
    });
});

test("rows that are reinserted are looked at before older migrations go", async () => {
  const project = await migratedBy(`m.addColumn("documents", "n", m.int32()),`, lossy["a dropped column"]);
  await addRows(project.data, "documents", [{ id: 9, n: 7 }]);
  expect(await project.migrate(["down", "--to", "1", "--reinsert"])).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/; run migrate down --steps 1 --reinsert first, then this command again$/m),
  });
  expect(await project.migrate(["down", "--steps", "1", "--reinsert"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject(
    onStderr(4, "1 row of documents.n has a value, which the rollback drops"),
  );
});

test("on a service that keeps no versions under a name up needs consent to what is irreversible, and down restores what is there all the same", async () => {
  const project = await projectOn("namespace");
  const config = readFileSync(join(project.folder, "migrate.config.ts"), "utf8");
  const none = `"dialect":"namespace","endpoints":{"createTag":"POST /v1/nowhere/{name}"}`;
  project.write("migrate.config.ts", config.replace(`"dialect":"namespace"`, none));
  project.migration("0001_create.ts", create);
  await project.migrate(up);
  await addRows(project.data, "documents", rows);
  const before = await seen(project);
  project.migration("0002_lossy.ts", lossy["a dropped column"]);
  expect(await project.migrate(up)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /version 2 of documents, which migrate down would restore, can't be kept: .* \(404\)/,
    ),
  });
  expect(await seen(project)).toEqual(before);
  expect(await project.migrate(["up", "--accept", "irreversible"])).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /note: the version of documents from before 0002_lossy can't be kept: .*; migrate down can restore it only until/,
    ),
  });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await seen(project)).toEqual(before);
});

test("prune shows what is kept, and lets it go", async () => {
  const { project } = await migrated(lossy["a dropped column"]);
  project.migration("0003_more.ts", lossy["deleted rows"]);
  await project.migrate(up);
  const lines = ["version 2 of documents, from before 0002_lossy", "version 3 of documents, from before 0003_more"];
  const { stdout } = await project.migrate(["prune"]);
  expect(new Set(stdout.trimEnd().split("\n"))).toEqual(
    new Set([
      ...lines,
      "2 versions can be released with migrate prune --yes; after that, down may be unable to restore them",
    ]),
  );
  expect(JSON.parse((await project.migrate(["prune", "--json", "--to", "2"])).stdout)).toEqual({
    target: "local",
    kept: [
      {
        table: "documents",
        name: expect.stringMatching(/^0002\.v2\.e\d+$/),
        version: 2,
        migration: "0002_lossy",
        isGone: false,
        isNeeded: false,
      },
    ],
    pruned: false,
  });
  expect(await project.migrate(["prune", "--yes", "--to", "2"])).toMatchObject({
    code: 0,
    stdout: `${lines[0]}\n1 version released; the next optimize of the tables deletes what only they used\n`,
  });
  expect(await branchesOf(project)).toEqual([expect.stringMatching(/^lance-migrate\/0003\.v3\.e/)]);
  expect(await project.migrate(["prune", "--yes"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["prune"])).toMatchObject({ code: 0, stdout: "no old versions are kept on local\n" });
});
