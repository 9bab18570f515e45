/** A column that a migration has filled: what others have written into it since does not go with it unasked. */
import { expect, test } from "vitest";
import { casesInTurn } from "../support/rounds.ts";
import { addRows, columnsOf, lancedb, rowsOf } from "../support/tables.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";
import { onStderr } from "../support/project.ts";

const inTurn = casesInTurn();

async function filled(way: Way) {
  const project = await aProjectOn(way);
  const run = async (...args: string[]) => await project.migrate(args, key);
  project.migration("0001_create.ts", `m.createTable("documents", { id: m.int32().notNull(), body: m.utf8() })`);
  expect(await run("up")).toMatchObject({ code: 0 });
  await addRows(
    project.data,
    "documents",
    [1, 2, 3].map((id) => ({ id, body: "a".repeat(id) })),
  );
  const before = await rowsOf(project.data, "documents");
  project.migration("0002_words.ts", `m.addColumn("documents", "words", m.int32(), { as: "length(body)" })`);
  expect(await run("up")).toMatchObject({ code: 0 });
  return { ...project, run, before };
}

const ways = ["lance", "namespace"] as const;

test.each(inTurn(ways))("what it was filled with goes unasked, on %s", async (way) => {
  const { run, before, data } = await filled(way);
  const db = await lancedb.connect(data);
  await (await db.openTable("documents")).optimize();
  expect(await run("down")).toMatchObject({ code: 0 });
  expect(await rowsOf(data, "documents")).toEqual(before);
});

test.each(inTurn(ways))("rows that were written since are asked about, on %s", async (way) => {
  const { run, data } = await filled(way);
  await addRows(data, "documents", [{ id: 4, body: "d", words: 99 }]);
  expect(await run("down")).toMatchObject({
    code: 4,
    stderr: expect.stringContaining(
      "rows block the rollback: 1 row of documents was written since, and the rollback drops values of documents.words; pass --accept lossy to lose that",
    ),
  });
  expect(await columnsOf(data, "documents")).toContain("words: int32");
  expect(await run("down", "--accept", "lossy")).toMatchObject({ code: 0 });
  expect(await columnsOf(data, "documents")).not.toContain("words: int32");
});

test.each(inTurn(ways))("values that were changed since are asked about, on %s", async (way) => {
  const { run, data } = await filled(way);
  const table = await (await lancedb.connect(data)).openTable("documents");
  await table.update({ where: "id = 2", valuesSql: { words: "42" } });
  expect(await run("down")).toMatchObject(onStderr(4, "1 row of documents was written since"));
});

test("where none of the rows has a value there is nothing to ask about", async () => {
  const { run, data } = await filled("lance");
  const table = await (await lancedb.connect(data)).openTable("documents");
  await table.delete("id > 0");
  await addRows(data, "documents", [{ id: 9, body: "x", words: null }]);
  expect(await run("down")).toMatchObject({ code: 0 });
});
