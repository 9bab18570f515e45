/** docs/errors.md describes every error code, and a test provokes it. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalogue } from "../../../src/errors/catalogue.ts";
import type { ErrorCode } from "../../../src/errors/migrate-error.ts";
import { root } from "../../support/project.ts";

const codes = Object.keys(catalogue) as readonly ErrorCode[];
const page = readFileSync(join(root, "docs/errors.md"), "utf8");
const entries = page.split(/^##+ /m).filter((part) => part.startsWith("ERR_"));
const documented = new Map(entries.map((entry) => [entry.split("\n", 1)[0], entry.trim().split("\n\n").slice(1)]));

test("docs/errors.md has one entry for every code, and no other", () => {
  expect(entries.map((entry) => entry.split("\n", 1)[0]).toSorted()).toEqual(codes.toSorted());
});

test.each(codes.filter((code) => code !== "ERR_REQUEST"))(
  "the entry of %s states what has happened and what to do",
  (code) => {
    const [happened, remedy, ...more] = documented.get(code) ?? [];
    expect(happened).toMatch(/\.$/);
    expect(remedy).toMatch(/\.$/);
    expect(more).toEqual([]);
  },
);

test("every code is named by a test that provokes it", () => {
  const files = globSync("test/**/*.ts", { cwd: root }).filter((file) => !file.startsWith(join("test/unit/errors/")));
  const named = new Set(files.flatMap((file) => readFileSync(join(root, file), "utf8").match(/\bERR_[A-Z_]+/g) ?? []));
  expect(codes.filter((code) => !named.has(code))).toEqual([]);
});
