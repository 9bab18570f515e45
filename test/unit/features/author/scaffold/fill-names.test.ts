import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withNames } from "../../../../../src/features/author/scaffold/fill-names.ts";
import { rewriteMigration } from "../../../../../src/features/author/scaffold/fill-template.ts";
import { valueSource } from "../../../../../src/schema/text/typescript-source.ts";
import { temporaryFolder } from "../../../../support/project.ts";

const was = valueSource(["0002_mine bd4262072f2296cb"]);
const head = `import { addColumn, utf8, type Step } from "lance-migrate";\n\n`;
const up = `export const up: readonly Step[] = [addColumn("t", "mine", utf8())];\n`;
const known = `/** Its names before it was renumbered. */\nexport const was = ["0001_mine"];\n\n`;
const long = `export const was = [\n  "0001_mine bd4262072f2296cb",\n  "0003_mine",\n];\n\n`;

test.each([
  ["a comment", `${head}/** Mine. */\n${up}`],
  ["a comment of several lines", `${head}/** Other. */\nconst x = 1;\n\n/**\n * Mine.\n *\n * Lost.\n */\n${up}`],
  ["no comment", `${head}${up}`],
  ["carriage returns", `${head}/** Mine. */\n${up}`.replaceAll("\n", "\r\n")],
  ["names already", `${head}${known}/** Mine. */\n${up}`],
  ["names in several lines", `${head}${long}${up}export const down = [];\n`],
  ["no imports", up.replace(": readonly Step[]", "").replace("addColumn(", "globalThis.add(")],
])("names are written as with ts-morph into a migration with %s", (_, text) => {
  const file = join(temporaryFolder(), "0002_mine.ts");
  writeFileSync(file, text);
  expect(withNames(text, was)).toBe(rewriteMigration(file, { was }, "0001"));
});

test.each([
  ["names that are computed", `export const was = names();\n${up}`],
  ["names of another form", `export const was: string[] = ["0001_mine"];\n${up}`],
  ["steps of another form", `const up = [];\nexport { up };\n`],
])("a migration with %s is left to ts-morph", (_, text) => {
  expect(withNames(text, was)).toBeUndefined();
});
