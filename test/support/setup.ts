/** Runs before each file of tests; what it imports is loaded once in each of Vitest's processes. */
import "./quick-imports.ts";
import { beforeAll, type RunnerTask } from "vitest";

// Two runs of CI, and the reader of a report, know a test by its name.
// oxlint-disable-next-line eslint/no-empty-pattern -- Vitest reads here what the hook uses
beforeAll(({}, file) => {
  const names = namesIn(file.tasks);
  const twice = names.filter((name, place) => names.indexOf(name) !== place);
  if (twice.length > 0) throw new Error(`tests of one name: ${twice.join(", ")}`);
});

function namesIn(tasks: readonly RunnerTask[]): readonly string[] {
  return tasks.flatMap((task) => (task.type === "suite" ? namesIn(task.tasks) : task.fullTestName));
}
