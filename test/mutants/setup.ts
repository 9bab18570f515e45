/** Before each file of tests: says which test runs, to this process and to those that it starts. */
import { afterEach, beforeEach, type RunnerTask } from "vitest";

const { forget } = (await import(new URL("preload.mjs", import.meta.url).href)) as { forget: () => void };

beforeEach(({ task }) => say(task.file.name, nameOf(task)));
afterEach(({ task }) => say(task.file.name, ""));

function say(file: string, test: string): void {
  process.env["MUTANTS_TEST"] = JSON.stringify([file, test]);
  forget();
}

function nameOf({ name, suite }: RunnerTask): string {
  return suite?.name ? `${nameOf(suite)} > ${name}` : name;
}
