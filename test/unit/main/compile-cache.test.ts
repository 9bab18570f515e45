import { join } from "node:path";
import { expect, test } from "vitest";
import { cacheFolder } from "../../../src/main/compile-cache.ts";

test.each([
  ["an installed package", ["app", "node_modules", "lance-migrate"], ["app", "node_modules"]],
  ["a checkout", ["code", "lance-migrate"], ["code", "lance-migrate", "node_modules"]],
])("compiled code is kept in the folder of packages: %s", (_, own, packages) => {
  const root = join("/", "home");
  expect(cacheFolder(join(root, ...own, "dist", "bin.js")).cache).toBe(
    join(root, ...packages, ".cache", "lance-migrate"),
  );
});
