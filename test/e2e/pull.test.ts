/** Adopting a database that was made without migrations: pull, baseline, and what then runs anywhere. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connect, createEmptyTable } from "../../src/engine/engine.ts";
import { ledgerColumns } from "../../src/ledger/journal/rows-journal.ts";
import { columnsOf as columns, largeList, struct, utf8 } from "../../src/schema/declare/type-builders.ts";
import { arrow, field, foreignTables, makeForeign, saidOf } from "../support/foreign.ts";
import { aProject, root, type Project, onStderr, onStdout } from "../support/project.ts";
import { lancedb, rowsOf, versionsOf } from "../support/tables.ts";
import { aProjectOn, key } from "./support/project-on.ts";

type Said = Readonly<
  Record<string, { readonly fields: unknown; readonly indexes: readonly { readonly index: string }[] }>
>;

/** Indexes that nobody can make on an empty table. */
const deferred = new Set(["near", "source.rank_idx"]);

function withoutDeferred(said: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(
    Object.entries(said as Said).map(([name, { fields, indexes }]) => [
      name,
      { fields, indexes: indexes.filter(({ index }) => !deferred.has(index)) },
    ]),
  );
}

/** What a project holds that pull may have written. */
function filesIn({ folder }: Project): readonly string[] {
  const top = readdirSync(folder).filter((file) => file.endsWith(".ts") && file !== "migrate.config.ts");
  return [
    ...top,
    ...(existsSync(join(folder, "migrations"))
      ? readdirSync(join(folder, "migrations")).filter((file) => file !== "lock.json")
      : []),
  ];
}

/** The files that a formatter would write otherwise, in lines of 80. */
function unformatted({ folder, write }: Project): readonly string[] {
  write("format.json", `{ "printWidth": 80 }\n`);
  const files = ["schema.ts", "migrations/0001_adopt.ts"];
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8"));
  for (const file of files) cpSync(join(folder, file), join(folder, `formatted/${file}`));
  execFileSync(join(root, "node_modules/.bin/oxfmt"), ["-c", "format.json", "formatted"], { cwd: folder });
  return files.filter((file, at) => readFileSync(join(folder, `formatted/${file}`), "utf8") !== texts[at]);
}

describe.each(["lance", "namespace"] as const)("a database made by somebody else's program, on %s", (way) => {
  test("is pulled, and the migration makes the same in an empty folder", async () => {
    const project = await aProjectOn(way);
    await makeForeign(project.data);
    const before = await saidOf(project.data);
    expect(Object.keys(before)).toEqual(foreignTables);
    const rows = await rowsOf(project.data, "documents");
    const versions = await versionsOf(project.data);

    const pulled = await project.migrate(["pull"], key);
    expect(pulled).toMatchObject(onStdout(0, "wrote migrations/0001_adopt.ts and schema.ts: 5 tables\n"));
    expect(pulled.stderr).toBe("");
    expect(pulled.stdout).toContain("create index near on documents.embedding: ivfPq(");
    expect(pulled.stdout).toMatch(
      /\nwrote migrations\/lock\.json\nnext: migrate baseline marks the migration as applied on \w+; migrate up runs it on any other database\n$/,
    );
    expect(unformatted(project)).toEqual([]);
    expect(await project.migrate(["generate", "--check"], key)).toEqual({
      code: 0,
      stdout: "equal: the migrations lead to the tables that schema.ts declares\n",
      stderr: "",
    });

    const fresh = join(project.folder, "fresh");
    project.write(
      "fresh.config.ts",
      `export default { targets: { there: { kind: "lance", uri: ${JSON.stringify(fresh)} } } };\n`,
    );
    expect(await project.migrate(["up", "--config", "fresh.config.ts"])).toMatchObject({ code: 0 });
    const made = JSON.parse(
      JSON.stringify(withoutDeferred(await saidOf(fresh)), (key, value: unknown) =>
        key.startsWith("lance_migrate_deferred.") ? undefined : value,
      ),
    ) as unknown;
    expect(made).toEqual(JSON.parse(JSON.stringify(withoutDeferred(before))));

    expect(await project.migrate(["baseline"], key)).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^marked 0001_adopt\n1 migration marked as applied on \w+; none was run\n$/),
      stderr: "",
    });
    expect(await project.migrate(["up"], key)).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    expect(await project.migrate(["verify"], key)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^5 tables of \w+ are as the ledger records\n$/),
    });
    expect(await project.migrate(["verify", "--ledger"], key)).toMatchObject({ code: 0 });
    expect(await project.migrate(["history"], key)).toMatchObject({
      stdout: expect.stringMatching(/^1\.\d .* baselined +0001_adopt /),
    });
    expect(await project.migrate(["status"], key)).toMatchObject({
      stdout: expect.stringMatching(
        /^applied +0001_adopt .* never ran here, baselined\n1 migration applied, 0 pending/,
      ),
    });
    expect(await saidOf(project.data)).toEqual(before);
    expect(await rowsOf(project.data, "documents")).toEqual(rows);
    expect(await versionsOf(project.data)).toMatchObject(versions);
  });
});

/** A project on the engine with a small table that another program has made. */
async function withTable(): Promise<Project> {
  const project = aProject();
  const db = await lancedb.connect(project.database);
  await db.createTable("d", [{ id: 1 }]);
  return project;
}

test("every kind of vector index is pulled, and lint accepts what pull has written", async () => {
  const project = aProject();
  const db = await lancedb.connect(project.database);
  const kinds = ["ivfFlat", "ivfPq", "ivfRq", "hnswPq", "hnswSq"] as const;
  const rows = Array.from({ length: 256 }, (_, id) => ({ id, vector: Array.from({ length: 16 }, () => id / 256) }));
  for (const kind of kinds) {
    const table = await db.createTable(kind, rows);
    await table.createIndex("vector", { config: lancedb.Index[kind]({ numPartitions: 1 }) });
  }
  const { stdout, stderr } = await project.migrate(["pull"]);
  expect(stderr).toBe("");
  for (const kind of kinds) expect(stdout).toContain(`create index vector_idx on ${kind}.vector: ${kind}(`);
  expect(await project.migrate(["lint"])).toEqual({
    code: 0,
    stdout: "1 migration checked, nothing wrong\n",
    stderr: "",
  });
});

test("the migration can have another name, and tables can be left out; --json is one document", async () => {
  const project = await withTable();
  const db = await lancedb.connect(project.database);
  await db.createTable("other", [{ id: 1 }]);
  await db.createTable("third", [{ id: 1 }]);
  const { code, stdout, stderr } = await project.migrate([
    "pull",
    "what_was",
    "--except",
    "other",
    "--except=third",
    "-t",
    "local",
    "--json",
  ]);
  expect({ code, stderr, document: JSON.parse(stdout) as unknown }).toEqual({
    code: 0,
    stderr: "",
    document: {
      file: join(project.folder, "migrations/0001_what_was.ts"),
      schema: join(project.folder, "schema.ts"),
      tables: ["d"],
      steps: ["create table d (id float64)"],
      left: [],
      lock: join(project.folder, "migrations/lock.json"),
    },
  });
  expect(filesIn(project)).toEqual(["schema.ts", "0001_what_was.ts"]);
  expect(await project.migrate(["baseline", "-q", "--no-color"])).toMatchObject({ code: 0, stderr: "" });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
});

test("a timestamp in a zone such as +02:00 is named, with every other table that no migration can declare, and --except gets the rest", async () => {
  const project = await withTable();
  const db = await lancedb.connect(project.database);
  const at = (zone: string) => new arrow.Schema([new arrow.Field("at", new arrow.TimestampMicrosecond(zone), true)]);
  await db.createEmptyTable("zoned", at("Etc/GMT+2"));
  await db.createEmptyTable(
    "listed",
    new arrow.Schema([field("tags", new arrow.List(field("element", new arrow.Utf8())))]),
  );
  // The engine makes no such table: clients of other versions have.
  const versions = join(project.database, "zoned.lance/_versions");
  const manifest = readdirSync(versions).find((name) => name.endsWith(".manifest")) ?? "";
  const bytes = readFileSync(join(versions, manifest)).toString("latin1");
  expect(bytes).toContain("timestamp:us:Etc/GMT+2");
  writeFileSync(
    join(versions, manifest),
    bytes.replaceAll("timestamp:us:Etc/GMT+2", "timestamp:us:+02:00:00"),
    "latin1",
  );

  expect(await project.migrate(["pull"])).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "no migration can declare this:\n  column tags of table listed holds a list<utf8> whose items are called element, where the builders make item\n  table zoned: column at is of the type timestamp:us:+02:00:00, which the engine can't read\nleave these tables out: run migrate pull --except listed --except zoned; or change them first\n",
  });
  expect(filesIn(project)).toEqual([]);
  const init = await project.migrate(["init", "--yes"]);
  expect(init).toMatchObject({ code: 4, stdout: expect.stringMatching(/^wrote /) });
  expect(init.stderr).toContain("\nleave these tables out: run migrate pull --except listed --except zoned; or change");
  expect(await project.migrate(["pull", "--except", "n"])).toMatchObject(
    onStderr(2, "--except n: there is no such table\n"),
  );
  expect(await project.migrate(["pull", "--except", "zoned", "--except", "listed"])).toMatchObject({ code: 0 });
});

test("a lock.json that can't be written keeps nobody from the migration, and is said in a sentence where it is asked for", async () => {
  const project = await withTable();
  mkdirSync(join(project.folder, "migrations/lock.json"), { recursive: true });
  const why = (done: string) =>
    `migrations/lock.json can't be ${done}: EISDIR: illegal operation on a directory; fix that, then migrate lint --write rewrites it`;
  expect(await project.migrate(["pull"])).toMatchObject({
    code: 0,
    stderr: `note: lock.json is not written: ${why("written")}\n`,
  });
  expect(readdirSync(project.folder)).toContain("schema.ts");
  const files = ["0001_adopt.ts", "lock.json"];
  expect(readdirSync(join(project.folder, "migrations"))).toEqual(files);
  expect(await project.migrate(["generate", "--check"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["lint", "--write"])).toEqual({ code: 1, stdout: "", stderr: `${why("written")}\n` });
  expect(await project.migrate(["lint"])).toMatchObject({
    code: 1,
    stdout: `migrations/lock.json:1:1 error ERR_LOCK_FILE: ${why("read")}\n`,
  });
  expect(readdirSync(join(project.folder, "migrations"))).toEqual(files);
});

test("a table called as what every object has is pulled, and one with a type that only clients in other languages can make", async () => {
  const project = await withTable();
  const db = await connect({ uri: project.database });
  await createEmptyTable(
    db,
    "constructor",
    columns([
      ["b", utf8()],
      ["1", utf8()],
    ]),
  );
  await createEmptyTable(db, "large", columns({ l: largeList(struct({ a: utf8().notNull() })).notNull() }));
  expect(await project.migrate(["pull"])).toMatchObject({ code: 0, stderr: "" });
  const schema = readFileSync(join(project.folder, "schema.ts"), "utf8");
  // An object puts its columns into another order.
  expect(schema).toContain("  constructor: table([\n");
  expect(schema).toContain("  large: { l: largeList(struct({ a: utf8().notNull() })).notNull() },\n");
  expect(await project.migrate(["generate", "--check"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["baseline"])).toMatchObject({ code: 0 });
});

test("a ledger with another name is no table of the application, with rows or with markers", async () => {
  const project = await withTable();
  const db = await connect({ uri: project.database });
  await createEmptyTable(db, "theirs", ledgerColumns);
  for (const name of ["svc.e1", "svc.e1.1.applied.0001_a.1of1.w0", "svc.e2"])
    await createEmptyTable(db, name, ledgerColumns);
  // Just called so.
  await createEmptyTable(db, "report.e1", columns({ key: utf8() }));
  const pulled = await project.migrate(["pull", "--json"]);
  expect(JSON.parse(pulled.stdout)).toMatchObject({
    tables: ["d", "report.e1"],
    left: ["svc, which is a ledger of other migrations", "theirs, which is a ledger of other migrations"],
  });
  expect(await project.migrate(["baseline"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
  const only = aProject();
  await createEmptyTable(await connect({ uri: only.database }), "theirs", ledgerColumns);
  expect(await only.migrate(["pull"])).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/^nothing is written: local has no tables but the ledgers of other migrations at /),
  });
});

test("what is there already is never written over, and nothing is written beside it", async () => {
  const project = await withTable();
  project.write("schema.ts", "// mine\n");
  expect(await project.migrate(["pull"])).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "nothing is written: schema.ts exists already; rename it, or set schema in the configuration to another file; to keep it and write migrations from it, use migrate generate\n",
  });
  expect(filesIn(project)).toEqual(["schema.ts"]);
  expect(readFileSync(join(project.folder, "schema.ts"), "utf8")).toBe("// mine\n");
  const second = await withTable();
  second.migration("0001_first.ts", `m.createTable("d", { id: m.float64() })`);
  second.migration("0002_second.ts", `m.createTable("e", { id: m.float64() })`);
  expect(await second.migrate(["pull"])).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "nothing is written: there are migrations already, such as 0001_first.ts, and pull writes the first one; migrate verify --write writes what differs from them; for another database name another folder as migrations in the configuration\n",
  });
  expect(filesIn(second)).toEqual(["0001_first.ts", "0002_second.ts"]);
});

test("if the only migration is the example of init, the refusal of pull states how to continue", async () => {
  const project = aProject();
  await project.migrate(["init", "--yes"]);
  await (await lancedb.connect(project.database)).createTable("books", [{ id: 1 }]);
  const { code, stderr } = await project.migrate(["pull"]);
  expect([code, stderr]).toEqual([
    4,
    "nothing is written: there is a migration already, 0001_create_documents.ts, which is not applied on local, and pull writes the first one; " +
      "if it is the example of migrate init, remove it (rm migrations/0001_create_documents.ts) and run migrate pull again; otherwise migrate verify --write writes what differs from it\n",
  ]);
  rmSync(join(project.folder, "migrations/0001_create_documents.ts"));
  for (const command of ["pull", "baseline", "verify"])
    expect(await project.migrate([command])).toMatchObject({ code: 0 });
  expect((await project.migrate(["down"])).stderr).toContain(
    "\n  0001_adopt never ran here: migrate baseline marked it as applied, so these rows may be older\npass --accept lossy",
  );
});

test("a ledger whose files are gone is no database without migrations, nor is one without tables", async () => {
  const project = aProject();
  expect(await project.migrate(["pull"])).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /^nothing is written: local has no tables at .*; check the target, or begin with migrate new NAME\n$/,
    ),
  });
  project.migration("0001_first.ts", `m.createTable("d", { id: m.int32() })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  rmSync(join(project.folder, "migrations"), { recursive: true });
  expect(await project.migrate(["pull"])).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /^nothing is written: the ledger _migrations of local knows 1 migration, and their files are not in the migrations folder; /,
    ),
  });
  expect(filesIn(project)).toEqual([]);
});

test("a target that can't describe its tables is told so in a sentence", async () => {
  const project = await aProjectOn("service");
  await (await lancedb.connect(project.data)).createTable("d", [{ id: 1 }]);
  expect(await project.migrate(["pull"], key)).toEqual({
    code: 4,
    stdout: "",
    stderr:
      'nothing is written: here can\'t describe its tables; use the dialect "namespace" if the service has it, or write the tables into schema.ts and run migrate generate, then migrate baseline\n',
  });
  expect(filesIn(project)).toEqual([]);
});

describe("pull --schema", () => {
  async function pulled() {
    const project = aProject();
    await (await lancedb.connect(project.database)).createTable("books", [{ id: 1, title: "a" }]);
    expect(await project.migrate(["pull"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["baseline"])).toMatchObject({ code: 0 });
    const steps = ["--add-column", "books.tags:utf8", "--create-index", "books.id:btree"];
    expect(await project.migrate(["new", "tags", ...steps])).toMatchObject({
      code: 0,
      stderr: "note: schema.ts is as before; migrate pull --schema brings it up to date\n",
    });
    expect(await project.migrate(["generate", "--check"])).toMatchObject({ code: 3 });
    const schema = () => readFileSync(join(project.folder, "schema.ts"), "utf8");
    return { ...project, schema };
  }

  test("writes the tables and indexes that the migrations lead to, over any layout, and over code only with --yes", async () => {
    const { migrate, schema, write } = await pulled();
    write("schema.ts", schema().replaceAll("\n", "\n\n").replaceAll('"', "'"));
    expect(await migrate(["pull", "--schema"])).toMatchObject({ code: 0, stdout: "wrote schema.ts: 1 table\n" });
    expect(schema()).toMatch(/tags: utf8\(\)[\s\S]*on: "id", type: btree\(\)/);
    expect(await migrate(["generate", "--check"])).toMatchObject({ code: 0 });
    const before = schema();
    expect(await migrate(["pull", "--schema"])).toMatchObject({ code: 0 });
    expect(schema()).toBe(before);
    // A file written by hand lacks the comment that the tool writes.
    write("schema.ts", schema().replace(/\/\*\*.*\*\/\n/, ""));
    expect(schema()).not.toContain("/**");
    expect(await migrate(["pull", "--schema"])).toMatchObject({ code: 0, stdout: "wrote schema.ts: 1 table\n" });

    // An import that is not used is no code of its own, as imports are written again.
    write("schema.ts", schema().replace("{ ", "{ vector, "));
    expect(await migrate(["pull", "--schema"])).toMatchObject({ code: 0 });
    expect(schema()).toBe(before);

    const own = `// Ours.\n${schema()}`;
    write("schema.ts", own);
    expect(await migrate(["pull", "--schema"])).toMatchObject({
      code: 4,
      stderr:
        "nothing is written: schema.ts has a comment or code of its own in line 1, which would be lost; migrate generate --check states what it lacks; to replace it anyway, pass --yes\n",
    });
    expect(schema()).toBe(own);
    expect(await migrate(["pull", "--yes"])).toMatchObject(onStderr(2, "--yes needs --schema"));
    expect(await migrate(["pull", "--schema", "--yes"])).toMatchObject({ code: 0 });
    expect(schema()).not.toContain("Ours");
    expect(await migrate(["generate", "--check"])).toMatchObject({ code: 0 });
  });
});
