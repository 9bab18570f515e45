import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The tests that take minutes, most of them waiting, begin first: at the end everybody would wait for them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- not that of arrays
    const rest = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => /\/test\/(fault|container|e2e|rest|simulate)\//.test(moduleId);
    return [...rest.filter(isLong), ...rest.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  resolve: { alias: { "lance-migrate": fileURLToPath(new URL("./src/index.ts", import.meta.url)) } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/pylance/**"],
    sequence: { sequencer: LongestFirst },
    // More than a small machine has cores: the long tests wait for leases to run out.
    maxWorkers: 3,
    // Real engines and processes on machines of two cores: a limit that only a hanging test meets.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
