/** Who ran a migration and when is what the record says that applied it, whatever is recorded about the ledger later. */
import { appendFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aKeptProject, changeRecord, everywhere, type KeptProject } from "./support/kept.ts";
import { casesInTurn } from "../support/rounds.ts";
import { checksumOf } from "../../src/migrations/checksum.ts";
import { renameColumn } from "lance-migrate";

const inTurn = casesInTurn();

interface Applied {
  readonly version: number;
  readonly name: string;
  readonly at: string;
  readonly by: string;
}

async function appliedIn({ run }: KeptProject): Promise<readonly Applied[]> {
  const { applied } = JSON.parse((await run("status", "--json")).stdout) as { applied: readonly Applied[] };
  return applied.map(({ version, name, at, by }) => ({ version, name, at, by }));
}

const places = [renameColumn("people", "name", "full_name"), renameColumn("places", "title", "label")];

/** Gives 0003_names the number 5, as `migrate rebase` does. */
function renumber({ folder }: KeptProject): void {
  const path = (name: string) => join(folder, "migrations", name);
  renameSync(path("0003_names.ts"), path("0005_names.ts"));
  appendFileSync(path("0005_names.ts"), `\nexport const was = ["0003_names ${checksumOf(places).slice(0, 16)}"];\n`);
}

test.each(inTurn(everywhere))(
  "a renumbered migration, and the others, keep their dates and persons (%s)",
  async (kept) => {
    const project = await aKeptProject(kept, 0);
    for (const [to, by] of [
      ["2", "ada"],
      ["4", "bob"],
    ])
      await project.run("up", "--to", to!, "--by", by!);
    const before = await appliedIn(project);
    if (kept !== "service") expect(before.map(({ by }) => by.split("@")[0])).toEqual(["ada", "ada", "bob", "bob"]);
    const lines = async () => (await project.run("history")).stdout.trimEnd().split("\n");
    const told = await lines();
    renumber(project);
    expect(await project.run("up", "--by", "eve")).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    const renamed = before.map((one) => (one.version === 3 ? { ...one, version: 5 } : one));
    expect(await appliedIn(project)).toEqual(renamed.toSorted((one, other) => one.version - other.version));
    // One line for the new name, and one for the whole rebuild.
    const added = (await lines()).slice(told.length);
    expect(added.map((line) => line.trim().split(/ {2,}/)[2])).toEqual(["applied", "ledger rebuilt"]);
    expect(added.at(-1)).toContain("repeats 3 records, which --verbose shows");
  },
);

test("a squash changes no date and no person of what ran, in no command", async () => {
  const project = await aKeptProject("lance", 0);
  for (const [to, by] of [
    ["1", "ada"],
    ["3", "bob"],
    ["4", "eve"],
  ])
    await project.run("up", "--to", to!, "--by", by!);
  const before = await appliedIn(project);
  const blamed = await project.run("blame", "people.id");
  expect(await project.run("squash", "start", "--to", "3")).toMatchObject({ code: 0 });
  expect(await project.run("up", "--by", "mallory")).toMatchObject({ code: 0, stdout: "nothing to do\n" });
  // The squash has run when the last of what it replaces did.
  expect(await appliedIn(project)).toEqual([{ ...before[2], name: "start" }, before[3]]);
  const timesIn = (text: string) => text.match(/\d{4}-\d\d-\d\d \S+ {2}\w+@/g);
  const [changed] = timesIn(blamed.stdout)!;
  expect(timesIn((await project.run("blame", "people.id")).stdout)?.[0]).toBe(changed);
  const { migrations, runs } = JSON.parse((await project.run("report", "--json")).stdout) as {
    migrations: readonly { by: string; run: string }[];
    runs: readonly { run: string; by: string; began: string; ended: string; events: readonly { event: string }[] }[];
  };
  expect(migrations.map(({ by }) => by.split("@")[0])).toEqual(["bob", "eve"]);
  const [squash, last] = runs;
  expect(squash).toMatchObject({ by: expect.stringMatching(/^mallory@/), events: [{ event: "rebuilt" }] });
  expect(squash!.began > last!.ended).toBe(true);
  expect(migrations[1]!.run).toBe(last!.run);
});

test.each(inTurn(everywhere))("a repair keeps the dates and persons that the ledger still knows (%s)", async (kept) => {
  const project = await aKeptProject(kept, 0);
  for (const [to, by] of [
    ["2", "ada"],
    ["4", "bob"],
  ])
    await project.run("up", "--to", to!, "--by", by!);
  await changeRecord(project, kept, "1.1");
  const before = await appliedIn(project);
  expect(await project.run("repair", "--yes", "--by", "eve")).toMatchObject({ code: 0 });
  expect(await appliedIn(project)).toEqual(before);
});
