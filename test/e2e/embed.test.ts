/** Embedding functions that are registered with LanceDB's client for Python (python/embed.py). */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { officialPackages, pythonWith } from "../clients/client.ts";
import { lacks } from "../support/needs.ts";
import { aProject, onStderr } from "../support/project.ts";
import { addRows, rowsOf } from "../support/tables.ts";

const script = fileURLToPath(new URL("../../python/embed.py", import.meta.url));

const functions = `from lancedb.embeddings import TextEmbeddingFunction, register

@register("letters")
class Letters(TextEmbeddingFunction):
    factor: int = 1
    fails: str = ""

    def ndims(self):
        return 2

    def generate_embeddings(self, texts):
        print("loading the model")
        if self.fails:
            raise RuntimeError(self.fails)
        return [[self.factor * len(text), self.factor * text.count("a")] for text in texts]
`;

async function embedded(options: readonly string[], from = '["text"]') {
  const project = aProject();
  project.write("embedders.py", functions);
  project.migration("0001_create.ts", `m.createTable("docs", { id: m.int32(), text: m.utf8(), other: m.utf8() }),`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", [
    { id: 1, text: "a banana" },
    { id: 2, text: null },
    { id: 3, text: "" },
    { id: 4, text: "plum" },
  ]);
  const command = JSON.stringify([pythonWith(...officialPackages), script, ...options]);
  project.migration(
    "0002_embed.ts",
    `m.addColumn("docs", "v", m.vector(2)),
     m.backfillColumn("docs", "v", { from: ${from}, key: "id", with: { command: ${command} }, version: "1", concurrency: 1 }),`,
  );
  return { project, ...(await project.migrate(["up"])) };
}

test.skipIf(lacks("python"))(
  "a function of the registry computes the vectors, with its options, and rows without a text get none",
  async () => {
    const { project, code, stderr } = await embedded(["--import", "embedders", "letters", "factor=10"]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect((await rowsOf(project.database, "docs")).map(({ id, v }) => [id, v])).toEqual([
      [1, [80, 40]],
      [2, null],
      [3, [0, 0]],
      [4, [40, 0]],
    ]);
  },
);

test.skipIf(lacks("python")).each([
  {
    why: "the function fails",
    options: ["--import", "embedders", "letters", "fails=no key"],
    words: "RuntimeError: no key",
  },
  {
    why: "there are two columns",
    options: ["--import", "embedders", "letters"],
    from: '["text", "other"]',
    words: "`from` names several columns (text, other)",
  },
])("the run states that $why", async ({ options, from, words }) => {
  const { code, stderr } = await embedded(options, from);
  expect({ code, stderr }).toMatchObject(onStderr(1, words));
});
