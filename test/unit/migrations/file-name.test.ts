import { expect, test } from "vitest";
import { formatMigration, formatVersion, parseFileName } from "../../../src/migrations/file-name.ts";

test.each([
  ["0001_create_documents.ts", 1, "create_documents"],
  ["0001_create_documents.js", 1, "create_documents"],
  ["0001_create_documents.mts", 1, "create_documents"],
  ["0001_create_documents.mjs", 1, "create_documents"],
  ["1_a.ts", 1, "a"],
  ["0000_a.ts", 0, "a"],
  ["20261120103000_Widen-ids_2.ts", 20_261_120_103_000, "Widen-ids_2"],
  ["0001_2026.ts", 1, "2026"],
  ["9007199254740991_last.ts", Number.MAX_SAFE_INTEGER, "last"],
])("%s is migration %i, %s", (file, version, name) => {
  expect(parseFileName(file)).toEqual({ version, name });
});

test.each([
  "0001.ts",
  "0001_.ts",
  "0001-create.ts",
  "0001__create.ts",
  "0001_-create.ts",
  "create.ts",
  "index.ts",
  "_0001_create.ts",
  "v1_create.ts",
  "1.5_create.ts",
  "0001_größe.ts",
  "0001_with space.ts",
  "0001_create.test.ts",
  "0001_create.cts",
  "0001_create.cjs",
  "0001_create.tsx",
  "0001_create.jsx",
  "9007199254740993_too_high.ts",
  "0001_two\nlines.ts",
])("%s looks like code and is no migration, so it is refused rather than left out", (file) => {
  expect(() => parseFileName(file)).toThrow(expect.objectContaining({ code: "ERR_FILE_NAME", details: { file } }));
});

test.each([
  "README.md",
  ".gitkeep",
  ".DS_Store",
  "0001_create_documents.sql",
  "0001_create_documents.ts.bak",
  "0001_create_documents.json",
  "types.d.ts",
  "0001_create_documents.d.ts",
  "0001_create_documents.d.mts",
  "0001_create_documents.js.map",
  "",
])("%j is not taken for a migration", (file) => {
  expect(parseFileName(file)).toBeUndefined();
});

test("versions are written with at least four digits", () => {
  expect([0, 7, 9999, 10_000].map(formatVersion)).toEqual(["0000", "0007", "9999", "10000"]);
  expect(formatMigration({ version: 3, name: "widen_ids" })).toBe("0003_widen_ids");
});
