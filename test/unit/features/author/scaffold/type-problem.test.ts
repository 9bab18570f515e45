import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { typeProblem } from "../../../../../src/features/author/scaffold/type-problem.ts";
import { root, temporaryFolder } from "../../../../support/project.ts";

const text = `import { createTable, int32 } from "lance-migrate";
import { name } from "./name.ts";

export const up = [createTable(name, { id: int32() })];
`;

function aFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules", "lance-migrate"));
  return folder;
}

test("of two checks each sees the project's own files as they are then, and the types of packages", () => {
  const folder = aFolder();
  const problemWith = (name: string) => {
    writeFileSync(join(folder, "name.ts"), `export const name = ${name};\n`);
    return typeProblem(join(folder, "0001_create.ts"), text, folder);
  };
  expect(problemWith(`"t"`)).toBeUndefined();
  expect(problemWith("1")).toBe("Argument of type 'number' is not assignable to parameter of type 'string'. (line 4)");
  expect(problemWith(`"u"`)).toBeUndefined();
  const wrong = text.replace("int32()", `"int32"`);
  expect(typeProblem(join(folder, "0001_create.ts"), wrong, folder)).toMatch(/\(line 4\)$/);
});

test("a stricter tsconfig.json counts from the next check on", () => {
  const folder = temporaryFolder();
  const file = join(folder, "0001_create.ts");
  const loose = "export const up = [];\nexport const first = (value) => value;\n";
  writeFileSync(join(folder, "tsconfig.json"), `{ "compilerOptions": { "strict": false, "types": [] } }`);
  expect(typeProblem(file, loose, folder)).toBeUndefined();
  writeFileSync(join(folder, "tsconfig.json"), `{ "compilerOptions": { "strict": true, "types": [] } }`);
  expect(typeProblem(file, loose, folder)).toBe("Parameter 'value' implicitly has an 'any' type. (line 2)");
});

test("without a tsconfig.json a migration may use what Node has, and not what just browsers have", () => {
  const folder = aFolder();
  const using = (code: string) =>
    typeProblem(
      join(folder, "0001_create.ts"),
      `import { dropTable } from "lance-migrate";\nexport const up = [dropTable("t")];\n${code}\n`,
      folder,
    );
  const global =
    "console, process, Buffer, URL, fetch, structuredClone, AbortController, TextEncoder, setTimeout, performance";
  expect(using(`export const all: unknown = [${global}, crypto.randomUUID()];`)).toBeUndefined();
  expect(using("await using nothing = { [Symbol.asyncDispose]: async () => {} };")).toBeUndefined();
  expect(using("document.title;")).toMatch(/^Cannot find name 'document'/);
});
