/** migrate baseline: migrations whose tables are there count as applied, and none of them runs. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addRows, lancedb, versionsOf } from "../support/tables.ts";
import { casesInTurn, isLong } from "../support/rounds.ts";
import { aKeptProject, described, dropLedger, everywhere, type KeptProject } from "./support/kept.ts";
import { onStdout } from "../support/project.ts";

const inTurn = casesInTurn();

/** Tables as migrations up to one of them leave them, and nothing that says so. */
async function withoutLedger(kept: KeptProject): Promise<KeptProject> {
  await dropLedger(kept);
  return kept;
}

test.each(isLong ? everywhere : (["lance", "service"] as const))(
  "marks all that are pending, and everything goes on from there (%s)",
  async (kept) => {
    const project = await withoutLedger(await aKeptProject(kept));
    const before = await versionsOf(project.data);
    const blind = kept === "service" ? "here can't describe its tables, so only their names were compared\n" : "";
    const names = ["0001_people", "0002_places", "0003_names", "0004_wider"];
    expect(await project.run("baseline", "--dry-run")).toEqual({
      code: 0,
      stdout: `${names.map((name) => `would mark ${name}\n`).join("")}${blind}4 migrations would be marked on here; nothing was changed\n`,
      stderr: "",
    });
    expect(await versionsOf(project.data)).toEqual(before);
    expect(await project.run("baseline", "--json")).toMatchObject({
      code: 0,
      stdout: `{"target":"here","migrations":[{"version":1,"name":"people"},{"version":2,"name":"places"},{"version":3,"name":"names"},{"version":4,"name":"wider"}],"columns":${kept !== "service"},"done":true}\n`,
    });
    expect(await versionsOf(project.data)).toMatchObject(before);
    expect(await project.run("up")).toEqual({ code: 0, stdout: "nothing to do\n", stderr: "" });
    expect(await project.run("baseline")).toEqual({
      code: 0,
      stdout: "nothing to mark: no migration is pending\n",
      stderr: "",
    });
    expect(await project.run("verify")).toMatchObject({ code: 0 });
    expect(await project.run("verify", "--ledger")).toMatchObject({ code: 0 });
    expect(await project.run("repair")).toMatchObject({ code: 0, stdout: "nothing needs to be repaired\n" });
    const { stdout } = await project.run("history");
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/^(\S+) .*Z +(\w+) +(\S+) .*/, "$2 $3"));
    expect(events).toEqual(names.map((name) => `baselined ${name}`));
    expect((await project.run("status")).stdout).toMatch(/^applied +0001_people .* never ran here, baselined\n/);

    project.migration("0005_more.ts", `m.renameColumn("people", "full_name", "called")`);
    expect(await project.run("up")).toMatchObject(onStdout(0, "applied 0005_more"));
    expect(
      await project.run("down", "--steps", "2", ...(kept === "service" ? ["--accept", "lossy"] : [])),
    ).toMatchObject({
      code: 0,
    });
    expect((await project.run("status")).stdout).toContain("3 migrations applied, 2 pending");
    expect(await project.run("up")).toMatchObject({ code: 0 });
  },
);

test.each(inTurn(everywhere))("with --to marks those, and what it finds marked already stays (%s)", async (kept) => {
  const project = await withoutLedger(await aKeptProject(kept, 3));
  expect(await project.run("baseline", "--to", "1")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/^nothing is marked: the tables are not as 0001_people leaves them:\n  table /),
  });
  expect(await project.run("baseline", "--to", "0003")).toMatchObject({ code: 0 });
  expect((await project.run("status")).stdout).toContain("3 migrations applied, 1 pending");
  expect(await project.run("baseline", "--to", "2")).toMatchObject(onStdout(0, "nothing to mark"));
  expect(await project.run("up")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^applied 0004_wider/) });
});

test.each(inTurn(described))(
  "what differs is said, with the place in history where the tables are (%s)",
  async (kept) => {
    const project = await withoutLedger(await aKeptProject(kept, 2));
    const before = await versionsOf(project.data);
    expect(await project.run("baseline")).toEqual({
      code: 4,
      stdout: "",
      stderr:
        "nothing is marked: the tables are not as 0004_wider leaves them:\n  table people: column id is int32 instead of int64, column full_name is missing, column name (utf8) was not expected\n  table places: column label is missing, column title (utf8) was not expected\nthey are as they were after 0002_places: migrate baseline --to 0002\n",
    });
    const people = await (await lancedb.connect(project.data)).openTable("people");
    await people.addColumns([{ name: "age", valueSql: "1" }]);
    expect(await project.run("baseline", "--to", "2")).toMatchObject({
      code: 4,
      stderr:
        "nothing is marked: the tables are not as 0002_places leaves them: table people: column age (int64 not null) was not expected; fix that by hand; or change the migrations until they lead there\n",
    });
    expect(Object.keys(await versionsOf(project.data))).toEqual(Object.keys(before));
  },
);

test.each(inTurn(described))("tables that are not there are made by up (%s)", async (kept) => {
  const project = await aKeptProject(kept, 0);
  expect(await project.run("baseline")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/none of them is there: migrate up makes them\n$/),
  });
});

test.each(inTurn(everywhere))("of several at once one marks, and the others find it done (%s)", async (kept) => {
  const project = await withoutLedger(await aKeptProject(kept));
  const ended = await Promise.all(Array.from({ length: 3 }, async () => await project.run("baseline")));
  expect(ended.map(({ code, stderr }) => ({ code, stderr: stderr.replace(/^waiting .*\n/gm, "") }))).toEqual(
    ended.map(() => ({ code: 0, stderr: "" })),
  );
  expect(ended.filter(({ stdout }) => stdout.startsWith("marked 0001_people\n"))).toHaveLength(1);
  expect(ended.filter(({ stdout }) => stdout.startsWith("nothing to mark"))).toHaveLength(2);
  expect(await project.run("verify", "--ledger")).toMatchObject({ code: 0 });
});

test("what has begun is not marked", async () => {
  const project = await aKeptProject("lance", 2);
  await addRows(project.data, "places", [{ id: 1000, title: "a" }]);
  project.migration(
    "0003_names.ts",
    // A value that a step before may change is not known to stop it.
    `m.renameColumn("people", "name", "full_name"), m.execute("places", { update: { id: "1" }, where: "id is null" }),
     m.retypeColumn("places", "id", m.int8())`,
  );
  expect(await project.run("up", "--to", "3")).toMatchObject({ code: 1 });
  expect(await project.run("baseline", "--to", "3")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(/^nothing is marked: 0003_names has begun, or may have, .*; run migrate up first\n$/),
  });
});

test("what ran under another name is known again, and is not marked", async () => {
  const project = await aKeptProject("lance");
  const { applied } = JSON.parse((await project.run("status", "--json")).stdout) as {
    applied: readonly { checksum: string }[];
  };
  rmSync(join(project.folder, "migrations/0004_wider.ts"));
  project.migration("0004_other.ts", `m.createTable("other", { a: m.float64() })`);
  project.migration(
    "0005_wider.ts",
    `m.retypeColumn("people", "id", m.int64())];\nexport const was = ["0004_wider ${applied[3]!.checksum.slice(0, 16)}"`,
  );
  await (await lancedb.connect(project.data)).createTable("other", [{ a: 1 }]);
  expect(await project.run("baseline", "--dry-run")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^would mark 0004_other\n1 migration /),
  });
  expect(await project.run("baseline")).toMatchObject({
    code: 0,
    stdout: "marked 0004_other\n1 migration marked as applied on here; none was run\n",
  });
  expect((await project.run("status")).stdout).toMatch(/applied +0005_wider /);
  expect(await project.run("verify")).toMatchObject({ code: 0 });
  expect(await project.run("up")).toMatchObject({ code: 0, stdout: "nothing to do\n" });
});
