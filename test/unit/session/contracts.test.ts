import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readContracts } from "../../../src/session/contracts.ts";
import { temporaryFolder } from "../../support/project.ts";

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
  const releases = readContracts([folder, join(folder, "b.json")]).map(({ release }) => release);
  expect(releases).toEqual(["a", "b", "c"]);
});

test.each<[string, string, string]>([
  ["missing", "", "can't be read: ENOENT: no such file or directory"],
  ["wrong.json", "{", "is not JSON"],
  ["empty.json", "[]", "must be an object"],
])("refuses %s", (name, text, problem) => {
  const folder = temporaryFolder();
  if (text !== "") writeFileSync(join(folder, name), text);
  expect(() => readContracts([join(folder, name)])).toThrow(`${name}: ${problem}`);
});
