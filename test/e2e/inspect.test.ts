/** `migrate inspect` and `migrate diff`: the tables of databases as they are. */
import { describe, expect, test } from "vitest";
import { aProject, onStderr, onStdout, type Project } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import { join } from "node:path";

async function aScene(): Promise<Project> {
  const project = aProject();
  const target = (name: string) => `${name}: { kind: "lance", uri: "${name}" }`;
  project.write(
    "migrate.config.ts",
    `export default { target: "staging", targets: { ${target("staging")}, ${target("production")} } };`,
  );
  project.migration(
    "0001_docs.ts",
    `m.createTable("docs", { id: m.int64().notNull(), "full title": m.utf8(), v: m.vector(2) }, { rows: [{ id: 1, "full title": "a", v: [1, 2] }] }), m.createIndex("docs", "id", m.btree())`,
  );
  project.migration("0002_words.ts", `m.addColumn("docs", "words", m.int32())`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  expect(await project.migrate(["up", "--to", "1", "--target", "production"])).toMatchObject({ code: 0 });
  return project;
}

describe("inspect", () => {
  test("shows columns, indexes and rows, and no table of the ledger", async () => {
    const project = await aScene();
    expect(await project.migrate(["inspect"])).toEqual({
      code: 0,
      stderr: "",
      stdout: `docs  1 row  version 3
  id            int64                      not null
  full title    utf8
  v             fixedSizeList<float32, 2>
  words         int32
  index id_idx  on id                      btree
`,
    });
    const { stdout } = await project.migrate(["inspect", "--json", "--target", "production"]);
    expect(JSON.parse(stdout)).toMatchObject({
      target: "production",
      tables: [
        {
          name: "docs",
          rows: 1,
          version: 2,
          columns: [{ name: "id", type: "int64", nullable: false }, { name: "full title" }, { name: "v" }],
          indexes: [{ name: "id_idx", on: "id", type: "btree" }],
        },
      ],
    });
  });

  test("as schema.ts, it declares what there is, so that generate has nothing to do", async () => {
    const project = await aScene();
    const { stdout } = await project.migrate(["inspect", "--format", "schema"]);
    project.write("schema.ts", stdout);
    expect(await project.migrate(["generate", "--check"])).toMatchObject({ code: 0 });
  });

  test("as a diagram, it has names and types that Mermaid takes, and the others in comments", async () => {
    const project = await aScene();
    const { stdout } = await project.migrate(["inspect", "docs", "--format", "mermaid"]);
    expect(stdout).toBe(`erDiagram
  "docs" {
    int64 id "not null"
    utf8 full_title "full title"
    fixedSizeList v "fixedSizeList<float32, 2>"
    int32 words
  }
`);
  });

  test("needs no migrations, and names the table that may be meant", async () => {
    const other = aProject();
    const tables = await lancedb.connect(join(other.folder, ".lancedb"));
    await tables.createTable("others", [{ id: 1 }]);
    expect(await other.migrate(["inspect"])).toMatchObject(onStdout(0, "others  1 row  version 1\n  id  float64\n"));
    expect(await other.migrate(["inspect", "others", "other"])).toMatchObject(
      onStderr(2, "local has no table other; did you mean others?"),
    );
    await tables.createTable("second", [{ name: "a" }]);
    await tables.createTable("third", [{ id: 1 }]);
    expect(await other.migrate(["inspect", "third", "second"])).toMatchObject({
      code: 0,
      stdout: "third  1 row  version 1\n  id  float64\nsecond  1 row  version 1\n  name  utf8\n",
    });
  });
});

describe("diff", () => {
  test("states what differs, also from and to a point of the history", async () => {
    const project = await aScene();
    const added = "- production, + staging\n+ docs: column words int32\n";
    expect(await project.migrate(["diff", "production", "staging"])).toMatchObject({ code: 0, stdout: added });
    expect(await project.migrate(["diff", "staging", "1", "--check"])).toMatchObject({
      code: 3,
      stdout: "- staging, + 1\n- docs: column words int32\n",
    });
    expect(await project.migrate(["diff", "staging", "0002", "--check"])).toMatchObject(
      onStdout(0, "equal: 1 table (the metadata of columns and most parameters of indexes are not compared)\n"),
    );
    const { stdout } = await project.migrate(["diff", "1", "2", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      equal: false,
      from: "1",
      to: "2",
      differences: [{ table: "docs", what: "column", to: "words int32" }],
      unread: [],
    });
  });

  test("renames, types, nullability, indexes and tables are differences on whichever side they are", async () => {
    const project = await aScene();
    project.migration(
      "0003_more.ts",
      `m.renameColumn("docs", "full title", "title"), m.setNullable("docs", "id", true), m.retypeColumn("docs", "words", m.int64()), m.createIndex("docs", "words", m.btree()), m.createTable("other", { id: m.int64() })`,
    );
    expect(await project.migrate(["up", "--target", "production"])).toMatchObject({ code: 0 });
    const lines = (one: string, other: string) => [
      `${one} docs: column id int64 not null`,
      `${other} docs: column id int64`,
      `${one} docs: column full title utf8`,
      `${other} docs: column title utf8`,
      `${one} docs: column words int32`,
      `${other} docs: column words int64`,
      `${other} docs: index words_idx on words: btree`,
      `${other} table other (id)`,
    ];
    const [forth, back] = [
      await project.migrate(["diff", "staging", "production"]),
      await project.migrate(["diff", "production", "staging"]),
    ];
    expect(new Set(forth.stdout.trim().split("\n"))).toEqual(new Set(["- staging, + production", ...lines("-", "+")]));
    expect(new Set(back.stdout.trim().split("\n"))).toEqual(new Set(["- production, + staging", ...lines("+", "-")]));
    expect(await project.migrate(["diff", "production", "3", "--check"])).toMatchObject({ code: 0 });
  });

  test("what is neither a target nor a migration is named", async () => {
    const project = await aScene();
    expect(await project.migrate(["diff", "staging"])).toMatchObject(
      onStderr(2, "give two sides, such as migrate diff"),
    );
    expect(await project.migrate(["diff", "stagign", "1"])).toMatchObject(onStderr(2, "did you mean staging?"));
    expect(await project.migrate(["diff", "staging", "9"])).toMatchObject(
      onStderr(2, "there is no migration 0009, and no target of that name"),
    );
  });
});
