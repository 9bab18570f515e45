/** The metadata of a table's schema, in which LanceDB's clients keep their embedding functions. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { arrow } from "../support/foreign.ts";
import { aProject, type Project, onStderr, onStdout } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import { aProjectOn, key } from "./support/project-on.ts";

/** As Python's lancedb 0.40 writes it for a model with one SourceField and one VectorField. */
const embedding =
  '[\n  {\n    "name": "fake",\n    "model": {},\n    "source_column": "text",\n    "vector_column": "vector"\n  }\n]';
const metadata = { embedding_functions: embedding, owner: 'search "team" ü' };

/** A table as another program makes it. */
async function makeDocuments(folder: string, given: Readonly<Record<string, string>> = metadata): Promise<void> {
  const { Field, Float32, FixedSizeList, Int64, Schema, Utf8 } = arrow;
  const item = new Field("item", new Float32(), true);
  const fields = [
    new Field("id", new Int64(), false),
    new Field("text", new Utf8(), true),
    new Field("vector", new FixedSizeList(4, item), true),
  ];
  const db = await lancedb.connect(folder);
  await db.createEmptyTable("documents", new Schema(fields, new Map(Object.entries(given))));
}

async function metadataOf(folder: string, table = "documents"): Promise<unknown> {
  const { metadata: found } = await (await (await lancedb.connect(folder)).openTable(table)).schema();
  return Object.fromEntries(found);
}

function read({ folder }: Project, path: string): string {
  return readFileSync(join(folder, path), "utf8");
}

const declaration = (given: unknown) => `import { defineSchema, int64, table, utf8, vector } from "lance-migrate";

export default defineSchema({
  documents: table({ id: int64().notNull(), text: utf8(), vector: vector(4) }, { metadata: ${JSON.stringify(given)} }),
});
`;

const creation = `m.createTable("documents", { id: m.int64().notNull(), text: m.utf8(), vector: m.vector(4) }, {
  metadata: ${JSON.stringify(metadata)},
}),`;

test.each(["lance", "namespace"] as const)(
  "embedding functions survive pull and up on a new database byte for byte, on %s",
  async (way) => {
    const project = await aProjectOn(way);
    await makeDocuments(project.data);
    expect(await project.migrate(["pull"], key)).toMatchObject({ code: 0, stderr: "" });
    expect(await project.migrate(["generate", "--check"], key)).toMatchObject({ code: 0 });
    expect(await project.migrate(["baseline"], key)).toMatchObject({ code: 0 });
    expect(await project.migrate(["verify"], key)).toMatchObject({ code: 0 });

    const fresh = await aProjectOn(way);
    fresh.write("migrations/0001_adopt.ts", read(project, "migrations/0001_adopt.ts"));
    expect(await fresh.migrate(["up"], key)).toMatchObject({ code: 0 });
    expect(await metadataOf(fresh.data)).toEqual(metadata);
    expect(await fresh.migrate(["verify"], key)).toMatchObject({ code: 0 });
  },
);

test("verify finds a table that was created again without its schema metadata", async () => {
  const project = await aProjectOn("namespace");
  project.migration("0001_documents.ts", creation);
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  await (await lancedb.connect(project.data)).dropTable("documents");
  await makeDocuments(project.data, {});
  expect(await project.migrate(["verify"], key)).toMatchObject(
    onStdout(4, "embedding_functions in the schema's metadata is not set instead of"),
  );
});

test("generate --check reports declared schema metadata that the migrations do not set, and generate refuses", async () => {
  const project = aProject();
  project.migration("0001_documents.ts", creation);
  project.write("schema.ts", declaration({ ...metadata, owner: "somebody else" }));
  const words = `owner in the schema's metadata is ${JSON.stringify(metadata.owner)} instead of "somebody else"`;
  expect(await project.migrate(["generate", "--check"])).toMatchObject(onStdout(3, words));
  const refused = await project.migrate(["generate"]);
  expect(refused).toMatchObject(onStderr(4, words));
  expect(refused.stderr).toContain("no call changes the metadata of an existing table's schema");
});

test("generate creates a new table with the metadata that schema.ts declares", async () => {
  const project = aProject();
  project.write("schema.ts", declaration(metadata));
  expect(await project.migrate(["generate", "documents"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await metadataOf(project.database)).toEqual(metadata);
  expect(await project.migrate(["generate", "--check"])).toMatchObject({ code: 0 });
});

test("migrate new --create-table takes schema metadata", async () => {
  const project = aProject();
  const form = `documents(id int64 not null, text utf8) metadata ${JSON.stringify(metadata)}`;
  expect(await project.migrate(["new", "documents", "--create-table", form])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await metadataOf(project.database)).toEqual(metadata);
});

test("a squash keeps schema metadata, and so does a table that is created with rows", async () => {
  const project = aProject();
  project.migration("0001_documents.ts", creation);
  project.migration("0002_title.ts", `m.addColumn("documents", "title", m.utf8()),`);
  project.migration(
    "0003_languages.ts",
    `m.createTable("languages", { code: m.utf8() }, { rows: [{ code: "en" }], metadata: { source: "iso" } }),`,
  );
  expect(await project.migrate(["squash", "--to", "3"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await metadataOf(project.database)).toEqual(metadata);
  expect(await metadataOf(project.database, "languages")).toEqual({ source: "iso" });
});

test.each([
  ["renaming the source column", `m.renameColumn("documents", "text", "body"),`, "text"],
  ["dropping the source column", `m.dropColumn("documents", "text"),`, "text"],
  ["renaming the vector column", `m.renameColumn("documents", "vector", "embedding"),`, "vector"],
])("plan and lint warn of %s of an embedding function", async (_, step, column) => {
  const project = aProject();
  project.migration("0001_documents.ts", creation);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0002_change.ts", step);
  const words = `embedding function "fake" of documents refers to ${column}`;
  const plan = await project.migrate(["plan", "--accept", "lossy"]);
  expect(plan).toMatchObject(onStdout(0, words));
  const linted = await project.migrate(["lint"]);
  expect(linted.stdout).toContain("breaks-embedding-function");
  expect(linted.stdout).toContain(words);
});
