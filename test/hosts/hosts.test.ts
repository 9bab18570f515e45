/** The hosts that need no package of their own, in the Node of the tests; npm run check hosts has the others. */
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { root, temporaryFolderOfFile } from "../support/project.ts";
import { hosts } from "./hosts.ts";
import { buildMigrations, tryHost, writeProject } from "./try-host.ts";

const folder = temporaryFolderOfFile();

beforeAll(() => {
  for (const name of ["@lancedb/lancedb", "rolldown", "vitest"]) {
    const link = join(folder, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", name), link);
  }
  // Hosts treat a package differently that is not in node_modules.
  for (const part of ["dist", "package.json"])
    cpSync(join(root, part), join(folder, "node_modules/lance-migrate", part), { recursive: true });
  writeProject(folder);
  buildMigrations(folder);
});

test.each([
  ["a worker thread", "program"],
  ["node:vm", "program"],
  ["Vitest, pool vmThreads", "testing"],
  ["rolldown, the package inside, ES module", "program"],
  ["rolldown, the package inside, CommonJS", "program"],
] as const)("in %s, %s works", (name, work) => {
  const host = hosts.find((one) => one.name === name)!;
  expect(tryHost(folder, host, work, process.execPath)).toBe("works");
});

test("without type stripping, a migration in TypeScript is refused with the way out", () => {
  const host = hosts.find(({ name }) => name === "Node without type stripping")!;
  expect(tryHost(folder, host, "program", process.execPath)).toMatch(
    /^0001_create_documents\.ts can't be loaded: Unknown file extension.*; leave out --no-experimental-strip-types, or write it in JavaScript$/,
  );
});
