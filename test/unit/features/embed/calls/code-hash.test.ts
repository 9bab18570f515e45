import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeHash } from "../../../../../src/features/embed/calls/code-hash.ts";
import { temporaryFolder } from "../../../../support/project.ts";

test.each(["code/near.mjs", "lib/named.mjs", "code/model.mjs"])("an edit of %s changes the hash", (edited) => {
  const folder = temporaryFolder();
  for (const name of ["code", "lib"]) mkdirSync(join(folder, name));
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write("package.json", `{ "imports": { "#named": "./lib/named.mjs" } }`);
  write("code/model.mjs", `import "./near.mjs"; import "#named"; export const colour = "#abcdef";`);
  write("code/near.mjs", "");
  write("lib/named.mjs", "");
  const before = codeHash("./code/model.mjs", folder);
  write("lib/other.mjs", "");
  expect(codeHash("./code/model.mjs", folder)).toBe(before);
  write(edited, "// edited\n");
  expect(codeHash("./code/model.mjs", folder)).not.toBe(before);
});

test("an edit of any byte of a file that is no text changes the hash", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "model.mjs"), `new URL("./weights.bin", import.meta.url)`);
  const hashWith = (...bytes: readonly number[]) => {
    writeFileSync(join(folder, "weights.bin"), Uint8Array.from(bytes));
    return codeHash("./model.mjs", folder);
  };
  expect(new Set([hashWith(1, 0xff), hashWith(1, 0xfe), hashWith(2, 0xfe)]).size).toBe(3);
});
