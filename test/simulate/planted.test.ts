/** The simulator has to find bugs: each of a list is planted in a copy of the source, and it has to see it within 10,000 schedules. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root, startNode, temporaryFolder } from "../support/project.ts";
import { plantedBugs, type PlantedBug } from "./planted.ts";

const schedules = 10_000;

function aCopyWith({ file, right, wrong }: PlantedBug): string {
  const folder = temporaryFolder();
  for (const part of ["src", "test/simulate", "package.json"])
    cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const path = join(folder, "src", file);
  const text = readFileSync(path, "utf8");
  // What stands there no more would plant nothing.
  expect(text.split(right)).toHaveLength(2);
  writeFileSync(
    path,
    text.replace(right, () => wrong),
  );
  return folder;
}

test.each(plantedBugs)(`it is found within ${schedules} schedules: $name`, { timeout: 600_000 }, async (bug) => {
  const args = ["test/simulate/run.ts", "--schedules", String(schedules), "--violations", "1"];
  const { code, stdout } = await startNode(args, aCopyWith(bug)).finished;
  const [, seed] = /^seed (\d+): /.exec(stdout) ?? [];
  expect(seed).toBeDefined();
  expect(code).toBe(1);
  // It is the planted one that was found.
  expect((await startNode(["test/simulate/run.ts", "--seed", seed!], root).finished).code).toBe(0);
});
