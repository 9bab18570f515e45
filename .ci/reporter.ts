/** Writes what a run of Vitest has found to the file CI_OUTCOME: more than its own JSON, which leaves out hooks and what nobody caught. */
import { writeFileSync } from "node:fs";
import type { Reporter, SerializedError, TestCase, TestModule, TestSuite } from "vitest/node";

/** A test, a suite or a file that has run. */
export interface Ended {
  /** `test/unit/index.test.ts > a suite > a test` */
  readonly id: string;
  readonly file: string;
  readonly isTest: boolean;
  /** None if it has passed. Those of a suite or a file come from its hooks, or from loading it. */
  readonly errors: readonly string[];
}

export interface Outcome {
  readonly ended: readonly Ended[];
  /** Errors that no test caught. */
  readonly unhandled: readonly string[];
  readonly files: readonly { readonly path: string; readonly seconds: number }[];
}

export default class implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const outcome: Outcome = {
      ended: modules.flatMap(endedIn),
      unhandled: unhandled.map(textOf),
      files: modules.map((module) => ({ path: module.relativeModuleId, seconds: secondsOf(module) })),
    };
    writeFileSync(process.env["CI_OUTCOME"]!, JSON.stringify(outcome));
  }
}

function endedIn(task: TestModule | TestSuite | TestCase): readonly Ended[] {
  const { relativeModuleId: file, moduleId } = task.type === "module" ? task : task.module;
  const id = task.type === "module" ? file : `${file} > ${task.fullName}`;
  const ended = (isTest: boolean, errors: readonly SerializedError[]) => ({
    id,
    file: moduleId,
    isTest,
    errors: errors.map(textOf),
  });
  if (task.type !== "test") return [ended(false, task.errors()), ...[...task.children].flatMap(endedIn)];
  const { state, errors = [] } = task.result();
  if (state === "skipped") return [];
  return [ended(true, state === "pending" ? [{ message: "the run ended before it" }] : errors)];
}

function textOf({ stack, message }: SerializedError): string {
  return stack || message;
}

function secondsOf(module: TestModule): number {
  const { collectDuration, duration } = module.diagnostic();
  return (collectDuration + duration) / 1_000;
}
