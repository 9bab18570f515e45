import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Phrases that a reader has to read twice, and what to write instead. */
const phrases: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\b(take|takes|taking|took|taken) back\b/i, "roll back, revert"],
  [/\banew\b/i, "recreate, rebuild"],
  [/\b(is|are|was|were|has|have|had) to be\b/i, "must, will, or the plain verb"],
  [/\b(stand|stands|stood|standing) in\b|\bin (the|its|their) way\b/i, "block, prevent; is in"],
  [/\bput (together|right)\b|\bput (that|it|them|this) right\b/i, "squash, combine; fix, repair"],
  [/\b(let|lets|letting) go\b/i, "delete, release"],
  [/\bmend(s|ed|ing)?\b/i, "fix, repair"],
  [/\bthat there are\b(?! no)|\bas (it stands|they stand)\b/i, "existing, current"],
  [/\bnobody (can|could|knows|knew)\b|\bno one (can|could|knows|knew)\b/i, "unknown, cannot be determined"],
  [/\bwho(m)?ever\b/i, "a runner that, another runner"],
  [/\b(go|goes|went|gone|going) on (with|from|where)\b|\bgoes on\b(?! (a|its|the)\b)/i, "resume, continue"],
  [/\bby then\b|\ball the same\b|\bso many\b/i, "at that point, anyway, at most N"],
  [/\bwithout a word\b/i, "silently"],
  [/\b(is|are|was|were|be|been) (said|told)\b(?! apart)|\bsays\b/i, "is reported; states, records"],
  [/\bhow-?manieth\b/i, "the position, the sequence number"],
  [/\bservice of three endpoints\b/i, "the `service` dialect"],
  [/\b(is|are) none (of|that)\b/i, "is not one of; did you mean"],
  [/[«»]/, '"…" or `code`'],
];

/** Lines that contain a phrase on purpose: a part of the line, and the reason. */
const exceptions: readonly (readonly [file: string, part: string, reason: string])[] = [
  ["docs/internals/simulator.md", "appends of others in the way", "is output of the simulator"],
  ["src/errors/files.ts", "says", "is a field of the error's details, which programs read"],
  ["src/features/shared/check-after.ts", "says", "the same field"],
  ["src/features/lint/finding-position.ts", "says", "the same field"],
  ["src/ledger/journal/marker-name.ts", "says why", "the hashes of later records may cover this text"],
];

function texts(): readonly string[] {
  const kept = ["src", "docs", "templates", "examples", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
  const names = execFileSync("git", ["ls-files", "--", ...kept], { cwd: root, encoding: "utf8" });
  return names.split("\n").filter((name) => /\.(ts|md|json)$/.test(name));
}

const lines = texts().flatMap((file) =>
  readFileSync(join(root, file), "utf8")
    .split("\n")
    .map((text, index) => ({ file, text, at: `${file}:${index + 1}` })),
);

test.each(phrases)("no text contains %s", (pattern, instead) => {
  const found = lines.filter(
    ({ file, text }) =>
      pattern.test(text) && !exceptions.some(([where, part]) => where === file && text.includes(part)),
  );
  expect(
    found.map(({ at, text }) => `${at}: ${text.trim()}`),
    `write instead: ${instead}`,
  ).toEqual([]);
});

test("there are at most 20 exceptions, and each is still needed", () => {
  expect(exceptions.length).toBeLessThanOrEqual(20);
  for (const [file, part] of exceptions)
    expect(
      lines.some(
        (line) => line.file === file && line.text.includes(part) && phrases.some(([one]) => one.test(line.text)),
      ),
      `${file}: ${part}`,
    ).toBe(true);
});

test("links between the texts lead to existing files and headings", () => {
  const pages = new Map(
    texts()
      .filter((file) => file.endsWith(".md"))
      .map((file) => [file, readFileSync(join(root, file), "utf8").replace(/```.*?```/gs, "")]),
  );
  const broken = [...pages].flatMap(([page, text]) =>
    [...text.matchAll(/\]\(([^)]+)\)/g)]
      .map(([, link = ""]) => link)
      .filter((link) => !/^https?:/.test(link) && !leads(page, link))
      .map((link) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);

  function leads(page: string, link: string): boolean {
    const [path = "", heading] = link.split("#", 2);
    const file = path === "" ? page : join(dirname(page), path);
    if (!existsSync(join(root, file))) return false;
    const found = pages.get(file);
    return heading === undefined || found === undefined || headings(found).includes(heading);
  }
});

/** The anchors of a page, as GitHub makes them. */
function headings(text: string): readonly string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}
