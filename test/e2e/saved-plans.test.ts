/** Plans in files: carried out just as they are, once, or refused with what has changed; with the built command. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openMigrator } from "../../src/index.ts";
import { casesInTurn } from "../support/rounds.ts";
import { addRows, columnsOf, lancedb, rowsOf, versionsOf } from "../support/tables.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";
import { onStderr, onStdout } from "../support/project.ts";

const inTurn = casesInTurn();

const ways = ["lance", "namespace", "service"] as const;
const create = `m.createTable("documents", { id: m.int32(), title: m.utf8() }),`;
const rename = `m.renameColumn("documents", "title", "headline"), m.retypeColumn("documents", "id", m.int64()),`;

/** A project with an applied migration, a pending one, and the plan of it in plan.json. */
async function planned(way: Way, flags: readonly string[] = []) {
  const onTarget = await aProjectOn(way);
  const project = { ...onTarget, migrate: (args: readonly string[]) => onTarget.migrate(args, key) };
  project.migration("0001_create.ts", create);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0002_rename.ts", rename);
  const before = await versionsOf(project.data);
  const made = await project.migrate(["plan", ...flags, "--out", "plan.json"]);
  expect(made).toMatchObject({ code: 0, stderr: "saved; migrate up --plan plan.json runs exactly this plan, once\n" });
  expect(await versionsOf(project.data)).toEqual(before);
  const up = () => project.migrate(["up", "--plan", "plan.json"]);
  return { ...project, up, columns: () => columnsOf(project.data, "documents") };
}

const before = ["id: int32", "title: utf8"];
const after = ["id: int64", "headline: utf8"];

function refused(why: string, wayOut = "make a new one with migrate plan --out FILE") {
  return { code: 4, stdout: "", stderr: `the saved plan can't be carried out: ${why}; ${wayOut}\n` };
}

test.each(inTurn(ways))("a saved plan is carried out once, and repeating it succeeds, on %s", async (way) => {
  const { up, columns, migrate, migration, folder } = await planned(way);
  expect(await up()).toMatchObject(onStdout(0, "applied 0002_rename"));
  expect(await columns()).toEqual(after);
  expect(await up()).toMatchObject({ code: 0, stdout: "nothing to do\n" });
  migration("0003_more.ts", `m.setNullable("documents", "id", false),`);
  expect(await up()).toMatchObject({ code: 0, stdout: "nothing to do\n" });
  rmSync(join(folder, "migrations/0003_more.ts"));
  expect(await migrate(["verify", "--ledger"])).toMatchObject({ code: 0 });
  const { id } = JSON.parse(readFileSync(join(folder, "plan.json"), "utf8"));
  expect((await migrate(["history"])).stdout).toContain(`runs the saved plan ${id.slice(0, 16)}\n`);
  expect(await migrate(["down"])).toMatchObject({ code: 0 });
  const second = await up();
  expect(second).toMatchObject({ code: 4, stdout: "" });
  expect(second.stderr).toMatch(
    /^the saved plan can't be carried out: it was used already, in epoch 2 of the ledger, by .*, and another run has written to the ledger since: record 3\.\d is \w+, by .*; make a new one/,
  );
  expect(await migrate(["up"])).toMatchObject({ code: 0 });
  expect(await columns()).toEqual(after);
});

test.each(inTurn(ways))("it is refused for another target, and for another place of that name, on %s", async (way) => {
  const { up, write, migrate, folder } = await planned(way);
  const config =
    way === "lance" ? "export default { targets: {} };" : readFileSync(join(folder, "migrate.config.ts"), "utf8");
  const name = way === "lance" ? "local" : "here";
  const place = way === "lance" ? `{ kind: "lance", uri: ".lancedb" }` : /here: *(\{.*?\})/.exec(config)![1]!;
  const elsewhere = `{ kind: "lance", uri: "elsewhere" }`;
  write(
    "migrate.config.ts",
    `export default { targets: { ${name}: ${place}, other: ${elsewhere} }, target: "${name}" };\n`,
  );
  expect(await migrate(["up", "--plan", "plan.json", "-t", "other"])).toEqual(
    refused(`it was made for target ${name}, not for other`, `run it on ${name}, or make a new plan`),
  );
  write("migrate.config.ts", `export default { targets: { ${name}: ${elsewhere} } };\n`);
  const { code, stderr } = await up();
  expect(code).toBe(4);
  expect(stderr).toMatch(
    new RegExp(`: it was made for target ${name} at .*, and that is .*elsewhere now; make a new one`),
  );
  write("migrate.config.ts", `export default { targets: { ${name}: ${place} } };\n`);
  expect(await up()).toMatchObject({ code: 0 });
});

test.each(inTurn(ways))(
  "a plan for nothing does nothing, and is refused once there is something, on %s",
  async (way) => {
    const { up, migrate, migration, data } = await planned(way);
    expect(await up()).toMatchObject({ code: 0 });
    expect(await migrate(["plan", "--out", "plan.json"])).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    const versions = await versionsOf(data);
    expect(await up()).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    expect(await versionsOf(data)).toEqual(versions);
    migration("0003_more.ts", `m.setNullable("documents", "id", false),`);
    expect(await up()).toEqual(refused("0003_more.ts is not in it, and would be applied too"));
  },
);

test.each(inTurn(ways.slice(0, 2)))("it is refused when a table got another schema, on %s", async (way) => {
  const { up, data } = await planned(way);
  const table = await (await lancedb.connect(data)).openTable("documents");
  await table.addColumns([{ name: "extra", valueSql: "1" }]);
  expect(await up()).toEqual(
    refused("table documents has another schema by now: column extra (int64 not null) was not expected"),
  );
});

test.each(inTurn(ways.slice(0, 2)))(
  "a plan that rolls back is carried out, and loses no more than was said, on %s",
  async (way) => {
    const { up, migrate, data, columns } = await planned(way);
    expect(await up()).toMatchObject({ code: 0 });
    const out = ["plan", "--down", "--to", "0", "--accept", "lossy", "--out", "back.json"];
    await addRows(data, "documents", [{ id: 1n, headline: "one" }]);
    expect(await migrate(["plan", "--down", "--to", "0", "--out", "back.json"])).toMatchObject(
      onStderr(4, "documents has 1 row"),
    );
    expect(await migrate(out)).toMatchObject({ code: 0 });
    await addRows(data, "documents", [{ id: 2n, headline: "two" }]);
    const { code, stderr } = await migrate(["down", "--plan", "back.json"]);
    expect(code).toBe(4);
    expect(stderr).toMatch(
      /: table documents was written to, and the plan loses rows of it: it is at version \d+, and was at \d+;/,
    );
    expect(await rowsOf(data, "documents")).toHaveLength(2);
    expect(await columns()).toEqual(after);
    expect(await migrate(out)).toMatchObject({ code: 0 });
    expect(await migrate(["down", "--plan", "back.json"])).toMatchObject(onStdout(0, "2 migrations rolled back"));
    expect(await (await lancedb.connect(data)).tableNames()).not.toContain("documents");
    expect(await migrate(["down", "--plan", "back.json"])).toMatchObject({ code: 0, stdout: "nothing to roll back\n" });
  },
);

test.each([
  ["lance", 0],
  ["lance", 5],
  ["namespace", 1],
] as const)(
  "it is refused when a table was dropped and recreated with the same schema (%s, %i more versions)",
  async (way, more) => {
    const { up, data } = await planned(way, ["--accept", "lossy"]);
    const db = await lancedb.connect(data);
    const schema = await (await db.openTable("documents")).schema();
    await db.dropTable("documents");
    const table = await db.createEmptyTable("documents", schema);
    for (let id = 1; id <= more; id++) await table.add([{ id, title: "theirs" }]);
    expect(await up()).toEqual(refused("table documents was dropped and recreated since the plan was saved"));
    expect(await columnsOf(data, "documents")).toEqual(before);
    expect(await rowsOf(data, "documents")).toHaveLength(more);
  },
);

test("it is refused when a table was recreated at a lower version", async () => {
  const { up, data, migrate, migration } = await planned("lance");
  expect(await up()).toMatchObject({ code: 0 });
  migration("0003_back.ts", `m.retypeColumn("documents", "id", m.int32()),`);
  expect(await migrate(["plan", "--out", "plan.json"])).toMatchObject({ code: 0 });
  const db = await lancedb.connect(data);
  const schema = await (await db.openTable("documents")).schema();
  await db.dropTable("documents");
  await db.createEmptyTable("documents", schema);
  expect(await up()).toEqual(refused("table documents was dropped and recreated since the plan was saved"));
});

test.each(inTurn(["lance", "namespace"] as const))(
  "it is refused when the version that it was made from was cleaned up (%s)",
  async (way) => {
    const { up, data } = await planned(way);
    const table = await (await lancedb.connect(data)).openTable("documents");
    await table.add([{ id: 1, title: "one" }]);
    await table.optimize({ cleanupOlderThan: new Date(), deleteUnverified: true });
    expect(await up()).toEqual(
      refused(
        "version 1 of table documents was cleaned up since the plan was saved, so it is unknown whether this is the same table",
        "save the plan again with migrate plan --out FILE",
      ),
    );
    expect(await columnsOf(data, "documents")).toEqual(before);
  },
);

test("a plan that restores a table keeps rows that are added later, and is refused if it would lose what was changed", async () => {
  const { up, migrate, migration, data } = await planned("lance");
  expect(await up()).toMatchObject({ code: 0 });
  await addRows(data, "documents", [{ id: 1n, headline: "one" }]);
  migration("0003_drop.ts", `m.dropColumn("documents", "headline"),`);
  expect(await migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  await addRows(data, "documents", [{ id: 2n }]);
  const out = ["plan", "--down", "--reinsert", "--out", "back.json"];
  expect(await migrate(out)).toMatchObject({ code: 0 });
  await addRows(data, "documents", [{ id: 3n }]);
  const down = async () => await migrate(["down", "--plan", "back.json"]);
  expect(await down()).toMatchObject({ code: 0 });
  expect(await rowsOf(data, "documents")).toEqual([
    { id: 1, headline: "one" },
    { id: 2, headline: null },
    { id: 3, headline: null },
  ]);
  expect(await migrate(["up", "--accept", "lossy"])).toMatchObject({ code: 0 });
  expect(await migrate(["plan", "--down", "--out", "back.json"])).toMatchObject({ code: 0 });
  await (await (await lancedb.connect(data)).openTable("documents")).update({ values: { id: 5 }, where: "id = 1" });
  const { code, stderr } = await down();
  expect([code, stderr]).toEqual([4, expect.stringContaining("1 row of documents was changed or removed since")]);
  expect((await rowsOf(data, "documents")).map(({ id }) => id).toSorted()).toEqual([2, 3, 5]);
});

test("it is refused when an application has made an index that must be made again", async () => {
  const { up, data, columns } = await planned("lance");
  await (await (await lancedb.connect(data)).openTable("documents")).createIndex("id");
  expect(await up()).toEqual(refused("by now 0002_rename.ts, step 2 would be applied otherwise than planned"));
  expect(await columns()).toEqual(before);
});

test("it is refused when a file says otherwise how it is rolled back", async () => {
  const { up, migrate, write, columns } = await planned("lance");
  expect(await up()).toMatchObject({ code: 0 });
  expect(await migrate(["plan", "--down", "--out", "back.json"])).toMatchObject({ code: 0 });
  write(
    "migrations/0002_rename.ts",
    `import * as m from "lance-migrate";\nexport const up = [${rename}];\nexport const down = [
      m.renameColumn("documents", "headline", "title"), m.retypeColumn("documents", "id", m.int32()),
    ];\n`,
  );
  expect(await migrate(["down", "--plan", "back.json"])).toEqual(
    refused(
      "by now 0002_rename.ts, step 2 would be rolled back otherwise than planned",
      "make a new one with migrate plan --down --out FILE",
    ),
  );
  expect(await columns()).toEqual(after);
});

test("a plan whose run was stopped by --timeout is finished by the same command", async () => {
  const { up, migrate, migration, write, data, columns } = await planned("lance");
  await addRows(data, "documents", [{ id: 1, title: "one" }]);
  write(
    "length.ts",
    `import { existsSync } from "node:fs";
export default async (rows) => {
  while (!existsSync(new URL("ready", import.meta.url))) await new Promise((done) => setTimeout(done, 50));
  return rows.map(({ headline }) => headline.length);
};\n`,
  );
  const computation = `{ from: ["headline"], key: "id", with: "./length.ts", version: "1" }`;
  const fill = `m.addColumn("documents", "n", m.int32()), m.backfillColumn("documents", "n", ${computation}),`;
  migration("0002_rename.ts", `${rename} ${fill}`);
  expect(await migrate(["plan", "--out", "plan.json"])).toMatchObject({ code: 0 });
  const stopped = await migrate(["up", "--plan", "plan.json", "--timeout", "5"]);
  expect(stopped).toMatchObject(onStderr(130, "not done within 5 s (--timeout)"));
  write("ready", "");
  expect(await up()).toMatchObject(onStdout(0, "1 migration applied"));
  expect(await columns()).toEqual([...after, "n: int32"]);
  expect(await rowsOf(data, "documents")).toEqual([{ id: 1, headline: "one", n: 3 }]);
  expect(await up()).toMatchObject({ code: 0, stdout: "nothing to do\n" });
});

test("a plan that failed is resumed by the same command, or by a new plan", async () => {
  const { up, migrate, migration, data, columns } = await planned("lance");
  await addRows(data, "documents", [{ id: 1, title: null }]);
  // A null that a step before may fill is not known to stop it.
  const fill = `m.execute("documents", { update: { headline: "'none'" }, where: "headline is null and id > 5" }),`;
  migration("0002_rename.ts", `${rename} ${fill} m.setNullable("documents", "headline", false),`);
  expect(await migrate(["plan", "--out", "plan.json"])).toMatchObject({ code: 0 });
  expect(await up()).toMatchObject({ code: 1 });
  expect((await up()).stderr).toContain("0002_rename.ts, step 4 ");
  await (await (await lancedb.connect(data)).openTable("documents")).delete("id = 1");
  expect(await migrate(["plan", "--out", "rest.json"])).toMatchObject({ code: 0 });
  expect(await migrate(["plan", "--plan", "plan.json"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("make documents.headline not null"),
    stderr: "the saved plan is still valid\n",
  });
  expect(await up()).toMatchObject(onStdout(0, "1 migration applied"));
  expect(await columns()).toEqual(["id: int64", "headline: utf8 not null"]);
  expect((await migrate(["up", "--plan", "rest.json"])).stderr).toContain(
    "another run has written to the ledger since",
  );
});

test("the consent that a plan was made with is in it, and without it none is made; so is what else it was asked for", async () => {
  const { migration, migrate, up, columns } = await planned("lance");
  migration("0002_rename.ts", `m.dropColumn("documents", "title"),`);
  expect(await migrate(["plan", "--out", "other.json"])).toMatchObject({ code: 4, stdout: "" });
  expect(await migrate(["plan", "--accept", "lossy", "--to", "2", "--out", "plan.json"])).toMatchObject({ code: 0 });
  migration("0003_more.ts", `m.setNullable("documents", "id", false),`);
  expect(await up()).toMatchObject({ code: 0 });
  expect(await columns()).toEqual(["id: int32"]);
  expect(await migrate(["status", "--check"])).toMatchObject({ code: 3 });
});

test("it may begin with a byte order mark, as some editors write it", async () => {
  const { migrate, write, folder } = await planned("lance");
  write("plan.json", `\uFEFF${readFileSync(join(folder, "plan.json"), "utf8")}`);
  expect(await migrate(["plan", "--plan", "plan.json"])).toMatchObject({
    code: 0,
    stderr: "the saved plan is still valid\n",
  });
});

test("whether it still holds can be asked without using it", async () => {
  const { migration, migrate, up, columns, folder } = await planned("lance");
  const shown = (await migrate(["plan"])).stdout;
  for (const asked of [
    ["plan", "--plan", "plan.json"],
    ["up", "--plan", "plan.json", "--dry-run"],
  ])
    expect(await migrate(asked)).toEqual({ code: 0, stdout: shown, stderr: "the saved plan is still valid\n" });
  expect(await columns()).toEqual(before);
  migration("0003_more.ts", `m.setNullable("documents", "id", false),`);
  const words = refused("0003_more.ts is not in it, and would be applied too");
  expect(await migrate(["plan", "--plan", "plan.json"])).toEqual(words);
  rmSync(join(folder, "migrations/0003_more.ts"));
  expect(await up()).toMatchObject({ code: 0 });
  expect(await migrate(["plan", "--plan", "plan.json"])).toEqual({
    code: 0,
    stdout: "nothing to do\n",
    stderr: "the saved plan is carried out: nothing of it is left\n",
  });
  expect(await migrate(["plan", "--down", "--out", "back.json"])).toMatchObject({ code: 0 });
  expect(await migrate(["plan", "--plan", "back.json"])).toMatchObject({ code: 0 });
  expect(await migrate(["down", "--plan", "back.json", "--dry-run"])).toMatchObject({ code: 0 });
  expect(await migrate(["down", "--plan", "back.json"])).toMatchObject({ code: 0 });
  expect(await columns()).toEqual(before);
});

const wrong = [
  [["up", "--plan", "plan.json", "--to", "2"], "--plan and --to can't be used together"],
  [["plan", "--plan", "plan.json", "--out", "b.json"], "--plan and --out can't be used together"],
  [["plan", "--down", "--plan", "plan.json"], "the plan is one for migrate up, not for migrate down"],
  [["down", "--plan", "plan.json", "--accept", "lossy"], "--plan and --accept can't be used together"],
  [["down", "--plan", "plan.json"], "the plan is one for migrate up, not for migrate down"],
  [["up", "--plan", "none.json"], /^none\.json can't be read: ENOENT.*; make a new one with migrate plan --out FILE$/],
  [["up", "--plan", "package.json"], "package.json is no saved plan; make a new one with migrate plan --out FILE"],
  [["up", "--plan", "migrations/0001_create.ts"], /is no saved plan; make a new one/],
  [["up", "--plan", ""], "--plan needs a value"],
  [["plan", "--out", "package.json/plan.json"], /^the plan can't be written: (ENOTDIR|EEXIST)/],
] as const;

test("flags that do not go together, a plan of another kind, and files that are no plan are wrong usage", async () => {
  const { migrate, columns } = await planned("lance");
  for (const [args, words] of wrong) {
    const { code, stderr } = await migrate(args);
    expect({ args, code }).toEqual({ args, code: 2 });
    expect(stderr.trimEnd()).toMatch(words);
  }
  expect(await columns()).toEqual(before);
});

test("no secret is in it", async () => {
  const { folder, write, migrate } = await planned("lance");
  write(
    "migrate.config.ts",
    `export default { targets: { local: { kind: "lance", uri: ".lancedb", storageOptions: { aws_secret_access_key: "hidden-hidden" } } } };\n`,
  );
  expect(await migrate(["plan", "--out", "plan.json"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, "plan.json"), "utf8")).not.toContain("hidden-hidden");
});

test("from a program", async () => {
  const { folder, columns } = await planned("lance");
  const open = () => openMigrator({ folder });
  const migrator = await open();
  const plan = await migrator.savePlan();
  const kept = JSON.parse(JSON.stringify(plan)) as typeof plan;
  await expect(migrator.up({ plan: kept, to: 2 })).rejects.toMatchObject({ code: "ERR_USAGE" });
  await expect(migrator.down({ plan: kept })).rejects.toMatchObject({ code: "ERR_USAGE" });
  expect(await migrator.up({ plan: kept })).toEqual({ applied: 1, total: 2 });
  expect(await columns()).toEqual(after);
  expect(await migrator.up({ plan: kept })).toEqual({ applied: 0, total: 2 });
  expect(await migrator.down({ plan: await migrator.savePlanDown() })).toEqual({ reverted: 1, total: 1 });
  await expect(migrator.up({ plan: kept })).rejects.toMatchObject({
    code: "ERR_PLAN_STALE",
    details: { changed: "used" },
  });
  await migrator.close();
});

test("of two that carry it out at the same time one does", async () => {
  const { up, columns } = await planned("lance");
  const ends = await Promise.all([up(), up(), up()]);
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(ends.filter(({ stdout }) => stdout === "nothing to do\n")).toHaveLength(2);
  expect(await columns()).toEqual(after);
});
