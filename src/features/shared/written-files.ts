/** Renders steps, and the files that they were written to, as text. */
import { relative } from "node:path";
import { describeAction } from "../../actions/apply-action.ts";
import { compileStep, type Step } from "../../steps/registry.ts";
import type { Output } from "../../cli/command/output.ts";

export function describeSteps(steps: readonly Step[]): readonly string[] {
  return steps.flatMap(compileStep).map(describeAction);
}

/** The path as a user in the current folder would type it: far from there, the whole path is shorter. */
export function shownPath(path: string): string {
  const shown = relative(process.cwd(), path);
  return shown.length > path.length ? path : shown;
}

/** What a command has brought up to date with the migrations: `lock.json`, and the files of `migrate types`. */
export function renderUpdated(
  output: Output,
  { lock, types }: { readonly lock: string | undefined; readonly types: readonly string[] },
): void {
  renderWritten(output, [lock ?? [], types].flat());
}

export function renderWritten(output: Output, files: readonly string[]): void {
  for (const file of files) output.result(`wrote ${shownPath(file)}`);
}
