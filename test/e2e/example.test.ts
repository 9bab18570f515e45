/** The examples in the repository. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { root, startNode } from "../support/project.ts";

const example = join(root, "examples/reembed");

// What the example does is tried for each commit by test/e2e/reembed.test.ts.
test.skipIf(lacks("model"))("the example changes the embedding model, and searches find what fits better", async () => {
  if (!existsSync(join(example, "model/node_modules"))) {
    const { status } = spawnSync("npm", ["ci", "--prefix", join(example, "model")], { stdio: "inherit" });
    expect(status).toBe(0);
  }
  const { code, stdout, stderr } = await startNode([join(example, "main.ts"), "--rows", "2000"], root).finished;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  // The first 2,000 entries are mostly acts.
  const [before, after] = stdout.split(/^Searches, with .*:$/m).slice(1);
  expect(after).toContain("baking: cooking by dry heat in an oven");
  expect(before).not.toContain("baking");
});
