/** What is generated from the code is up to date in docs. The examples are made by the built command. */
import { expect, test } from "vitest";
import { referenceFiles } from "../../site/reference/files.ts";
import { settingTables } from "../../site/reference/settings.ts";
import { shownJson } from "../../site/reference/shown-json.ts";
import { sentence, table, withPart } from "../../site/reference/markdown.ts";
import { defaultSeconds } from "../../src/session/config.ts";

test("the generated parts of docs are what the code gives now", async () => {
  for (const [path, { is, must }] of await referenceFiles()) expect(is, `${path}: npm run reference`).toBe(must);
});

test("the defaults in the comments of settings are those of the code", () => {
  const settings = settingTables().get("the settings");
  for (const [name, type, value] of [
    ["migrations", "text", '"migrations"'],
    ["ledger", "text", '"_migrations"'],
    ["leaseSeconds", "number", defaultSeconds.lease],
    ["waitSeconds", "number", defaultSeconds.wait],
  ])
    expect(settings).toContain(`| \`${name}\` | ${type} | \`${value}\` |`);
});

test("a page keeps what is around its generated part", () => {
  const page = "before\n<!-- generated: x (npm run reference) -->\nold\n<!-- end of the generated part -->\nafter\n";
  const made = withPart(page, "x", "new");
  expect(made).toMatch(/^before\n<!-- .*-->\n\nnew\n\n<!-- .*-->\nafter\n$/);
  expect(withPart(made, "x", "new")).toBe(made);
  expect(() => withPart("no place", "x", "new")).toThrow("no place for x");
});

test("a cell of a table stays in its row", () => {
  expect(table(["a", "b"], [["one|two", "three\nfour"]])).toBe("| a | b |\n| --- | --- |\n| one\\|two | three four |");
});

test("a sentence begins with a capital letter and ends with a full stop", () => {
  expect(sentence("apply pending migrations")).toBe("Apply pending migrations.");
});

test("JSON has line breaks only where a part is too long for a line", () => {
  const value = { short: [1, { a: true }], long: ["x".repeat(60), "y".repeat(60)], none: {} };
  const text = shownJson(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text).toContain('"short": [1, { "a": true }],\n');
  expect(text.split("\n")).toHaveLength(8);
});
