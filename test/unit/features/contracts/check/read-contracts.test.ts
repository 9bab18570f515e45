import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readContracts } from "../../../../../src/features/contracts/check/read-contracts.ts";
import { temporaryFolder } from "../../../../support/project.ts";

const readAt = (...paths: readonly string[]) => readContracts(paths.map((path) => ({ path, target: undefined })));

const contract = (release: string) =>
  JSON.stringify({ format: 1, application: "search", release, tables: { documents: {} } });

test("reads all contracts in a folder, through links and with a byte order mark, each once", () => {
  const folder = temporaryFolder();
  for (const inner of ["..2026", "api"]) mkdirSync(join(folder, inner));
  // As Kubernetes mounts a ConfigMap.
  writeFileSync(join(folder, "..2026", "b.json"), `\uFEFF${contract("b")}`);
  symlinkSync("..2026", join(folder, "..data"));
  symlinkSync("..data/b.json", join(folder, "b.json"));
  writeFileSync(join(folder, "api", "a.json"), contract("a"));
  writeFileSync(join(folder, "README.md"), "no contract");
  const elsewhere = temporaryFolder();
  writeFileSync(join(elsewhere, "c.json"), contract("c"));
  symlinkSync(elsewhere, join(folder, "linked"));
  const releases = readAt(folder, join(folder, "b.json")).contracts.map(({ release }) => release);
  expect(releases).toEqual(["a", "b", "c"]);
});

test.each<[string, string, string]>([
  ["wrong.json", "{", "wrong.json is not JSON"],
  ["empty.json", "[]", "empty.json is not valid: it must be an object"],
])("refuses %s", (name, text, problem) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, name), text);
  expect(() => readAt(join(folder, name))).toThrow(problem);
});

test.each<[string, string | undefined, string]>([
  [
    "the target names it",
    "production",
    "contracts, which target production names in its setting contracts, does not exist; create it (it may be empty), or correct the setting",
  ],
  ["it was given", undefined, "does not exist; correct its path, or leave it out"],
])("a folder that is missing is refused, with the way out if %s", (_, target, problem) => {
  const place = { path: join(temporaryFolder(), "contracts"), target };
  expect(() => readContracts([place])).toThrow(expect.objectContaining({ code: "ERR_CONTRACT_MISSING" }));
  expect(() => readContracts([place])).toThrow(problem);
});

test("a broken link in a folder is refused as a file that can't be read", () => {
  const folder = temporaryFolder();
  symlinkSync("gone.json", join(folder, "a.json"));
  expect(() => readAt(folder)).toThrow("a.json can't be read: ENOENT: no such file or directory");
});
