/** Bugs that are planted in copies of the source, to see whether a check finds them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./project.ts";

export interface PlantedBug {
  readonly name: string;
  /** More than one where several mechanisms prevent the same. */
  readonly changes: readonly PlantedChange[];
  /** The first case that shows it, or one before it. */
  readonly near: number;
}

export interface PlantedChange {
  /** Relative to src. */
  readonly file: string;
  /** Stands in the file once. */
  readonly right: string;
  readonly wrong: string;
}

/** The sources that the bug changes, by file. */
export function sourcesWith({ name, changes }: PlantedBug): ReadonlyMap<string, string> {
  const sources = new Map<string, string>();
  for (const { file, right, wrong } of changes) {
    const text = sources.get(file) ?? readFileSync(join(root, "src", file), "utf8");
    const times = text.split(right).length - 1;
    if (times !== 1) throw new Error(`"${name}" changes a text that src/${file} has ${times} times: ${right}`);
    sources.set(
      file,
      text.replace(right, () => wrong),
    );
  }
  return sources;
}
