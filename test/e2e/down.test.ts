/** Taking migrations back with the built command, on the engine and over HTTP: schema and rows are compared by value. */
import { expect, test } from "vitest";
import { isLong } from "../support/rounds.ts";
import { addRows, columnsOf, lancedb, rowsOf } from "../support/tables.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";
import { aProject, onStderr, onStdout } from "../support/project.ts";

async function seen(folder: string) {
  return { columns: await columnsOf(folder, "documents"), rows: await rowsOf(folder, "documents") };
}

const create = `m.createTable("documents", {
  id: m.int32().notNull(), title: m.utf8(), score: m.float32(), source: m.struct({ url: m.utf8(), at: m.int32() }),
}),`;
const rows = [
  { id: 1, title: "one", score: 0.1, source: { url: "a", at: 1 } },
  { id: -5, title: null, score: null, source: { url: null, at: -1 } },
];

const altering = {
  renameColumn: `m.renameColumn("documents", "title", "headline"), m.renameColumn("documents", "source.at", "fetched"),`,
  retypeColumn: `m.retypeColumn("documents", "id", m.int64()), m.retypeColumn("documents", "score", m.float64()),`,
  setNullable: `m.setNullable("documents", "id", true),`,
  alterColumns: `m.alterColumns("documents", [{ path: "title", rename: "id" }, { path: "id", rename: "title", type: m.int64() }]),`,
};
const createIndex = `m.createIndex("documents", "id", m.btree()),`;
const others = {
  addColumn: `m.addColumn("documents", "note", m.utf8()), m.addColumn("documents", "twice", m.int64(), { as: "id * 2" }),`,
  createIndexAndSetMetadata: `${createIndex} m.setMetadata("documents", "id", { unit: "s" }),`,
};

const allCases = [
  ...(["lance", "namespace", "service"] as const).flatMap((way) =>
    Object.entries(altering).map(([kind, steps]) => ({ way, kind, steps })),
  ),
  ...(["lance", "namespace"] as const).flatMap((way) =>
    Object.entries(others).map(([kind, steps]) => ({ way, kind, steps })),
  ),
];

/** A service takes the same calls for each kind in all its dialects, so for each commit one of them gets some kinds. */
const ofEachCommit = {
  lance: ["setNullable", "alterColumns", "addColumn"],
  namespace: ["renameColumn", "createIndexAndSetMetadata"],
  service: ["retypeColumn"],
};
const cases = isLong ? allCases : allCases.filter(({ way, kind }) => ofEachCommit[way].includes(kind));

test.each(cases)("$kind up, down and up again, on $way", async ({ way, kind, steps }) => {
  const project = await aProjectOn(way);
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  await addRows(project.data, "documents", rows);
  const before = await seen(project.data);
  project.migration("0002_more.ts", steps);
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  const after = await seen(project.data);

  // Where rows can't be counted, a cast that rounds needs consent.
  const consent = way === "service" && kind === "retypeColumn" ? ["--accept", "lossy"] : [];
  expect(await project.migrate(["down", ...consent], key)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^rolled back 0002_more .*\n1 migration rolled back\n$/),
  });
  expect(await seen(project.data)).toEqual(before);
  expect(await project.migrate(["status"], key)).toMatchObject({
    stdout: expect.stringContaining("1 migration applied, 1 pending"),
  });
  expect(await project.migrate(["verify"], key)).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"], key)).toMatchObject(onStdout(0, "1 migration applied"));
  expect(await seen(project.data)).toEqual(after);
});

test("a new table, a table's index and all before it are rolled back", async () => {
  const project = await aProjectOn("lance");
  project.migration("0001_create.ts", create);
  project.migration("0002_index.ts", createIndex);
  project.migration("0003_drop.ts", `m.dropIndex("documents", "id_idx"),`);
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"], key)).toMatchObject({ code: 0 });
  const table = await (await lancedb.connect(project.data)).openTable("documents");
  expect((await table.listIndices()).map(({ name }) => name)).toEqual(["id_idx"]);
  const { code, stdout } = await project.migrate(["down", "--to", "0"], key);
  expect({ code, stdout: stdout.replace(/\(.*?\)/g, "") }).toEqual({
    code: 0,
    stdout: "rolled back 0002_index \nrolled back 0001_create \n2 migrations rolled back\n",
  });
  expect((await (await lancedb.connect(project.data)).tableNames()).filter((name) => !name.startsWith("_"))).toEqual(
    [],
  );
  expect(await project.migrate(["down"], key)).toMatchObject({ code: 0, stdout: "nothing to roll back\n" });
  expect(await project.migrate(["up"], key)).toMatchObject(onStdout(0, "3 migrations applied"));
});

/** Two migrations, of which the second widens, loosens and adds; then an application goes on. */
async function widened(way: Way) {
  const project = await aProjectOn(way);
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  await addRows(project.data, "documents", rows);
  project.migration(
    "0002_more.ts",
    `${altering.renameColumn}${altering.retypeColumn}${altering.setNullable}
    m.addColumn("documents", "note", m.utf8()),`,
  );
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  return project;
}

const newRow = { headline: "three", score: 0.5, source: { url: "c", fetched: 3 } };

test.each<{ what: string; row: object; words: string; accepted: boolean }>([
  {
    what: "a null that was not allowed before",
    row: { ...newRow, id: null },
    words:
      "rows block the rollback: 1 row of documents.id is null, and it was not null before; nothing was rolled back; change these rows first\n",
    accepted: false,
  },
  {
    what: "a value in a new column",
    row: { ...newRow, id: 3n, note: "new" },
    words:
      "rows block the rollback: 1 row of documents.note has a value, which the rollback drops; pass --accept lossy to lose that\n",
    accepted: true,
  },
])("$what stops it before anything is changed", async ({ row, words, accepted }) => {
  // A service counts all of them with one call, as the last shows for each commit.
  const isOnBoth = isLong || "note" in row;
  for (const way of isOnBoth ? (["lance", "namespace"] as const) : (["lance"] as const)) {
    const project = await widened(way);
    await addRows(project.data, "documents", [row as Record<string, unknown>]);
    const before = await seen(project.data);
    expect(await project.migrate(["down"], key)).toEqual({ code: 4, stdout: "", stderr: words });
    // The plan is shown all the same, or nobody could see what is in the way of what.
    const stdout = expect.stringMatching(/^0002_more\n  drop documents\.note .*\n1 migration, 6 actions: /s);
    for (const args of [
      ["plan", "--down"],
      ["down", "--dry-run"],
    ])
      expect(await project.migrate(args, key)).toEqual({ code: 4, stdout, stderr: words });
    const blocked = (await project.migrate(["plan", "--down", "--json"], key)).stdout;
    const { problems, hint } = (JSON.parse(blocked) as { blocked: { problems: string[]; hint: string } }).blocked;
    expect(`rows block the rollback: ${problems.join("; ")}; ${hint}\n`).toBe(words);
    expect(await seen(project.data)).toEqual(before);
    expect(await project.migrate(["down", "--accept", "lossy"], key)).toMatchObject({ code: accepted ? 0 : 4 });
  }
});

test("numbers inside a list that would be rounded stop it before anything is changed", async () => {
  const project = await aProjectOn("lance");
  project.migration("0001_create.ts", `m.createTable("documents", { id: m.int32(), l: m.list(m.float32()) }),`);
  project.migration("0002_finer.ts", `m.retypeColumn("documents", "l.item", m.float64()),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.data, "documents", [{ id: 1, l: [0.5] }]);
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.data, "documents", [{ id: 2, l: [0.5, 0.1] }]);
  const before = await seen(project.data);
  expect(await project.migrate(["down"])).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "rows block the rollback: 1 row of documents.l.item does not come back from float64 to float32 as it is; pass --accept lossy to lose that\n",
  });
  expect(await seen(project.data)).toEqual(before);
});

test("where rows can't be counted, what would be rounded without a word needs consent", async () => {
  const project = await aProjectOn("service");
  project.migration("0001_create.ts", create);
  project.migration("0002_finer.ts", `m.retypeColumn("documents", "score", m.float64()),`);
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"], key)).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "rows block the rollback: values of documents.score can't be compared here, and may not come back from float64 to float32 as they are; pass --accept lossy to lose that\n",
  });
  expect(await project.migrate(["down", "--accept", "lossy"], key)).toMatchObject({ code: 0 });
});

test("a file may say itself how it is rolled back, and a wrong way is refused before it runs", async () => {
  const project = await aProjectOn("lance");
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const before = await seen(project.data);
  const file = (down: string) =>
    project.write(
      "migrations/0002_drop.ts",
      `import * as m from "lance-migrate";
       export const up = [m.dropColumn("documents", "source.at")];
       export const down = [${down}];`,
    );
  file(`m.dropColumn("documents", "score")`);
  expect(await project.migrate(["lint"])).toMatchObject({
    code: 4,
    stdout: expect.stringMatching(
      /0002_drop.ts:3:29 error ERR_IRREVERSIBLE: step 1 of down \(dropColumn\) can't be rolled back: that does not lead/,
    ),
  });
  for (const args of [["plan"], ["up"]])
    expect(await project.migrate(args)).toMatchObject({
      code: 4,
      stderr: expect.stringMatching(
        /0002_drop.ts, step 1 of down \(dropColumn\) can't be rolled back: that does not lead to the tables before it/,
      ),
    });
  project.write(
    "migrations/0002_drop.ts",
    `import * as m from "lance-migrate";
     export const accepts = ["lossy"];
     export const up = [m.dropColumn("documents", "score"), m.dropColumn("documents", "source")];
     export const down = [
       m.addColumn("documents", "score", m.float32(), { as: "0.5" }),
       m.addColumn("documents", "source", m.struct({ url: m.utf8(), at: m.int32() })),
     ];`,
  );
  expect(await project.migrate(["plan"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /\n  back, as its file exports: add documents.score float32 as 0.5, then add documents.source /,
    ),
  });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect((await seen(project.data)).columns).toEqual(before.columns);
});

test("with --json each event is one line, and the plan one document", async () => {
  const project = await widened("lance");
  const plan = await project.migrate(["plan", "--down", "--json"]);
  expect(JSON.parse(plan.stdout)).toMatchObject({
    target: "local",
    direction: "down",
    reverting: [
      {
        version: 2,
        name: "more",
        done: 0,
        total: 6,
        actions: [{ step: 6, kind: "addColumn", text: "drop documents.note" }, {}, {}, {}, {}, {}],
      },
    ],
  });
  const dry = await project.migrate(["down", "--dry-run", "--json"]);
  expect(dry.stdout).toBe(plan.stdout);
  const { stdout } = await project.migrate(["down", "--json"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(events[1]).toMatchObject({ event: "planned", direction: "down", actions: 6 });
  expect(events.slice(-2)).toMatchObject([
    { event: "reverted", version: 2 },
    { event: "finished", reverted: 1 },
  ]);
});

test.each([
  { args: ["down", "--steps", "0"], words: "--steps must be a whole number from 1 to 999999999" },
  { args: ["down", "--steps", "1", "--to", "1"], words: "--steps and --to can't be used together" },
  { args: ["up", "--steps", "1", "--to", "1"], words: "--steps and --to can't be used together" },
  { args: ["plan", "--down", "--allow-out-of-order"], words: "--down and --allow-out-of-order can't be used together" },
])("migrate $args is refused in words", async ({ args, words }) => {
  const project = await aProjectOn("lance");
  project.migration("0001_create.ts", create);
  expect(await project.migrate(args)).toEqual({ code: 2, stdout: "", stderr: `${words}\n` });
});

test("what fails half-way back is gone on with by the next down, and up waits for that", async () => {
  const project = await aProjectOn("service");
  project.migration("0001_create.ts", create);
  project.migration("0002_more.ts", `${altering.setNullable}${altering.renameColumn}`);
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  const table = await (await lancedb.connect(project.data)).openTable("documents");
  await table.add(
    lancedb.makeArrowTable([{ id: null, headline: "x", score: null, source: null }], { schema: await table.schema() }),
  );
  const failed = await project.migrate(["down"], key);
  expect(failed).toMatchObject({ code: 1, stdout: "" });
  expect(failed.stderr).toMatch(/2 of 3 actions that roll this migration back done.*run migrate down again\n$/s);
  expect(await project.migrate(["up"], key)).toMatchObject({
    code: 4,
    stderr: "0002_more is being rolled back, which is not finished; run migrate down to finish it\n",
  });
  const status = await project.migrate(["status", "--check"], key);
  expect(status).toMatchObject({
    code: 4,
    stdout: expect.stringMatching(
      /reverting +0002_more\n +2 of 3 actions that roll it back done; the next migrate down resumes it\n +\S/,
    ),
  });
  await table.checkoutLatest();
  await table.delete("id IS NULL");
  expect(await project.migrate(["down"], key)).toMatchObject({ code: 0 });
  expect(await columnsOf(project.data, "documents")).toContain("id: int32 not null");
});

test("a loss that would be refused is no note, and one that nothing guards is", async () => {
  const project = aProject();
  const losing = "note: d.n is dropped with its values";
  project.migration("0001_d.ts", `m.createTable("d", { id: m.int32() }),`);
  project.migration("0002_n.ts", `m.addColumn("d", "n", m.int32()),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const empty = await project.migrate(["down"]);
  expect(empty).toMatchObject({ code: 0, stderr: expect.not.stringContaining(losing) as string });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "d", [{ id: 1, n: 1 }]);
  expect(await project.migrate(["down", "--accept", "lossy"])).toMatchObject(
    onStderr(0, "note: 1 row of d.n has a value, which the rollback drops\n"),
  );
  project.write(
    "migrations/0002_n.ts",
    `import * as m from "lance-migrate";
export const up = [m.addColumn("d", "n", m.int32())];
export const down = [m.dropColumn("d", "n")];\n`,
  );
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["down"])).toMatchObject(onStderr(0, losing));
});
