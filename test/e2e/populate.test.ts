/** Tables whose rows code of the project computes from those of another table. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Project } from "../support/project.ts";
import { addRows, lancedb, rowsOf } from "../support/tables.ts";
import { aProjectOn, key, type Way } from "./support/project-on.ts";

const bodies = ["a. b", "c", null, "d. e. f"];

const splitting = `import { appendFileSync } from "node:fs";
export default async function split(rows: { id: number; body: string | null }[]) {
  appendFileSync("log.txt", rows.map(({ id }) => id + "\\n").join(""));
  return rows.map(({ body }) => (body ?? "").split(". ").filter((text) => text !== "").map((text) => ({ text })));
}
`;

/** A table of documents, and code that splits them. */
async function aScene(way: Way, options: object = {}): Promise<Project> {
  const { data, migrate, ...rest } = await aProjectOn(way);
  const withKey = { migrate: (args: readonly string[], env?: object) => migrate(args, { ...key, ...env }) };
  const project = { ...rest, ...withKey, database: data };
  project.migration("0001_documents.ts", `m.createTable("documents", { id: m.int64().notNull(), body: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(
    data,
    "documents",
    bodies.map((body, id) => ({ id, body })),
  );
  project.write("code/split.ts", splitting);
  const table = `m.createTable("chunks", { document: m.int64(), text: m.utf8(), chunked_from: m.utf8() })`;
  project.migration("0002_chunks.ts", `${table}, ${step(options)},`);
  return project;
}

function step(options: object = {}): string {
  const columns = { columns: ["body"], key: "id", source: "document", mark: "chunked_from" };
  const all = { from: "documents", ...columns, with: "./code/split.ts", version: "1", ...options };
  return `m.populateTable("chunks", ${JSON.stringify(all)})`;
}

async function chunksIn({ database }: Project): Promise<readonly string[]> {
  const rows = (await rowsOf(database, "chunks")) as readonly { document: unknown; text: string }[];
  return rows.map(({ document, text }) => `${String(document)} ${text}`).toSorted();
}

function computedIn({ folder }: Project): readonly string[] {
  const file = join(folder, "log.txt");
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").toSorted() : [];
}

const all = ["0 a", "0 b", "1 c", "3 d", "3 e", "3 f"];

test.each(["lance", "namespace"] as const)(
  "up computes the rows of a table, a later step only those of changed sources, and down restores them, on %s",
  async (way) => {
    const project = await aScene(way);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await chunksIn(project)).toEqual(all);
    expect(computedIn(project)).toEqual(["0", "1", "2", "3"]);
    const documents = await (await lancedb.connect(project.database)).openTable("documents");
    await documents.update({ where: "id = 1", values: { body: "c. cc" } });
    await documents.delete("id = 0");
    await addRows(project.database, "documents", [{ id: 9, body: "z" }]);
    await addRows(project.database, "chunks", [{ document: null, text: "own", chunked_from: null }]);
    project.migration("0003_again.ts", `${step()},`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    const later = ["1 c", "1 cc", "3 d", "3 e", "3 f", "9 z", "null own"];
    expect(await chunksIn(project)).toEqual(later);
    // A source without rows has no mark.
    expect(computedIn(project)).toEqual(["0", "1", "1", "2", "2", "3", "9"]);
    project.migration("0004_other.ts", `${step({ version: "2" })},`);
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    expect(await chunksIn(project)).toEqual(later);
    expect(computedIn(project)).toHaveLength(11);
    expect(await project.migrate(["verify"])).toMatchObject({ code: 0 });
    expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
    expect(await chunksIn(project)).toEqual(later);
    expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
    expect(await chunksIn(project)).toEqual([...all, "null own"]);
  },
);

test("down drops a table with the rows that were computed", async () => {
  const project = await aScene("lance");
  const { stdout } = await project.migrate(["plan"]);
  expect(stdout).toContain("compute rows of chunks from documents (body) with ./code/split.ts, version 1 (");
  expect(stdout).toContain("code computes 4 rows in 1 call");
  expect(await project.migrate(["rehearse"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["lint"])).toMatchObject({ code: 0 });
  const { stdout: events } = await project.migrate(["up", "--json"]);
  expect(events).toContain(JSON.stringify({ event: "computed", table: "chunks", rows: 4, total: 4 }));
  expect(await project.migrate(["down"])).toMatchObject({ code: 0 });
  expect(await (await lancedb.connect(project.database)).tableNames()).not.toContain("chunks");
});
