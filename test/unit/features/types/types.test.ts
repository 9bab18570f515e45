/** Whatever tables there are: TypeScript takes what is written of them, and a formatter would write it as it is. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { applicationTypes } from "../../../../src/features/types/application-types.ts";
import { historyTypes } from "../../../../src/features/types/history-types.ts";
import type { Column } from "../../../../src/schema/data-type.ts";
import type { Database, Table } from "../../../../src/schema/table.ts";
import { anyColumns } from "../../../support/drawn-tables.ts";
import * as fc from "../../../support/fast-check.ts";
import { root, temporaryFolder } from "../../../support/project.ts";
import { revisionsOf } from "../../../support/revisions.ts";
import { strictConfig, typeProblems } from "../../../support/type-check.ts";

const tableNames = ["documents", "my_notes", "my-notes", "myNotes", "2024.logs", "Struct", "schema", "a", "__proto__"];
const long = Array.from({ length: 17 }, (_, at) => `a_name_that_is_long_and_longer`.padEnd(40 + 2 * at, "_x"));
const oddNames = [
  "class",
  "1",
  "x y",
  "it's",
  'say "so"',
  "名前",
  "__proto__",
  "constructor",
  "toJSON",
  "*/",
  "${x}",
  "a-b",
  ...long,
];

const table: fc.Arbitrary<Table> = fc
  .tuple(anyColumns, fc.uniqueArray(fc.constantFrom(...oddNames), { maxLength: 6 }))
  .map(([columns, names]) => {
    // Each drawn type under an odd name, too, and as a computed column.
    const odd = names.map((name, at): Column => ({
      ...columns[at % columns.length]!,
      name,
      ...(at % 2 === 1 && { computed: "1" }),
    }));
    const all = [...columns.filter(({ name }) => !names.includes(name)), ...odd];
    return { columns: all, indexes: { [`${all[0]!.name}_idx`]: { path: all[0]!.name, kind: "btree", options: {} } } };
  });

const moments: fc.Arbitrary<readonly Database[]> = fc
  .array(
    fc.uniqueArray(fc.tuple(fc.constantFrom(...tableNames), table), { selector: ([name]) => name, maxLength: 4 }),
    {
      minLength: 60,
      maxLength: 60,
    },
  )
  .map((all) => all.map((tables) => new Map(tables)));

test("types of 60 drawn databases are taken by TypeScript, and are as a formatter leaves them", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["@lancedb", "@types"])
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }\n`);
  const drawn = fc.sample(moments, { numRuns: 1, seed: 11 })[0]!;
  writeFileSync(join(folder, "history.d.ts"), historyTypes(revisionsOf(drawn)));
  const template = readFileSync(join(root, "templates/row-schemas.ts"), "utf8");
  for (const [at, database] of drawn.entries())
    writeFileSync(join(folder, `db${at + 1}.ts`), applicationTypes(database, at % 2 === 0 ? template : undefined));
  const before = textsIn(folder);
  writeFileSync(join(folder, "format.json"), `{ "printWidth": 80 }\n`);
  execFileSync(join(root, "node_modules/.bin/oxfmt"), ["-c", "format.json", "."], { cwd: folder });
  const after = textsIn(folder);
  for (const [name, text] of before) expect(after.get(name)).toBe(text);
  writeFileSync(
    join(folder, "tsconfig.json"),
    strictConfig
      .replace(`"declaration":true`, `"declaration":true,"isolatedDeclarations":true`)
      .replace(`"skipLibCheck":true,`, ""),
  );
  const ours = typeProblems(folder).filter(({ file }) => !file.includes("node_modules"));
  expect(ours).toEqual([]);
});

function textsIn(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  return new Map(files.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
