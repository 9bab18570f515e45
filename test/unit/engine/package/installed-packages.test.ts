import { expect, test } from "vitest";
import { findPackage, projectFolder, usePackagesOf } from "../../../../src/engine/package/installed-packages.ts";

test("the folder of a project may be relative", () => {
  usePackagesOf(".");
  expect(projectFolder()).toBe(process.cwd());
  expect(findPackage("@lancedb/lancedb", `${projectFolder()}/package.json`)).toBeDefined();
});
