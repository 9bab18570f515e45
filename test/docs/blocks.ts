/** The code in the pages of the documentation. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../support/project.ts";

export interface Block {
  readonly page: string;
  readonly line: number;
  /** `docs/plans.md#saving-a-plan`: the page and the nearest heading above; without one, the page alone. */
  readonly section: string;
  /** What the fence names; empty without. */
  readonly language: string;
  readonly text: string;
  /** The path in its first line, such as `// migrations/0002_headlines.ts`. */
  readonly file: string | undefined;
  /** The reason in the comment before it, `<!-- not run: … -->`. */
  readonly notRun: string | undefined;
}

export const at = ({ page, line }: Block): string => `${page}:${line}`;

/** The pages that users read. */
export function pageNames(): readonly string[] {
  const names = execFileSync("git", ["ls-files", "--", "README.md", "docs"], { cwd: root, encoding: "utf8" });
  return names.split("\n").filter((name) => name.endsWith(".md") && name !== "docs/internals/decisions.md");
}

export const allBlocks = (): readonly Block[] =>
  pageNames().flatMap((page) => blocksOf(page, readFileSync(join(root, page), "utf8")));

const fence = /^( *)```(\w*)\n(.*?)^ *```$/gms;
const marker = /<!-- not run: ([^>]+) -->\s*$/;
const fileName = /^(?:\/\/|#) (\S+\.(?:m?[jt]s|json|py))(?: .*)?\n/;

export function blocksOf(page: string, text: string): readonly Block[] {
  return [...text.matchAll(fence)].map(({ index, 1: indent = "", 2: language = "", 3: code = "" }) => {
    const before = text.slice(0, index);
    // The title of the page is no section of its own.
    const heading = [...before.replaceAll(fence, "").matchAll(/^##+ (.*)$/gm)].at(-1)?.[1];
    return {
      page,
      line: before.split("\n").length,
      section: heading === undefined ? page : `${page}#${slug(heading)}`,
      language,
      text: code.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
      file: fileName.exec(code)?.[1],
      notRun: marker.exec(before)?.[1],
    };
  });
}

const slug = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
