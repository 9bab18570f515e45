import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longest } from "./test/files.ts";

/** Of the others those that start processes or wait. */
const slow = /\/test\/(app|fault|container|stores|e2e|rest|service|simulate|contract)\//;

/** Milliseconds that only a hanging test takes, on whatever machine: the only limit of time that tests have. */
const hanging = process.env["MIGRATE_LONG"] === "1" ? 12 * 3_600_000 : 1_800_000;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const known = longest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return known >= 0 ? known : longest.length + (slow.test(moduleId) ? 0 : 1);
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- not that of arrays
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // The others would be left out, and nobody would notice.
    allowOnly: false,
    exclude: ["test/pylance/**", "test/.cache/**"],
    sequence: { sequencer: LongestFirst },
    // The files of a worker share its modules, and the processes of test/support/shared-process.ts: loading them for each
    // file took a minute of the unit tests alone. Nothing may be left in them that another file could notice.
    isolate: false,
    // Node loads everything itself, as it does for users. Vitest asks its main process for each module again each time that
    // it is imported, and tests import thousands of migrations.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Watching needs to know what imports what.
    setupFiles: process.argv.includes("run") ? ["test/support/setup.ts"] : [],
    execArgv: ["--import", new URL("./test/support/own-package.ts", import.meta.url).href],
    // More than a small machine has cores: the long tests wait for leases to run out.
    maxWorkers: 4,
    testTimeout: hanging,
    // "expected [ …(2) ] to deeply equal []" at the end of a log does not say what was found.
    chaiConfig: { truncateThreshold: 1_000 },
    // A name that is cut says less, and is that of others too.
    taskTitleValueFormatTruncate: 200,
    hookTimeout: hanging,
    expect: { poll: { timeout: hanging / 2 } },
  },
});
