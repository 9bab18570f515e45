import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root, startNode } from "../../../support/project.ts";

// In a process of its own: a process works on the project that it opens first, and here others may have.
test("the folder of a project may be relative", async () => {
  const source = `
    import { findPackage, projectFolder, usePackagesOf } from "./src/engine/package/installed-packages.ts";
    usePackagesOf(".");
    console.log(JSON.stringify([projectFolder(), findPackage("@lancedb/lancedb", projectFolder() + "/package.json")]));
  `;
  const { stdout } = await startNode(["--input-type=module", "--eval", source], root).finished;
  expect(JSON.parse(stdout)).toEqual([resolve(root), expect.stringContaining("lancedb")]);
});
