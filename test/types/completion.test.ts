/** What an editor offers while a migration is typed, asked of TypeScript's language service. */
import { join } from "node:path";
import { Project } from "ts-morph";
import { expect, test } from "vitest";
import { aProject } from "../support/project.ts";
import { strictConfig } from "../support/type-check.ts";

const cases: readonly (readonly [steps: string, names: readonly string[]])[] = [
  [`dropTable("§")`, ["documents", "notes"]],
  [`renameColumn("§", "a", "b")`, ["documents", "notes"]],
  [`renameColumn("documents", "§", "headline")`, ["id", "title", "source"]],
  [`alterColumns("documents", [{ path: "§", rename: "headline" }])`, ["id", "title", "source"]],
  [`dropColumn("documents", "source.§")`, ["source.url"]],
  [`createIndex("documents", "§", btree())`, ["id", "title", "source"]],
  [`execute("documents", { update: { §: "1" } })`, ["id", "title", "source"]],
  [`insertRows("notes", [{ § }], { key: "id" })`, ["id"]],
  [`insertRows("notes", [{ id: 1 }], { key: "§" })`, ["id"]],
  [
    `renameColumn("documents", "title", "headline"), addColumn("notes", "n", utf8()), setNullable("documents", "§", false)`,
    ["id", "headline", "source"],
  ],
  [`addColumn("notes", "n", utf8()), setNullable("notes", "§", false)`, ["id", "n"]],
];

test("at each place the names of that point are offered", async () => {
  const { folder, migrate, migration, write } = aProject();
  write("tsconfig.json", strictConfig);
  migration(
    "0001_documents.ts",
    `m.createTable("documents", { id: m.int64().notNull(), title: m.utf8(), source: m.struct({ url: m.utf8() }) }),
     m.createTable("notes", { id: m.int32() }),`,
  );
  expect(await migrate(["types"])).toMatchObject({ code: 0 });
  const project = new Project({ tsConfigFilePath: join(folder, "tsconfig.json") });
  const path = join(folder, "migrations/0002_next.ts");
  const offered = cases.map(([steps]) => {
    const used = [...new Set(steps.match(/\b\w+(?=\()/g))].join(", ");
    const text = `import { after, ${used} } from "lance-migrate";\nexport const up = after("0001", ${steps});\n`;
    const file = project.createSourceFile(path, text.replace("§", ""), { overwrite: true });
    const service = project.getLanguageService().compilerObject;
    const found = service.getCompletionsAtPosition(file.getFilePath(), text.indexOf("§"), {})?.entries ?? [];
    const names = found.filter(({ kind }) => kind === "string" || kind === "property").map(({ name }) => name);
    return [steps, names.toSorted()];
  });
  expect(offered).toEqual(cases.map(([steps, names]) => [steps, names.toSorted()]));
});
