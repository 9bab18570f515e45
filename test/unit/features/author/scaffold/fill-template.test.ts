import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rewriteMigration } from "../../../../../src/features/author/scaffold/fill-template.ts";
import { temporaryFolder } from "../../../../support/project.ts";

function aFile(text: string): string {
  const file = join(temporaryFolder(), "0002_second.ts");
  writeFileSync(file, text);
  return file;
}

test("a migration of which nothing changes stays as it is, however its steps are made", () => {
  const text = "const made = () => [];\nexport const up = made();\n";
  expect(rewriteMigration(aFile(text), {}, "0003_third")).toBe(text);
});

test("a migration whose steps have no variable of their name is refused", () => {
  const file = aFile("const steps = [];\nexport { steps as up };\n");
  expect(() => rewriteMigration(file, {}, "0003_third")).toThrow("must export its steps as export const up");
});
