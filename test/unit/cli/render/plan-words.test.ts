import { expect, test } from "vitest";
import { restoreText, rollbackText } from "../../../../src/cli/render/plan-words.ts";

/** The rollback of a migration with these parts, the first of which runs first: "restore TEXT", or another text. */
const shown = (...texts: readonly string[]) => {
  const parts = texts.map((text) => ({ text, restores: text.startsWith("restore") }));
  return rollbackText({ class: "restore", parts, reason: undefined, cost: undefined }, () => "");
};

const drops = ["drop e", "drop d", "drop c", "drop b", "drop a"];

test("a rollback that restores a table is named, however many others there are", () => {
  expect(shown(...drops.slice(1), "restore t")).toBe("drop d, then drop c, then 2 more, then restore t (restore)");
  expect(shown("restore t", ...drops.slice(1))).toBe("restore t, then drop d, then drop c, then 2 more (restore)");
  const tables = ["restore w", "restore v", "restore u", "restore t"];
  expect(shown(...drops.slice(1), ...tables)).toBe(
    "drop d, then 3 more, then restore w, then restore v, then restore u, then restore t (restore)",
  );
});

test("of many other rollbacks the first three are named, and never all but one", () => {
  expect(shown(...drops)).toBe("drop e, then drop d, then drop c, then 2 more (restore)");
  expect(shown(...drops.slice(1))).toBe("drop d, then drop c, then drop b, then drop a (restore)");
});

test("the reason for a restore is what the migration does, and not what the rollback does", () => {
  const text = "restore documents as it was before";
  const because = "rows of documents are deleted where id > 900";
  expect(restoreText(text, because)).toBe(`${text}, because in this migration ${because}`);
  expect(restoreText(text, undefined)).toBe(text);
});
