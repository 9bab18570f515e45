import { describe, expect, test } from "vitest";
import { lockProblem, lockText, type LockEntry } from "../../../src/migrations/schema-lock.ts";
import type { Column } from "../../../src/schema/data-type.ts";

const id: Column = { name: "id", type: { kind: "int64" }, nullable: false };
const title: Column = {
  name: "title",
  type: { kind: "utf8" },
  nullable: true,
  metadata: { origin: "import", gone: null },
};
const entries: readonly LockEntry[] = [
  { version: 1, name: "create_documents", checksum: "0123456789abcdef0123456789abcdef" },
  { version: 2, name: "titles", checksum: undefined },
];
const table = {
  columns: [id, title],
  indexes: { id_idx: { path: "id", kind: "btree" as const, options: {} }, old_idx: null },
};
const right = lockText(entries, new Map([["documents", table]]));

describe("lock.json", () => {
  test("has a line for each migration and each column", () => {
    expect(right).toBe(`{
  "migrations": {
    "0001_create_documents": "0123456789abcdef",
    "0002_titles": null
  },
  "tables": {
    "documents": {
      "columns": {
        "id": "int64 not null",
        "title": "utf8"
      },
      "indexes": {
        "id_idx": "btree on id"
      },
      "metadata": {
        "title": {
          "origin": "import"
        }
      }
    }
  }
}
`);
  });

  test("keeps columns in their order, whatever they are called", () => {
    const columns = ["b", "1", "__proto__", 'q"'].map((name) => ({ ...id, name }));
    const text = lockText([], new Map([["t", { columns }]]));
    expect(text.match(/^ {8}".*(?=: )/gm)).toEqual([
      '        "b"',
      '        "1"',
      '        "__proto__"',
      '        "q\\""',
    ]);
    expect(lockProblem(text, text)).toBeUndefined();
  });

  test("is the same in other lines, with other line ends and after a byte order mark", () => {
    expect(lockProblem(`\uFEFF${right}`, right)).toBeUndefined();
    expect(lockProblem(right.replaceAll("\n", "\r\n"), right)).toBeUndefined();
    expect(lockProblem(JSON.stringify(JSON.parse(right)), right)).toBeUndefined();
  });

  test("does not depend on the order in which the parameters of an index are given", () => {
    const options = { distanceType: "l2", maxIterations: 50, sampleRate: 256, numSubVectors: 2, numBits: 8 };
    const textOf = (entries: readonly (readonly [string, string | number])[]) => {
      const index = { path: "v", kind: "ivfPq" as const, options: Object.fromEntries(entries) };
      return lockText([], new Map([["t", { columns: [id], indexes: { v_idx: index } }]]));
    };
    const text = textOf(Object.entries(options));
    expect(textOf(Object.entries(options).toReversed())).toBe(text);
    expect(text).toContain(
      '"ivfPq(distanceType: l2, numSubVectors: 2, numBits: 8, maxIterations: 50, sampleRate: 256) on v"',
    );
    const before = text.replace(
      /\(.*\)/,
      "(distanceType: l2, maxIterations: 50, sampleRate: 256, numSubVectors: 2, numBits: 8)",
    );
    expect(lockProblem(before, text)).toBeUndefined();
    expect(lockProblem(before.replace("numBits: 8", "numBits: 4"), text)).toBe(
      "describes other tables than the migrations lead to: t.v_idx",
    );
    expect(lockProblem(before.replace("on v", "on w"), text)).toBe(
      "describes other tables than the migrations lead to: t.v_idx",
    );
  });

  const other = (change: (entries: readonly LockEntry[]) => readonly LockEntry[], columns = table.columns) =>
    lockText(change(entries), new Map([["documents", { ...table, columns }]]));
  test.each([
    ["lacks 0002_titles", other((all) => all.slice(0, 1))],
    [
      "has other steps for 0002_titles (if a database has applied it, restore its file instead)",
      other(([first, second]) => [first!, { ...second!, checksum: "ff" }]),
    ],
    [
      "has 0003_x, of which there is no file (if a database has applied it, restore its file instead)",
      other((all) => [...all, { version: 3, name: "x", checksum: "ff" }]),
    ],
    ["describes other tables than the migrations lead to: documents.title", other((all) => all, [id])],
    [
      "describes other tables than the migrations lead to: documents",
      other((all) => all, [title, id]),
      lockText(entries, new Map()),
    ],
    ["is no JSON", right.slice(1)],
    ["lacks 0001_create_documents", "null", "[]", '{ "migrations": 3 }'],
    [
      "holds the conflict markers of git (if two branches took the same number, run migrate rebase first)",
      right.replace('    "0002', '<<<<<<< HEAD\n    "0002'),
    ],
  ])("%s", (problem, ...texts) => {
    for (const text of texts) expect(lockProblem(text, right)).toBe(problem);
  });
});
