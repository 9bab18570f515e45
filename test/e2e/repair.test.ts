/** migrate repair, where ledgers are lost or changed and tables are put back. */
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { columnsOf, lancedb, versionsOf } from "../support/tables.ts";
import { aProject, onStderr, onStdout } from "../support/project.ts";
import { casesInTurn } from "../support/rounds.ts";
import {
  aKeptProject,
  changeRecord,
  described,
  dropLedger,
  dropRecord,
  everywhere,
  type KeptProject,
} from "./support/kept.ts";

const inTurn = casesInTurn();

const wide = { people: ["id: int64", "full_name: utf8"], places: ["id: int32", "label: utf8"] };

async function tablesOf({ data }: KeptProject): Promise<typeof wide> {
  const [people, places] = await Promise.all([columnsOf(data, "people"), columnsOf(data, "places")]);
  return { people: [...people], places: [...places] };
}

/** Places that are none: wrong usage. */
const nowhere = [
  ["3.99", "3.99: 0003_names has 2 actions"],
  ["4.2", "4.2: 0004_wider has 1 action"],
  ["99", "0099: there is no such migration; they go from 0001_people to 0004_wider"],
] as const;

/** What up does, and that all is as it should afterwards. */
async function goesOn(project: KeptProject, says: string): Promise<void> {
  expect(await project.run("up")).toMatchObject(onStdout(0, says));
  expect(await tablesOf(project)).toEqual(wide);
  expect(await project.run("up")).toMatchObject({ code: 0, stdout: "nothing to do\n" });
  for (const args of [["verify"], ["verify", "--ledger"], ["repair"]])
    expect(await project.run(...args)).toMatchObject({ code: 0 });
}

test.each(inTurn(everywhere))(
  "where all is well there is nothing to repair, and nothing is changed, whatever place is asked for (%s)",
  async (kept) => {
    const project = await aKeptProject(kept, 3);
    const before = await versionsOf(project.data);
    for (const args of [["repair"], ["repair", "--yes"]]) {
      expect(await project.run(...args)).toMatchObject({
        code: 0,
        stdout: "nothing needs to be repaired\n",
        stderr: "",
      });
      for (const [to, says] of kept === "lance" ? nowhere : [])
        expect(await project.run(...args, "--to", to)).toEqual({ code: 2, stdout: "", stderr: `--to ${says}\n` });
    }
    expect(await versionsOf(project.data)).toEqual(before);
  },
);

test.each(inTurn(described))(
  "a ledger that is lost is rebuilt from the tables, and only when told to (%s)",
  async (kept) => {
    const project = await aKeptProject(kept, 3);
    await dropLedger(project);
    const before = await versionsOf(project.data);
    const lost =
      "the ledger _migrations records no migration, and the tables are as they were after 0003_names: if they were there before the migrations, run migrate baseline --to 0003; if the ledger was lost, run migrate repair";
    for (const args of [["status", "--check"], ["plan"], ["up"]]) {
      const { code, stdout, stderr } = await project.run(...args);
      expect({ code, says: stdout + stderr }).toEqual({ code: 4, says: expect.stringContaining(lost) });
    }
    const verified = await project.run("verify");
    expect(verified).toMatchObject(onStdout(4, "; see migrate repair\n"));
    const explained = await project.run("repair");
    expect(explained).toMatchObject({ code: 4, stderr: "" });
    expect(explained.stdout).toContain("tables that they make are there: people, places");
    expect(explained.stdout).toContain("the tables are as they were after 0003_names");
    expect(explained.stdout).toContain("nothing was changed; migrate repair --yes does it");
    expect(await versionsOf(project.data)).toEqual(before);
    expect(await project.run("repair", "--yes")).toMatchObject(onStdout(0, "done;"));
    expect(await project.run("status", "--check")).toMatchObject(onStdout(3, "3 migrations applied, 1 pending"));
    await goesOn(project, "applied 0004_wider");
  },
);

test.each(described)(
  "a lost ledger is rebuilt where tables have indexes and were renamed, beside other applications' tables (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    project.migration("0005_index.ts", `m.createIndex("people", "id", m.btree())`);
    project.migration("0006_rename.ts", `m.renameTable("places", "towns"), m.createIndex("towns", "label", m.btree())`);
    const last = kept === "lance" ? "0005_index" : "0006_rename";
    // The engine cannot rename a table in a folder.
    if (kept === "lance") rmSync(join(project.folder, "migrations/0006_rename.ts"));
    expect(await project.run("up")).toMatchObject({ code: 0 });
    const db = await lancedb.connect(project.data);
    const others = await db.createTable("orders", [{ id: 1, total: 2 }]);
    await others.createIndex("id");
    await (await db.openTable("people")).createIndex("full_name", { config: lancedb.Index.btree() });
    await dropLedger(project);
    expect(await project.run("repair", "--yes")).toMatchObject(
      onStdout(0, `the tables are as they were after ${last}`),
    );
    for (const args of [["verify"], ["verify", "--ledger"], ["repair"], ["up"], ["status", "--check"]])
      expect(await project.run(...args)).toMatchObject({ code: 0 });
    expect(await others.countRows()).toBe(1);
  },
);

test.each(inTurn(described))(
  "a ledger that is lost in the middle of a migration is rebuilt so that it continues there (%s)",
  async (kept) => {
    const project = await aKeptProject(kept, 2);
    const people = await (await lancedb.connect(project.data)).openTable("people");
    await people.alterColumns([{ path: "name", rename: "full_name" }]);
    await dropLedger(project);
    expect(await project.run("repair", "--yes")).toMatchObject(onStdout(0, "after 1 of 2 actions of 0003_names"));
    await goesOn(project, "2 migrations applied");
  },
);

test.each(inTurn(described))("tables that were put back from a backup are found where they are (%s)", async (kept) => {
  const project = await aKeptProject(kept);
  const people = await (await lancedb.connect(project.data)).openTable("people");
  // A retype of a nullable column takes three commits.
  await people.checkout((await people.version()) - 3);
  await people.restore();
  const { code, stdout } = await project.run("repair");
  expect(code).toBe(4);
  expect(stdout).toContain("table people is not as the ledger records: column id is int32 instead of int64");
  expect(stdout).toContain("as they were after 0003_names");
  expect(await project.run("repair", "--yes")).toMatchObject({ code: 0 });
  await goesOn(project, "applied 0004_wider");
});

test.each(inTurn(described))("a ledger that knows less than the tables show learns it (%s)", async (kept) => {
  const project = await aKeptProject(kept, 3);
  const people = await (await lancedb.connect(project.data)).openTable("people");
  await people.alterColumns([{ path: "id", dataType: "int64" }]);
  expect(await project.run("repair", "--yes")).toMatchObject(onStdout(0, "after 0004_wider"));
  await goesOn(project, "nothing to do");
});

test.each(["lance", "service"] as const)(
  "a chain that was broken is recreated, and what was found is known from then on (%s)",
  async (kept) => {
    const project = await aKeptProject(kept, 3);
    await changeRecord(project, kept, "1.2");
    const explained = await project.run("repair");
    expect(explained).toMatchObject(onStdout(4, "1.2 was changed"));
    expect(explained.stdout.includes("whether this is so is not checked")).toBe(kept === "service");
    expect(await project.run("repair", "--yes")).toMatchObject({ code: 0 });
    expect(await project.run("verify", "--ledger")).toMatchObject(
      onStdout(0, "1.2 was changed: 1.3 follows a record that is not there (known: the ledger was rebuilt since)"),
    );
    await goesOn(project, "applied 0004_wider");
    await changeRecord(project, kept, "2.3");
    expect(await project.run("verify", "--ledger")).toMatchObject({ code: 4 });
  },
);

test.each(inTurn(described))("damage to the newest record is acknowledged too, not written over (%s)", async (kept) => {
  const project = await aKeptProject(kept, 3);
  const table = await (await lancedb.connect(project.data)).openTable("_migrations");
  const places = await table.query().select(["epoch", "number"]).toArray();
  const newest = places
    .map(({ epoch, number }) => [Number(epoch), Number(number)] as const)
    .toSorted((one, other) => one[0] - other[0] || one[1] - other[1])
    .at(-1)!;
  await table.update({ where: `key = '${newest.join(".")}'`, values: { applied: "x" } });
  expect(await project.run("repair")).toMatchObject({ code: 4 });
  expect(await project.run("repair", "--yes")).toMatchObject(onStdout(0, "done; "));
  expect(await project.run("verify", "--ledger")).toMatchObject({ code: 0 });
  await goesOn(project, "applied 0004_wider");
});

test.each([
  { what: "gone", harm: (project: KeptProject) => dropRecord(project, "lance", "1.3") },
  {
    what: "about another number",
    async harm({ data }: KeptProject) {
      const records = await (await lancedb.connect(data)).openTable("_migrations");
      await records.update({ where: "key = '1.3'", values: { version: "40" } });
    },
  },
])("a migration whose record is $what has its place between those that ran before and after it", async ({ harm }) => {
  const project = await aKeptProject("lance");
  await harm(project);
  expect(await project.run("status")).toMatchObject({ stdout: expect.stringContaining("pending") });
  expect(await project.run("repair")).toMatchObject({
    stdout: expect.stringContaining("as they were after 0004_wider"),
  });
  expect(await project.run("repair", "--yes", "--to", "4")).toMatchObject({ code: 0 });
  await goesOn(project, "nothing to do");
});

test("a migration that the tables show as done is not said to be gone on with", async () => {
  const project = await aKeptProject("lance");
  const records = await (await lancedb.connect(project.data)).openTable("_migrations");
  await records.update({ where: "key = '1.4'", values: { event: "failed" } });
  const { code, stdout } = await project.run("repair");
  expect(code).toBe(4);
  expect(stdout).toContain("the tables are as they were after 0004_wider");
  expect(stdout).not.toContain("resumes");
});

test("a ledger of markers that is lost can't be rebuilt, but baseline can say how far the tables are", async () => {
  const project = await aKeptProject("service");
  await dropLedger(project);
  const before = await versionsOf(project.data);
  for (const args of [["repair"], ["repair", "--yes"]]) {
    const { code, stderr } = await project.run(...args);
    expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining("can't describe its tables") });
    expect(stderr).toContain("record that with migrate baseline --to NUMBER");
  }
  expect(await versionsOf(project.data)).toEqual(before);
  expect(await project.run("status", "--check")).toMatchObject({
    code: 4,
    stdout: expect.stringContaining(
      "the ledger _migrations records no migration, and tables that migrations create are there: people, places; see migrate repair",
    ),
  });
  expect(await project.run("baseline", "--to", "3")).toMatchObject({ code: 0 });
  await goesOn(project, "applied 0004_wider");
});

test.each(inTurn(described))(
  "a ledger that can't be read says how to be rid of it, and that helps (%s)",
  async (kept) => {
    const project = await aKeptProject(kept, 3);
    const db = await lancedb.connect(project.data);
    await (await db.openTable("_migrations")).dropColumns(["checksum"]);
    for (const args of [["up"], ["repair"], ["verify", "--ledger"]])
      expect(await project.run(...args)).toMatchObject({
        code: 4,
        stderr: expect.stringMatching(
          /column checksum is not as .* move the folder _migrations\.lance out of the database's folder, or drop the table where there is no such folder, then run migrate repair\n$/,
        ),
      });
    if (kept === "lance")
      renameSync(join(project.data, "_migrations.lance"), join(project.folder, "_migrations.lance"));
    else await dropLedger(project);
    expect(await project.run("repair", "--yes")).toMatchObject({ code: 0 });
    await goesOn(project, "applied 0004_wider");
  },
);

test.each(inTurn(described))(
  "tables that were nowhere in history are refused, with the nearest place (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    const people = await (await lancedb.connect(project.data)).openTable("people");
    await people.alterColumns([{ path: "full_name", rename: "called" }]);
    await dropLedger(project);
    const before = await versionsOf(project.data);
    const { code, stderr } = await project.run("repair", "--yes");
    expect(code).toBe(4);
    expect(stderr).toContain("nearest is after 0004_wider");
    expect(stderr).toContain("table people: column full_name is missing, column called (utf8) was not expected");
    expect(await versionsOf(project.data)).toEqual(before);
    const [, anyway] = /in spite of the differences, which migrate verify then reports: migrate (.*)$/m.exec(stderr)!;
    expect(await project.run(...anyway!.split(" "))).toMatchObject(
      onStdout(0, "the tables are not as they were after 0004_wider: table people: column full_name"),
    );
    expect(await project.run("status", "--check")).toMatchObject({ code: 0 });
    expect(await project.run("verify")).toMatchObject(onStdout(4, "column called (utf8)"));
    await people.alterColumns([{ path: "called", rename: "full_name" }]);
    await goesOn(project, "nothing to do");
  },
);

test.each(inTurn(described))("a table that is gone must be brought back, and no other dropped (%s)", async (kept) => {
  const project = await aKeptProject(kept);
  await (await lancedb.connect(project.data)).dropTable("people");
  const known = await project.run("repair", "--yes");
  expect(known).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      "the nearest is what the ledger records, where table people: it does not exist; bring table people back from a backup; without one, let migrate up create it EMPTY in another, empty database, and copy its folder from there, then",
    ),
  });
  await dropLedger(project);
  const lost = await project.run("repair", "--yes");
  expect(lost).toMatchObject(
    onStderr(4, "the nearest is after 0004_wider, where table people: it does not exist; bring table people back"),
  );
});

test.each(inTurn(described))(
  "a table that others made where a step is to create one is in the way (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    project.migration("0005_tags.ts", `m.createTable("tags", { id: m.int32(), tag: m.utf8() })`);
    await (await lancedb.connect(project.data)).createTable("tags", [{ id: 1 }]);
    expect(await project.run("repair")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        "the nearest is what the ledger records, where table tags: it exists, but should not; remove the step that creates table tags, or let it create a table of another name, then",
      ),
    });
  },
);

test.each(inTurn(described))(
  "where several places fit nothing is done until one is chosen, which is taken or refused, also if nothing needs to be repaired (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    project.migration("0005_back.ts", `m.retypeColumn("people", "id", m.int32())`);
    project.migration("0006_again.ts", `m.retypeColumn("people", "id", m.int64())`);
    expect(await project.run("up")).toMatchObject({ code: 0 });
    expect(await project.run("repair", "--yes", "--to", "6")).toMatchObject({
      code: 0,
      stdout: "nothing needs to be repaired\n",
    });
    for (const to of ["start", "3.1", "5"])
      expect(await project.run("repair", "--yes", "--to", to)).toMatchObject({
        code: 4,
        stderr: `--to ${to}: the tables are not as they were there; they are as they were after 0004_wider and after 0006_again\n`,
      });
    expect(await project.run("repair", "--yes", "--to", "4")).toMatchObject({ code: 0 });
    await goesOn(project, "2 migrations applied");

    await dropLedger(project);
    for (const args of [["repair"], ["repair", "--yes"]]) {
      expect(await project.run(...args)).toMatchObject(onStderr(4, "choose with --to 0004 or --to 0006"));
    }
    expect(await project.run("repair", "--yes", "--to", "5")).toMatchObject(
      onStderr(4, "--to 5: the tables are not as they were there"),
    );
    expect(await project.run("repair", "--yes", "--to", "4")).toMatchObject({ code: 0 });
    expect(await project.run("status")).toMatchObject({
      stdout: expect.stringContaining("4 migrations applied, 2 pending"),
    });
    await goesOn(project, "2 migrations applied");
  },
);

test("before the first migration is a place of its own, beside a migration with the number 0", async () => {
  const project = await aKeptProject("lance", 0);
  project.migration("0000_zero.ts", `m.createTable("zero", { id: m.int32() })`);
  await project.run("up");
  const db = await lancedb.connect(project.data);
  for (const name of ["zero", "people", "places"]) await db.dropTable(name);
  expect(await project.run("repair", "--to", "0")).toMatchObject(
    onStderr(4, "--to 0: the tables are not as they were there; they are as they were before the first"),
  );
  expect(await project.run("repair", "--yes", "--to", "start")).toMatchObject({ code: 0 });
  await goesOn(project, "5 migrations applied");
});

test("where tables can't be described no place can be chosen, and a table in the way, or that is gone, is named", async () => {
  const project = await aKeptProject("service");
  project.migration("0005_tags.ts", `m.createTable("tags", { id: m.int32(), tag: m.utf8() })`);
  const db = await lancedb.connect(project.data);
  await db.createTable("tags", [{ id: 1 }]);
  expect(await project.run("repair")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /: table tags: it exists, but should not; if its newest markers are gone, bring them back from a backup; otherwise remove the step that creates table tags, or let it create a table of another name\n$/,
    ),
  });
  await db.dropTable("tags");
  await changeRecord(project, "service", "1.2");
  const before = await versionsOf(project.data);
  for (const args of [["repair"], ["repair", "--yes"]])
    expect(await project.run(...args, "--to", "start")).toEqual({
      code: 2,
      stdout: "",
      stderr: "--to needs a target that can describe its tables, and here can't; leave it out\n",
    });
  expect(await versionsOf(project.data)).toEqual(before);
  await db.dropTable("people");
  expect(await project.run("repair")).toMatchObject(
    onStderr(4, "table people: it does not exist; bring table people back from a backup"),
  );
});

test("with --json what is seen, and what is to be done about it, is one document; of a file that is lost too, the number is named", async () => {
  const project = await aKeptProject("lance");
  await dropLedger(project);
  const file = join(project.folder, "migrations/0003_names.ts");
  renameSync(file, join(project.folder, "0003_names.ts"));
  expect(await project.run("repair")).toMatchObject(
    onStderr(4, "\nno file has the number 0003: if one was lost, put it back first; otherwise "),
  );
  renameSync(join(project.folder, "0003_names.ts"), file);
  const before = await project.run("repair", "--json");
  const document = {
    target: "here",
    sees: [expect.stringContaining("people, places")],
    does: "rebuild",
    words: expect.stringContaining("after 0004_wider"),
  };
  expect([before.code, JSON.parse(before.stdout)]).toEqual([4, { ...document, done: false }]);
  const after = await project.run("repair", "--yes", "--json");
  expect([after.code, JSON.parse(after.stdout)]).toEqual([0, { ...document, done: true }]);
  const people = await (await lancedb.connect(project.data)).openTable("people");
  await people.alterColumns([{ path: "full_name", rename: "called" }]);
  const refused = await project.run("repair", "--json");
  expect([refused.code, JSON.parse(refused.stdout)]).toMatchObject([
    4,
    { does: "refused", done: false, refusal: { code: "ERR_REPAIR_NO_PLACE", message: refused.stderr.trimEnd() } },
  ]);
});

test("tables that were restored to different times are told from what the ledger records", async () => {
  const project = aProject();
  project.migration("0001_both.ts", `m.createTable("a", { id: m.int32() }), m.createTable("b", { id: m.int32() })`);
  project.migration("0002_more.ts", `m.addColumn("a", "x", m.utf8()), m.addColumn("b", "x", m.utf8())`);
  project.migration("0003_tags.ts", `m.addColumn("a", "y", m.utf8()), m.createTable("tags", { id: m.int32() })`);
  for (const to of ["1", "2", "3"]) expect(await project.migrate(["up", "--to", to])).toMatchObject({ code: 0 });
  const db = await lancedb.connect(project.database);
  for (const [name, version] of [
    ["a", 2],
    ["b", 1],
  ] as const) {
    const table = await db.openTable(name);
    await table.checkout(version);
    await table.restore();
  }
  const { code, stderr } = await project.migrate(["repair"]);
  expect(code).toBe(4);
  expect(stderr).toContain("the nearest is what the ledger records, where:\n  table a: ");
  expect(stderr).toContain(
    "table b is as it was after 1 of 2 actions of 0002_more: if it was restored, restore the version that migrate verify names",
  );
  expect(stderr).not.toMatch(/remove the step|--to/);
});

test("nothing is offered that the ledger states already", async () => {
  const project = aProject();
  project.migration("0001_one.ts", `m.createTable("a", { id: m.int32() })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const table = await (await lancedb.connect(project.database)).openTable("a");
  await table.addColumns([{ name: "more", valueSql: "1" }]);
  const { code, stderr } = await project.migrate(["repair"]);
  expect(code).toBe(4);
  expect(stderr).toContain("the nearest is after 0001_one, where table a: column more");
  expect(stderr).not.toContain("--to");
});
