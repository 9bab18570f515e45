/** `migrate push`: `schema.ts` on the tables without a migration, and a migration for it afterwards. */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, type Project, onStderr, onStdout } from "../support/project.ts";
import { addRows, columnsOf, rowsOf, versionsOf } from "../support/tables.ts";
import { aProjectOn, key } from "./support/project-on.ts";

function declare({ write }: Pick<Project, "write">, tables: string): void {
  write("schema.ts", `import * as m from "lance-migrate";\nexport default m.defineSchema({${tables}});\n`);
}

function configure({ write }: Project, more = "push: true"): void {
  write("migrate.config.ts", `export default { targets: { local: { kind: "lance", uri: ".lancedb", ${more} } } };\n`);
}

function pushing(tables: string): Project {
  const project = aProject();
  configure(project);
  declare(project, tables);
  return project;
}

function migrationsIn({ folder }: Project): readonly string[] {
  return readdirSync(join(folder, "migrations")).filter((file) => file !== "lock.json");
}

test("what is pushed step by step becomes one migration, which baseline marks as applied", async () => {
  const project = pushing(`d: { id: m.int32().notNull() }`);
  const { migrate, database } = project;
  expect(await migrate(["push", "--dry-run"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^ {2}create table d \(id int32 not null\).*\n1 step would run on local;/),
  });
  expect(await migrate(["push"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^ {2}create table d .*\npushed 1 step to local; to keep them, .*migrate baseline\n$/,
    ),
  });
  await addRows(database, "d", [{ id: 1 }]);
  declare(
    project,
    `d: m.table({ id: m.int64().notNull(), tag: m.utf8() }, { indexes: [{ on: "id", type: m.btree() }] })`,
  );
  expect(await migrate(["push"])).toMatchObject({ code: 0 });
  expect(await migrate(["push"])).toMatchObject({
    code: 0,
    stdout: "nothing to do: the tables of local are as schema.ts declares\n",
    stderr: "",
  });
  expect(await rowsOf(database, "d")).toEqual([{ id: 1, tag: null }]);
  expect(await migrate(["verify", "--ledger"])).toMatchObject({ code: 0 });

  expect(await migrate(["generate", "one"])).toMatchObject({ code: 0 });
  // It says which command marks it.
  expect(await migrate(["up"])).toMatchObject(onStderr(4, "migrate baseline"));
  expect(await migrate(["push"])).toMatchObject({
    code: 4,
    stderr:
      "nothing is pushed: 0001_one is not applied on local; run migrate up first; if migrate push has made its changes, migrate baseline marks it as applied\n",
  });
  expect(await migrate(["baseline"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^marked 0001_one\n/) });
  expect(await migrate(["verify"])).toMatchObject({ code: 0 });
  expect(await migrate(["up"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
});

test("after migrations, what is pushed is the difference to the tables", async () => {
  const project = pushing(`d: { id: m.int32() }, e: { id: m.int32() }`);
  const { migrate, database } = project;
  expect(await migrate(["generate", "one"])).toMatchObject({ code: 0 });
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(database, "d", [{ id: 1 }]);
  declare(project, `d: { id: m.int32(), a: m.utf8() }, e: { id: m.int32() }`);
  expect(await migrate(["push"])).toMatchObject({ code: 0, stderr: expect.not.stringContaining("note") });
  declare(project, `d: { id: m.int32(), b: m.utf8(), a: m.utf8() }, e: { id: m.int32() }`);
  expect(await migrate(["push"])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(
      "note: migrate baseline will not accept what migrate generate writes: table d: the columns are in another order: id, a, b instead of id, b, a; give the schema the order of the table",
    ),
  });
  declare(project, `d: { id: m.int32(), a: m.utf8(), b: m.utf8() }, e: { id: m.int32() }`);
  expect(await migrate(["push"])).toMatchObject({ code: 0, stderr: "" });
  expect(await migrate(["generate", "two"])).toMatchObject({ code: 0 });
  expect(await migrate(["baseline"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^marked 0002_two\n/) });
});

test("a loss needs consent, and a column that is gone an answer", async () => {
  const project = pushing(`d: { id: m.int32(), title: m.utf8() }, gone: { id: m.int32() }`);
  const { migrate, database } = project;
  expect(await migrate(["push"])).toMatchObject({ code: 0 });
  await addRows(database, "d", [{ id: 1, title: "a" }]);
  declare(project, `d: { id: m.int32(), headline: m.utf8() }`);
  expect(await migrate(["push"])).toMatchObject(
    onStderr(4, "answer with --rename d.title:headline, or --drop-column d.title"),
  );
  const dropping = ["push", "--drop-column", "d.title"];
  expect(await migrate(dropping)).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /note: in neither .*: gone\nthe push, step \d \(dropColumn\) needs consent: d\.title is dropped with its values; run migrate push --accept lossy\n$/,
    ),
  });
  expect(await columnsOf(database, "d")).toContain("title: utf8");
  expect(await migrate(["push", "--rename", "d.title:headline"])).toMatchObject({ code: 0 });
  expect(await rowsOf(database, "d")).toEqual([{ id: 1, headline: "a" }]);
  const droppingTable = ["push", "--drop-table", "gone", "--accept"];
  expect(await migrate([...droppingTable, "lossy"])).toMatchObject({ code: 4 });
  expect(await migrate([...droppingTable, "irreversible"])).toMatchObject({ code: 0 });
  expect(migrationsIn(project)).toEqual([]);
});

test("a vector index waits until there are rows", async () => {
  const vectors = (indexes: string) => `d: m.table({ id: m.int32(), v: m.vector(2) }, { indexes: [${indexes}] })`;
  const project = pushing(vectors(""));
  const { migrate, database } = project;
  expect(await migrate(["push"])).toMatchObject({ code: 0 });
  declare(project, vectors(`{ on: "v", type: m.ivfFlat() }`));
  expect(await migrate(["push"])).toMatchObject({
    code: 0,
    stdout: "nothing to do: the tables of local are as schema.ts declares\n",
    stderr: expect.stringMatching(/^note: left until the table has enough rows: create index v_idx on d\.v/),
  });
  await addRows(database, "d", [{ id: 1, v: [1, 2] }]);
  expect(await migrate(["push"])).toMatchObject(onStdout(0, "pushed 1 step"));
});

test("a target that does not allow it is refused", async () => {
  const project = pushing(`d: { id: m.int32() }`);
  configure(project, "");
  expect(await project.migrate(["push"])).toEqual({
    code: 4,
    stdout: "",
    stderr:
      "nothing is pushed: migrate.config.ts does not allow it on target local; write a migration with migrate generate, or set push: true for this target if it is only for trying things out\n",
  });
  expect(await project.migrate(["push", "--json"])).toMatchObject({
    stdout: expect.stringContaining("ERR_PUSH_REFUSED"),
  });
});

test("an action that fails is named, with what is done, and the next push does the rest", async () => {
  const project = pushing(`a: { id: m.int32() }, b: { id: m.int32() }`);
  // The place of the new table is taken.
  project.write(".lancedb/b.lance/data/x.lance", "");
  const { code, stdout } = await project.migrate(["push", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout.trim().split("\n").at(-1)!)).toMatchObject({
    code: "ERR_PUSH_FAILED",
    message: expect.stringMatching(
      /^create table b \(id int32\) failed: .* has files but no table: .*; 1 of 2 actions done; fix the cause, and run migrate push again$/,
    ),
  });
  expect(await columnsOf(project.database, "a")).toEqual(["id: int32"]);
  rmSync(join(project.database, "b.lance"), { recursive: true });
  expect(await project.migrate(["push"])).toMatchObject(onStdout(0, "pushed 1 step"));
});

test("of two pushes at once, one makes the changes and the other finds them made", async () => {
  const project = pushing(`a: { id: m.int32() }, b: { id: m.int32() }, c: { id: m.int32() }`);
  const both = await Promise.all([1, 2].map(async () => await project.start(["push"]).finished));
  expect(both).toMatchObject([{ code: 0 }, { code: 0 }]);
  expect(await versionsOf(project.database)).toMatchObject({ a: 1, b: 1, c: 1 });
  expect(await project.migrate(["verify", "--ledger"])).toMatchObject({ code: 0 });
});

test("a service with the dialect namespace can be pushed to, if it is allowed", async () => {
  const project = await aProjectOn("namespace");
  declare(project, `d: { id: m.int32() }`);
  expect(await project.migrate(["push"], key)).toMatchObject({ code: 4 });
  const config = readFileSync(join(project.folder, "migrate.config.ts"), "utf8");
  project.write("migrate.config.ts", config.replace(`"kind"`, `push: true, "kind"`));
  expect(await project.migrate(["push"], key)).toMatchObject({ code: 0 });
  expect(await columnsOf(project.data, "d")).toEqual(["id: int32"]);
});
