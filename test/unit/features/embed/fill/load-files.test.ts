import { expect, test } from "vitest";
import { isLoadable, loadFiles } from "../../../../../src/features/embed/fill/load-files.ts";
import {
  float32,
  int32,
  list,
  struct,
  timestamp,
  utf8,
  vector,
} from "../../../../../src/schema/declare/type-builders.ts";
import { shellProgram } from "../../../../support/shell-program.ts";

async function load(does: string, mayWrite = async () => {}, signal?: AbortSignal) {
  const table = { uri: "t.lance" };
  const task = { table, results: [table], column: "v", mark: "m", key: "id", source: "''", plain: "" };
  return await loadFiles({ python: shellProgram(does), ...task }, mayWrite, signal);
}

test("rows and commits are counted, and lines of other programs are ignored", async () => {
  const lines = [
    "{'a': 1}",
    "5",
    "null",
    "a warning",
    '{"loaded": 3}',
    '{"loaded": 4}',
    '{"left": 0, "problem": null}',
  ];
  expect(await load(`cat <<'END'\n${lines.join("\n")}\nEND`)).toEqual({ rows: 7, commits: 2, problem: undefined });
});

test.each([
  ["exit 0", "it ended early"],
  [`echo '{"loaded": 3}'`, "it ended early"],
  ["exit 3", /^it ended with exit code 3$/],
  ["echo broken >&2; exit 3", "it ended with exit code 3: broken"],
  [`echo '{"missing": "it lacks a package: x"}'`, "it lacks a package: x"],
  [`echo '{"left": 1, "problem": "first line"}'`, "1 fragment of the table can't be loaded: first line"],
  [`echo '{"left": 2, "problem": "odd"}'`, "2 fragments of the table can't be loaded: odd"],
])("what was not loaded is reported: %s", async (does, problem) => {
  expect(await load(does)).toMatchObject({
    problem: typeof problem === "string" ? problem : expect.stringMatching(problem),
  });
});

test("with workers, the script for Ray runs, and what it prints for the user is passed on", async () => {
  const task = { results: [], column: "v", mark: "m", key: "id", source: "''", plain: "" };
  const python = shellProgram(`echo "{\\"printed\\": \\"$(basename "$1")\\"}"; echo '{"left": 0, "problem": null}'`);
  for (const [workers, script] of [
    [4, "load_on_ray.py"],
    [undefined, "load_column.py"],
  ] as const) {
    const printed: string[] = [];
    const watch = { printed: (line: string) => void printed.push(line) };
    const loading = loadFiles(
      { python, table: { uri: "t.lance" }, ...task, workers },
      async () => {},
      undefined,
      watch,
    );
    expect(await loading).toMatchObject({ problem: undefined });
    expect(printed).toEqual([script]);
  }
});

test("each commit is made only while the run may write", async () => {
  let asked = 0;
  const does = `echo '{"ask": "commit"}'; read -r answer; echo "{\\"left\\": 1, \\"problem\\": \\"$answer\\"}"`;
  expect(await load(does, async () => void asked++)).toMatchObject({ problem: expect.stringContaining("loaded: yes") });
  expect(asked).toBe(1);
  const refuse = async () => Promise.reject(new Error("the lease is lost"));
  await expect(load(`${does}; sleep 600`, refuse)).rejects.toThrow("the lease is lost");
});

test("an interruption ends it, whatever it does", async () => {
  const controller = new AbortController();
  const loading = load("exec sleep 600", undefined, controller.signal);
  setTimeout(() => controller.abort(), 200);
  await expect(loading).rejects.toThrow(/abort/i);
});

test.each([
  [vector(3), true],
  [float32(), true],
  [int32(), true],
  [utf8(), true],
  [list(int32()), false],
  [struct({ a: int32() }), false],
  [timestamp("us"), false],
])("%o is one column of a file: %s", ({ type }, is) => {
  expect(isLoadable({ name: "v", type, nullable: true })).toBe(is);
});
