/** migrate resolve: the way out where the file of a migration is lost, or does something else than what ran. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { versionsOf } from "../support/tables.ts";
import { casesInTurn } from "../support/rounds.ts";
import { lacks } from "../support/needs.ts";
import { atTerminal } from "./support/terminal.ts";
import { aKeptProject, described, everywhere, forgetAfter, type KeptProject } from "./support/kept.ts";
import { onStderr, onStdout } from "../support/project.ts";

const inTurn = casesInTurn();

const remove = ({ folder }: KeptProject, name: string) => rmSync(join(folder, "migrations", name));
const json = ({ stdout }: { readonly stdout: string }): unknown => JSON.parse(stdout);

/** 0004_wider is applied, and its file is replaced by another under its number. */
async function aReplaced(kept: (typeof everywhere)[number], steps: string): Promise<KeptProject> {
  const project = await aKeptProject(kept);
  remove(project, "0004_wider.ts");
  project.migration("0004_other.ts", steps);
  return project;
}

const sameResult = `m.retypeColumn("people", "id", m.int64()), m.renameColumn("people", "full_name", "x"), m.renameColumn("people", "x", "full_name")`;

/** User tables, as the number of their versions tells. */
async function userTables({ data }: KeptProject): Promise<unknown> {
  const versions = Object.entries(await versionsOf(data));
  return versions.filter(([table]) => !table.startsWith("_migrations"));
}

test.each(["lance", "service"] as const)(
  "a migration marked as reverted frees its number, and the record says by whom (%s)",
  async (kept) => {
    const project = await aReplaced(kept, `m.createTable("more", { id: m.int32() })`);
    const before = await userTables(project);
    expect(await project.run("resolve", "--reverted", "4", "--yes", "--json")).toMatchObject({ code: 0 });
    expect(await userTables(project)).toEqual(before);
    const history = json(await project.run("history", "--json")) as { records: readonly Record<string, unknown>[] };
    const record = history.records.findLast(({ event }) => event === "reverted");
    expect(record).toMatchObject({ version: 4, name: "wider" });
    if (kept !== "service")
      expect(record).toMatchObject({
        by: expect.stringContaining("process"),
        detail: expect.stringContaining("resolve"),
      });
    expect(await project.run("verify", "--ledger")).toMatchObject({ code: 0 });
    expect(await project.run("up")).toMatchObject(onStdout(0, "applied 0004_other"));
    expect(await project.run("verify", "--ledger")).toMatchObject({ code: 0 });
  },
);

test.each(inTurn(described))("what a lost migration left can be adopted as drift afterwards (%s)", async (kept) => {
  const project = await aKeptProject(kept);
  remove(project, "0004_wider.ts");
  const marked = await project.run("resolve", "--reverted", "0004_wider", "--yes");
  expect(marked).toMatchObject(onStdout(0, "migrate verify --write"));
  expect(marked.stdout).toMatch(/table people: .*int64/);
  expect(await project.run("verify", "--write", "wider_again")).toMatchObject({ code: 0 });
  expect(await project.run("baseline")).toMatchObject({ code: 0 });
  for (const args of [["up"], ["verify"], ["verify", "--ledger"], ["status", "--check"]])
    expect(await project.run(...args)).toMatchObject({ code: 0 });
});

test.each(inTurn(everywhere))(
  "without --yes and a terminal it says what it would mark; a file that leads to the tables as they are is adopted (%s)",
  async (kept) => {
    const project = await aReplaced(kept, sameResult);
    const history = await project.run("history", "--json");
    const shown = await project.run("resolve", "--reverted", "0004");
    expect(shown).toMatchObject({ code: 4, stderr: "" });
    expect(shown.stdout).toContain("0004_wider is applied here; its file is not in the folder migrations");
    expect(shown.stdout).toContain("0004_other will be pending");
    expect(shown.stdout).toContain("nothing was changed; migrate resolve --reverted 0004_wider --yes marks it");
    expect(await project.run("history", "--json")).toEqual(history);
    const before = await userTables(project);
    const marked = await project.run("resolve", "--adopted", "0004_other", "--yes", "--json");
    expect(json(marked)).toMatchObject({
      target: "here",
      migration: { version: 4, name: "other" },
      as: "adopted",
      differences: [],
      done: true,
    });
    expect(await userTables(project)).toEqual(before);
    expect(await project.run("up")).toMatchObject({ code: 0, stdout: "nothing to do\n", stderr: "" });
    expect(await project.run("status", "--check")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^applied +0004_other .*never ran here, baselined$/m),
    });
    for (const args of [["verify"], ["verify", "--ledger"]])
      expect(await project.run(...args)).toMatchObject({ code: 0 });
  },
);

test.each(inTurn(everywhere))("an edited file below others is adopted in its place among them (%s)", async (kept) => {
  const project = await aKeptProject(kept);
  project.migration(
    "0001_people.ts",
    `m.createTable("people", { id: m.int32(), a: m.utf8() }), m.renameColumn("people", "a", "name")`,
  );
  expect(await project.run("up")).toMatchObject({ code: 4 });
  expect(await project.run("resolve", "--adopted", "0001", "--yes")).toMatchObject({ code: 0 });
  for (const args of [["up"], ["verify"], ["verify", "--ledger"], ["status", "--check"]])
    expect(await project.run(...args)).toMatchObject({ code: 0 });
  project.migration("0005_more.ts", `m.renameColumn("people", "full_name", "called")`);
  expect(await project.run("up")).toMatchObject({ code: 0 });
});

test.each(inTurn(described))("a file that leads elsewhere is not adopted (%s)", async (kept) => {
  const project = await aReplaced(kept, `m.renameColumn("people", "full_name", "called")`);
  const before = await project.run("history", "--json");
  expect(await project.run("resolve", "--adopted", "4", "--yes")).toMatchObject({
    code: 4,
    stderr: expect.stringMatching(
      /nothing is marked: the tables are not as 0004_other leaves them: table people: .*called/,
    ),
  });
  expect(await project.run("history", "--json")).toEqual(before);
});

test.each(inTurn(everywhere))(
  "a migration in which a run was killed is marked as reverted, and up goes on (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    await forgetAfter(project, kept, 3);
    remove(project, "0004_wider.ts");
    expect(await project.runLater("resolve", "--reverted", "4", "--yes")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        "0004_unknown has begun, and how far it ran is not recorded; its file is not in the folder migrations",
      ),
    });
    expect(await project.run("status", "--check")).toMatchObject({ code: 0 });
    expect(await project.run("up")).toMatchObject({ code: 0, stdout: "nothing to do\n", stderr: "" });
  },
);

test.each(inTurn(everywhere))("a migration that others are built on is not marked as reverted (%s)", async (kept) => {
  const project = await aKeptProject(kept);
  expect(await project.run("resolve", "--reverted", "1", "--yes")).toMatchObject(
    onStderr(4, "nothing is marked: the other migrations do not go together with that"),
  );
});

test("what is not there is not resolved, and what is asked for must be clear", async () => {
  const project = await aKeptProject("lance", 3);
  for (const [args, words] of [
    [["--reverted", "9"], "--reverted 0009: the ledger has no such migration"],
    [["--reverted", "0003_other"], "--reverted 0003_other: under that number the ledger has 0003_names"],
    [["--adopted", "9"], "--adopted 0009: the migrations folder has no such migration"],
    [["--reverted", "3", "--adopted", "3"], "say which migration, and what it is"],
    [[], "say which migration, and what it is"],
    [["--reverted", "names"], "--reverted must be a migration"],
  ] as const)
    expect(await project.run("resolve", ...args, "--yes")).toMatchObject(onStderr(2, words));
});

test.each(["lance", "service"] as const)(
  "a name that begins like that of the migration is another migration's, where a marker has room for it (%s)",
  async (kept) => {
    const project = await aKeptProject(kept);
    for (const as of ["--reverted", "--adopted"])
      expect(await project.run("resolve", as, "0004_wider_ids", "--yes")).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/0004_wider_ids: under that number .* has 0004_wider$/m),
      });
    const long = `0005_${"long_".repeat(40)}name`;
    project.migration(`${long}.ts`, `m.createTable("more", { id: m.int32() })`);
    expect(await project.run("up")).toMatchObject({ code: 0 });
    const code = kept === "service" ? 0 : 2;
    expect(await project.run("resolve", "--reverted", `${long.slice(0, -4)}game`, "--yes")).toMatchObject({ code });
    if (code === 2) expect(await project.run("resolve", "--reverted", long, "--yes")).toMatchObject({ code: 0 });
    expect(await project.run("status", "--check")).toMatchObject({ code: 3 });
    remove(project, `${long}.ts`);
    remove(project, "0004_wider.ts");
    project.migration("0004_wider_ids.ts", `m.createTable("more", { id: m.int32() })`);
    expect(await project.run("resolve", "--reverted", "4")).toMatchObject(
      onStdout(4, "0004_wider is applied here; its file is not in the folder migrations"),
    );
    expect(await project.run("up")).toMatchObject(
      onStderr(4, "number 4 was used by 0004_wider, which is applied here"),
    );
  },
);

test.skipIf(lacks("terminal"))("at a terminal it asks, and marks only after a yes", async () => {
  const project = await aKeptProject("lance");
  remove(project, "0004_wider.ts");
  const asked = /to leave it as it is\) /;
  expect(await atTerminal(project, "resolve --reverted 4", asked, ["\n"])).toMatchObject({ code: 4 });
  expect(await project.run("status")).toMatchObject({ stdout: expect.stringContaining("4 migrations applied") });
  expect(await atTerminal(project, "resolve --reverted 4", asked, ["yes\n"])).toMatchObject({ code: 0 });
  expect(await project.run("status")).toMatchObject({ stdout: expect.stringContaining("3 migrations applied") });
});
