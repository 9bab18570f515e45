/** migrate verify, on tables and ledgers that something else has changed. */
import { expect, test } from "vitest";
import { lancedb, versionsOf } from "../support/tables.ts";
import { casesInTurn } from "../support/rounds.ts";
import { aKeptProject, described, dropApplied, dropLedger, dropRecord, everywhere } from "./support/kept.ts";
import { onStderr, onStdout } from "../support/project.ts";

const inTurn = casesInTurn();

test.each(inTurn(everywhere))("all is well after up, and nothing is changed by looking (%s)", async (kept) => {
  const project = await aKeptProject(kept);
  const before = await versionsOf(project.data);
  const tables = await project.run("verify");
  expect(tables).toMatchObject({ code: 0, stderr: "" });
  expect(tables.stdout).toContain("2 tables of here are as the ledger records");
  expect(tables.stdout.includes("only their names were compared")).toBe(kept === "service");
  expect(await project.run("verify", "--ledger")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+ records checked, nothing wrong\n$/),
  });
  expect(await versionsOf(project.data)).toEqual(before);
});

const ends = ["lance", "service"] as const;

test.each(ends)("a record that was taken away is named (%s)", async (kept) => {
  const project = await aKeptProject(kept);
  await dropRecord(project, kept, "1.2");
  const { code, stdout } = await project.run("verify", "--ledger");
  const sentence = expect.stringMatching(/1\.2.* is missing, or 1\.1 was changed/);
  expect({ code, stdout }).toEqual({ code: 4, stdout: sentence });
  // With --json the findings are one document.
  const document = await project.run("verify", "--ledger", "--json");
  expect([document.code, JSON.parse(document.stdout)]).toEqual([
    4,
    {
      target: "here",
      records: expect.any(Number),
      findings: [{ kind: "missing", place: "1.2", sentence, known: false }],
    },
  ]);
});

test.each(inTurn(described))("every difference of every table is said, and not just the first (%s)", async (kept) => {
  const project = await aKeptProject(kept);
  const db = await lancedb.connect(project.data);
  const people = await db.openTable("people");
  await people.alterColumns([{ path: "full_name", rename: "called" }]);
  await (await db.openTable("places")).addColumns([{ name: "more", valueSql: "id + 1" }]);
  const { code, stdout } = await project.run("verify", "--json");
  expect({ code, document: JSON.parse(stdout) }).toEqual({
    code: 4,
    document: {
      target: "here",
      tables: 2,
      columns: true,
      differences: [
        {
          table: "people",
          kind: "changed",
          differences: expect.arrayContaining(["column full_name is missing"]),
          since: {
            version: await people.version(),
            time: expect.stringMatching(/^\d{4}-.*Z$/),
            orEarlier: false,
            orLater: false,
          },
        },
        {
          table: "places",
          kind: "changed",
          differences: ["column more (int32) was not expected"],
          since: { version: expect.any(Number), time: expect.any(String), orEarlier: false, orLater: false },
        },
      ],
      hint: expect.stringMatching(
        /^restore version \d+ of people and version \d+ of places, if nothing that was written since is needed, or change it back by hand; or run migrate verify --write, /,
      ),
      doubts: [],
      deferred: [],
      stale: [],
    },
  });
});

test.each(inTurn(everywhere))("a table that is gone, and one that is there too early, are said (%s)", async (kept) => {
  const project = await aKeptProject(kept, 1);
  const db = await lancedb.connect(project.data);
  await db.dropTable("people");
  await db.createTable("places", [{ id: 1 }]);
  const { code, stdout } = await project.run("verify");
  expect(code).toBe(4);
  expect(stdout).toContain("people: it does not exist");
  expect(stdout).toContain("places: it exists, but should not");
  const hint =
    kept === "service"
      ? "see migrate repair"
      : "bring table people back from a backup; remove the step that creates table places, or let it create a table of another name";
  expect(stdout).toContain(`2 tables of here are not as the ledger records; ${hint}\n`);
});

test.each(inTurn(everywhere))("a ledger that says less than its newest record is not planned by (%s)", async (kept) => {
  const project = await aKeptProject(kept);
  await dropApplied(project, kept, 3);
  const problem =
    "its newest record states that other migrations are applied than all its records together; see migrate verify --ledger";
  expect(await project.run("status")).toMatchObject(onStdout(0, problem));
  const { stdout } = await project.run("status", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ problem: expect.stringContaining(problem) });
  expect(await project.run("status", "--check")).toMatchObject({ code: 4 });
  for (const command of ["plan", "verify"]) expect(await project.run(command)).toMatchObject(onStderr(4, problem));
  project.migration("0005_more.ts", `m.createTable("more", { id: m.int32() })`);
  for (const args of [["plan"], ["up"]]) expect(await project.run(...args)).toMatchObject(onStderr(4, problem));
});

test("verify blames a ledger that says that one failed that did not, and not the files", async () => {
  const project = await aKeptProject("lance");
  const records = await (await lancedb.connect(project.data)).openTable("_migrations");
  await records.update({ where: "event = 'applied' AND version = 4", valuesSql: { event: "'failed'" } });
  expect(await project.run("verify")).toEqual({
    code: 4,
    stdout: "",
    stderr: expect.stringMatching(/^the ledger was changed by something else than this tool: its newest record/),
  });
});

test.each(inTurn(everywhere))(
  "a holder that was never heard of again is said to have lost its lease (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    const db = await lancedb.connect(project.data);
    if (kept === "service") await db.dropTable((await db.tableNames()).find((name) => name.includes(".released"))!);
    else await (await db.openTable("_migrations")).delete("event = 'released'");
    for (const command of ["status", "repair"])
      expect(await project.runLater(command)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          / holds the lease, last heard of 3 hours ago by this clock: its lease has run out, and the next run that has something to do takes over\n/,
        ),
      });
  },
);

test.each(inTurn(everywhere))(
  "a ledger that nobody has written is not called checked, nor one that was lost (%s)",
  async (kept) => {
    const project = await aKeptProject(kept, 0);
    expect(await project.run("verify")).toMatchObject({ code: 0 });
    expect(await project.run("verify", "--ledger")).toMatchObject({
      code: 0,
      stdout:
        "here has no ledger _migrations, or an empty one: either nothing was applied yet, or it was lost; migrate repair finds out which\n",
    });
    expect(await project.run("repair")).toMatchObject({ code: 0, stdout: "nothing needs to be repaired\n" });
    await project.run("up");
    await dropLedger(project);
    expect(await project.run("verify", "--ledger")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/or it was lost; migrate repair finds out which\n$/),
    });
    expect(await project.run("repair")).toMatchObject(onStdout(4, "people, places"));
  },
);
