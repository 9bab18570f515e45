/** Every figure of the documentation is that of the code or of a test, or its section states when it was measured and how. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scripts as named } from "../scripts.ts";
import { root } from "../support/project.ts";
import { pageNames } from "./blocks.ts";
import { figures, ofOthers } from "./figures.ts";

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: Record<string, string> };
const textOf = (page: string) => readFileSync(join(root, page), "utf8");

/** A time, a size, a share, or a number of thousands. */
const figure =
  /(?<![\w.,])(?:\d[\d,.]*(?: ?(?:ms|µs|s|seconds?|minutes?|hours?|days?|[kMGT]i?B|bytes|×)(?!\w)| ?%)|\d{1,3}(?:,\d{3})+)/g;

/** With the same places in it, and without what is code, an address, or generated from the source. What benchmarks print stays. */
function prose(page: string, text: string): string {
  const blank = (part: string) => part.replaceAll(/[^\n]/g, " ");
  const printed = page === "docs/internals/performance.md" ? /^ *```(?!text)\w*\n.*?^ *```$/gms : /^ *```.*?^ *```$/gms;
  return text
    .replaceAll(/<!-- generated: .*?<!-- end of the generated part -->/gs, blank)
    .replaceAll(/<!--.*?-->/gs, blank)
    .replaceAll(printed, blank)
    .replaceAll(/(?<!`)`[^`\n]+`(?!`)/g, blank)
    .replaceAll(/\]\([^)\n]*\)/g, blank);
}

/** Whether a section states a command that exists, and a date. */
function isDated(section: string): boolean {
  const commands = [
    ...section.matchAll(/npm run ([\w-]+)(?: ([\w-]+))?|(?:npx vitest run|node) (test\/[\w./-]+\.ts)/g),
  ];
  const exist = commands.every(([, script, name = "", file]) =>
    script === undefined
      ? existsSync(join(root, file!))
      : script in scripts && (!Object.hasOwn(named, script) || name in named[script]!),
  );
  return commands.length > 0 && exist && /\b20\d\d-\d\d-\d\d\b/.test(section);
}

test.each(Object.entries(figures))("the figures of %s are those of the code and the tests", (page, all) => {
  const text = textOf(page);
  expect(all.filter((words) => !text.includes(words))).toEqual([]);
});

test.each(pageNames())("every figure of %s is known from the code, or is dated", (page) => {
  const text = textOf(page);
  const known = [...(figures[page] ?? []), ...(ofOthers[page] ?? [])].map((words) => {
    const from = text.indexOf(words);
    expect(from, words).not.toBe(-1);
    return [from, from + words.length] as const;
  });
  const all = prose(page, text);
  const headings = [0, ...[...all.matchAll(/^#+ /gm)].map(({ index }) => index), text.length];
  const sectionAt = (place: number) => {
    const at = headings.findLastIndex((start) => start <= place);
    return text.slice(headings[at], headings[at + 1]);
  };
  const unknown = [...all.matchAll(figure)].filter(
    ({ index }) => !known.some(([from, to]) => from <= index && index < to) && !isDated(sectionAt(index)),
  );
  expect(unknown.map(({ index }) => text.slice(Math.max(0, index - 60), index + 40).replaceAll("\n", " "))).toEqual([]);
});

test("every decision has its date", () => {
  const [, , ...decisions] = textOf("docs/internals/decisions.md").trim().split("\n\n");
  expect(decisions.filter((one) => !/^\*\*20\d\d-\d\d-\d\d · /.test(one))).toEqual([]);
});
