/** Databases on which migrations ran under other names: before they were renumbered, or put together. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checksumOf, shortHash } from "../../src/migrations/checksum.ts";
import * as m from "lance-migrate";
import { columnsOf } from "../support/tables.ts";
import { rounds } from "../support/rounds.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";
import { onStderr, onStdout } from "../support/project.ts";

const steps = {
  documents: `[m.createTable("documents", { id: m.int32().notNull(), title: m.utf8() })]`,
  headline: `[m.renameColumn("documents", "title", "headline")]`,
  large: `[m.retypeColumn("documents", "title", m.largeUtf8())]`,
  largeHeadline: `[m.retypeColumn("documents", "headline", m.largeUtf8())]`,
  wide: `[m.retypeColumn("documents", "id", m.int64())]`,
};
const sums = {
  documents: sumOf([m.createTable("documents", { id: m.int32().notNull(), title: m.utf8() })]),
  headline: sumOf([m.renameColumn("documents", "title", "headline")]),
  large: sumOf([m.retypeColumn("documents", "title", m.largeUtf8())]),
};

function sumOf(list: readonly m.Step[]): string {
  return shortHash(checksumOf(JSON.parse(JSON.stringify(list)) as readonly unknown[]));
}

async function aProject(way: Way) {
  const project = await aProjectOn(way);
  const run = async (...args: string[]) => await project.migrate(args, key);
  const remove = (file: string) => rmSync(join(project.folder, "migrations", file));
  const migration = (file: string, up: string) =>
    project.write(`migrations/${file}`, `import * as m from "lance-migrate";\n\nexport const up = ${up};\n`);
  return { ...project, run, remove, migration };
}

/** Where the ledger has rows, and where it has markers; namespace has rows too. */
const ways: readonly Way[] = ["lance", "service", "namespace"];

describe.each(ways.slice(0, rounds(2, 3)))("on %s", (way) => {
  test("what ran before it was renumbered is known again, and what came in runs after it", async () => {
    const { migration, run, remove, data } = await aProject(way);
    migration("0001_documents.ts", steps.documents);
    migration("0002_large.ts", steps.large);
    expect(await run("up")).toMatchObject({ code: 0 });
    remove("0002_large.ts");
    migration("0002_headline.ts", steps.headline);
    migration(
      "0003_large.ts",
      `${steps.largeHeadline};\nexport const was = ["0002_large ${sums.large}"];\nexport const ran = [${steps.large}]`,
    );
    expect((await run("status")).stdout).toMatch(
      /0002_headline +pending[\s\S]*0003_large +applied|applied +0003_large/,
    );
    expect(await run("plan")).toMatchObject(onStdout(0, "rename documents.title to headline"));
    expect(await run("repair")).toMatchObject(
      onStderr(4, "0003_large.ts replaces migrations that ran before: 0002_large; the next migrate up records that"),
    );
    expect(await run("plan", "--out", "plan.json")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        "0003_large.ts replaces migrations that ran before: that it ran here as 0002_large is not recorded yet; migrate up --to 0001 does that and no more",
      ),
    });
    expect(await run("up", "--to", "1")).toMatchObject(onStderr(0, "0003_large ran here as 0002_large: recorded"));
    expect(await run("plan", "--out", "plan.json")).toMatchObject({ code: 0 });
    expect(await run("up", "--plan", "plan.json")).toMatchObject({ code: 0 });
    expect(await run("up")).toMatchObject(onStdout(0, "nothing to do"));
    expect(await columnsOf(data, "documents")).toEqual(["id: int32 not null", "headline: largeUtf8"]);
    expect(await run("verify")).toMatchObject({ code: 0 });
    expect(await run("verify", "--ledger")).toMatchObject({ code: 0 });
    expect(await run("repair")).toMatchObject({ code: 0 });
    // A ledger of markers has no room for it.
    expect((await run("history")).stdout).toContain(way === "service" ? "0003_large" : "ran as 0002_large");
    expect(await run("down", "--steps", "2")).toMatchObject({ code: 0 });
    expect(await columnsOf(data, "documents")).toEqual(["id: int32 not null", "title: utf8"]);
    // Rolled back, it is like any other.
    expect(await run("up")).toMatchObject({ code: 0 });
    expect(await columnsOf(data, "documents")).toEqual(["id: int32 not null", "headline: largeUtf8"]);
    expect(await run("up")).toMatchObject(onStdout(0, "nothing to do"));
  });
});

test("a squash takes the place of migrations among which another one ran, if the tables are the same", async () => {
  const { migration, run, remove } = await aProject("lance");
  const notes = `[m.createTable("notes", { id: m.int32() })]`;
  migration("0001_documents.ts", steps.documents);
  migration("0002_wide.ts", steps.wide);
  expect(await run("up")).toMatchObject({ code: 0 });
  remove("0002_wide.ts");
  migration("0002_notes.ts", notes);
  const wide = `${steps.wide};\nexport const was = ["0002_wide ${sumOf([m.retypeColumn("documents", "id", m.int64())])}"]`;
  migration("0003_wide.ts", wide);
  expect(await run("up")).toMatchObject({ code: 0 });
  remove("0001_documents.ts");
  remove("0002_notes.ts");
  const list = `["0001_documents ${sums.documents}", "0002_notes ${sumOf([m.createTable("notes", { id: m.int32() })])}"]`;
  migration(
    "0002_start.ts",
    `[m.createTable("documents", { id: m.int32().notNull(), title: m.utf8() }), m.createTable("notes", { id: m.int32() })];\nexport const replaces = ${list}`,
  );
  expect(await run("status", "--check")).toMatchObject({ code: 0 });
  expect(await run("up")).toMatchObject(onStderr(0, "0002_start ran here as 0001_documents, 0002_notes: recorded"));
  expect(await run("verify")).toMatchObject({ code: 0 });
  expect(await run("down")).toMatchObject({ code: 0 });
  expect((await run("status")).stdout).toMatch(/pending +0003_wide/);
});

test("another migration that ran under the new number is not forgotten", async () => {
  const { migration, run, remove } = await aProject("lance");
  migration("0001_documents.ts", steps.documents);
  migration("0002_large.ts", steps.large);
  migration("0003_wide.ts", steps.wide);
  expect(await run("up")).toMatchObject({ code: 0 });
  remove("0002_large.ts");
  remove("0003_wide.ts");
  migration("0002_headline.ts", steps.headline);
  const was = `export const was = ["0002_large ${sums.large}"];\nexport const ran = [${steps.large}]`;
  migration("0003_large.ts", `${steps.largeHeadline};\n${was}`);
  for (const command of ["up", "plan", "verify"])
    expect(await run(command)).toMatchObject(
      onStderr(4, "0002_large, but 0003_wide ran here under its number; roll that back first"),
    );
  expect((await run("history")).stdout).toContain("0003_wide");
});

test("two that say they were the same are refused", async () => {
  const { migration, run, remove } = await aProject("lance");
  migration("0001_documents.ts", steps.documents);
  migration("0002_large.ts", steps.large);
  expect(await run("up")).toMatchObject({ code: 0 });
  remove("0002_large.ts");
  migration("0003_large.ts", `${steps.large};\nexport const was = ["0002_large ${sums.large}"]`);
  migration("0004_copy.ts", `${steps.wide};\nexport const was = ["0002_large ${sums.large}"]`);
  expect(await run("up")).toMatchObject(
    onStderr(4, "0004_copy.ts replaces migrations that ran before: 0002_large, and so does 0003_large.ts"),
  );
});

test("what is no list of names with checksums is refused", async () => {
  const { migration, run } = await aProject("lance");
  for (const was of [
    `["0001_x"]`,
    `"0001_x 0123456789abcdef"`,
    `["0001_x 0123456789abcdef"].concat(["0003_y 0123456789abcdef"])`,
    `list`,
  ]) {
    migration("0002_large.ts", `${steps.documents};\nconst list = [1];\nexport const was = ${was}`);
    expect(await run("up"), was).toMatchObject(onStderr(4, "0002_large.ts exports was, which must be a list"));
  }
  migration("0002_large.ts", `${steps.documents};\nexport const replaces = ["0001_x 0123456789abcdef became 0002_y"]`);
  expect(await run("up")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      "0002_large.ts exports replaces, which states that 0001_x became 0002_y, and no later item of the list is 0002_y; restore the list as it was written\n",
    ),
  });
  migration("0002_large.ts", `${steps.documents};\nexport const ran = ${steps.large}`);
  expect(await run("up")).toMatchObject(onStderr(4, "exports ran, which must be a list of lists of steps"));
});
