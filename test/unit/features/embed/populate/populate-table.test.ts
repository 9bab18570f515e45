/** Rows that code computes from those of another table, on the embedded engine. */
import { expect, test } from "vitest";
import type { PopulateTableAction } from "../../../../../src/actions/model/action.ts";
import { NoAnswer } from "../../../../../src/features/embed/compute/compute-all.ts";
import { findSources, outdatedRows } from "../../../../../src/features/embed/populate/find-sources.ts";
import { populateTable, type PopulateContext } from "../../../../../src/features/embed/populate/populate-table.ts";
import type { RowValue, RowValues } from "../../../../../src/schema/row-values.ts";
import { open } from "../../../../../src/targets/lance/lance.ts";
import { systemClock } from "../../../../../src/time/clock.ts";
import { temporaryFolder } from "../../../../support/project.ts";
import { addRows, lancedb, rowsOf } from "../../../../support/tables.ts";

const int64 = { kind: "int64" } as const;
const utf8 = { kind: "utf8" } as const;
const documents = [
  { name: "id", type: int64, nullable: true },
  { name: "text", type: utf8, nullable: true },
];
const words = [
  { name: "document", type: int64, nullable: true },
  { name: "word", type: utf8, nullable: true },
  { name: "made_from", type: utf8, nullable: true },
];
const step: PopulateTableAction = {
  kind: "populateTable",
  table: "words",
  from: "documents",
  columns: ["text"],
  key: "id",
  source: "document",
  mark: "made_from",
  with: "./words.ts",
  version: "1",
};

type Row = RowValues & { readonly id: number; readonly text: string | null };

const split = (rows: readonly RowValues[]): readonly unknown[] =>
  (rows as readonly Row[]).map(({ text }) => (text ?? "").split(" ").flatMap((word) => (word === "" ? [] : { word })));

/** `gap`: between the keys of two documents. */
async function aScene(texts: readonly (string | null)[], gap = 1) {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const rows = target.rows!;
  await rows.append("documents", { columns: documents, rows: texts.map((text, at) => ({ id: at * gap, text })) });
  await rows.append("words", { columns: words, rows: [{ document: null, word: "own", made_from: null }] });
  const database = await lancedb.connect(folder);
  const calls: string[] = [];
  return {
    rows,
    calls,
    documents: await database.openTable("documents"),
    words: await database.openTable("words"),
    add: async (table: string, ...added: readonly RowValues[]) => await addRows(folder, table, added as never),
    /** Runs the step, and returns what it made and stated. */
    async run(change: Partial<PopulateTableAction> = {}, compute = split, more: Partial<PopulateContext> = {}) {
      const before = (await rows.version("words"))!;
      const context: PopulateContext = {
        rows,
        clock: systemClock,
        start: async () => async (given) => {
          calls.push(...given.map(({ id }) => String(id)));
          return compute(given);
        },
        codeHash: "c0de",
        mayWrite: async () => {},
        count: async () => await target.countRows!("documents"),
        progress: () => {},
        ...more,
      };
      const { problem, merges } = await populateTable({ ...step, ...change }, context);
      expect(merges).toBe((await rows.version("words"))! - before);
      return problem;
    },
    async words_() {
      const found = (await rowsOf(folder, "words")) as readonly { document: RowValue; word: string }[];
      return found.map(({ document, word }) => `${String(document)} ${word}`).toSorted();
    },
    async marks() {
      return (await rowsOf(folder, "words")).map((row) => row["made_from"] as string | null);
    },
  };
}

test("it computes rows once, and leaves those without a source", async () => {
  const { run, calls, words_, marks } = await aScene(["a b", null, "c"]);
  expect(await run()).toBeUndefined();
  expect(await words_()).toEqual(["0 a", "0 b", "2 c", "null own"]);
  expect(await marks()).toEqual(expect.arrayContaining([null, expect.stringMatching(/^[0-9a-f]{32}#2\.\w+@c0de$/)]));
  expect(calls.toSorted()).toEqual(["0", "1", "2"]);
  expect(await run()).toBeUndefined();
  // A source without rows leaves no mark.
  expect(calls.toSorted()).toEqual(["0", "1", "1", "2"]);
});

test("texts that changed places have their own rows", async () => {
  const { run, documents: table, words_ } = await aScene(["a", "b"]);
  await run();
  await table.update({ where: "id = 0", values: { text: "b" } });
  await table.update({ where: "id = 1", values: { text: "a" } });
  await run();
  expect(await words_()).toEqual(["0 b", "1 a", "null own"]);
});

test("sources that change while others are computed are computed again", async () => {
  const { run, add, documents: table, calls, words_ } = await aScene(["a", "b", "c"]);
  let isFirst = true;
  const meanwhile: Partial<PopulateContext> = {
    // Before the first append.
    mayWrite: async () => {
      if (!isFirst) return;
      isFirst = false;
      await table.update({ where: "id = 0", values: { text: "changed" } });
      await table.delete("id = 1");
      await add("documents", { id: 7, text: "new" });
    },
  };
  expect(await run({}, split, meanwhile)).toBeUndefined();
  expect(await words_()).toEqual(["0 changed", "2 c", "7 new", "null own"]);
  expect(calls.toSorted()).toEqual(["0", "0", "1", "2", "7"]);
});

test("it ends although others keep changing the sources", async () => {
  const { run, documents: table } = await aScene(["a"]);
  let times = 0;
  const changing = { mayWrite: async () => void (await table.update({ values: { text: `changed ${times++}` } })) };
  expect(await run({}, split, changing)).toEqual({ rows: 0, text: "others kept changing what they are computed from" });
});

test("rows that were appended twice are deleted, and those of a source that lacks some are computed again", async () => {
  const { run, add, rows, words: table, calls, words_ } = await aScene(["a b", "c d", "e f"]);
  await run();
  const all = await words_();
  const found = (await rows.read("words", {
    select: words.map(({ name }) => [name, name] as const),
    where: "document is not null",
  })) as readonly { document: number; made_from: string }[];
  // A late append has another mark; one that a service has made twice, the same.
  const late = found.filter(({ document }) => document === 0);
  await add("words", ...late.map((row) => ({ ...row, made_from: row.made_from.replace(/\.\w+@/, ".late@") })));
  await add("words", ...found.filter(({ document }) => document === 1));
  await table.checkoutLatest();
  await table.delete("word = 'e'");
  calls.length = 0;
  expect(await run()).toBeUndefined();
  expect(await words_()).toEqual(all);
  expect(calls.toSorted()).toEqual(["1", "2"]);
});

test("rows with a source and without a mark are replaced, and those of sources that are gone or left out are deleted", async () => {
  const { run, add, words_ } = await aScene(["a", "b"]);
  await add("words", { document: 0, word: "by hand", made_from: null }, { document: 5, word: "gone", made_from: null });
  await run();
  expect(await words_()).toEqual(["0 a", "1 b", "null own"]);
  await run({ where: "id > 0" });
  expect(await words_()).toEqual(["1 b", "null own"]);
});

test("rows are appended before the former ones are deleted", async () => {
  const { run, words: table, words_ } = await aScene(["a b"]);
  await run();
  const seen: number[] = [];
  const looking = { mayWrite: async () => void (await table.checkoutLatest(), seen.push(await table.countRows())) };
  await run(
    { version: "2" },
    (rows) => split(rows).map((own) => [...(own as readonly object[]), { word: "z" }]),
    looking,
  );
  // Before the append, and before the deletion.
  expect(seen).toEqual([3, 6]);
  expect(await words_()).toEqual(["0 a", "0 b", "0 z", "null own"]);
});

const failing = (rows: readonly RowValues[]) => {
  if ((rows as readonly Row[]).some(({ text }) => text === "bad")) throw new Error("no");
  return split(rows);
};

test("a source that fails stops the run, and what was computed before is kept", async () => {
  const { run, calls, words_ } = await aScene(["a", "bad", "c"]);
  await expect(run({ batch: 1, concurrency: 1 }, failing)).rejects.toThrow("./words.ts, for the row whose id is 1: no");
  expect(await words_()).toEqual(["0 a", "null own"]);
  await run();
  expect(await words_()).toEqual(["0 a", "1 bad", "2 c", "null own"]);
  expect(calls).toEqual(["0", "1", "1", "2"]);
});

test("a source that fails keeps the rows that it has, and is tried once", async () => {
  const { run, documents: table, calls, words_ } = await aScene(["a", "b"]);
  await run();
  await table.update({ where: "id = 0", values: { text: "bad" } });
  calls.length = 0;
  expect(await run({ failedRows: "leave" }, failing)).toEqual({ rows: 1, text: "no" });
  expect(await words_()).toEqual(["0 a", "1 b", "null own"]);
  expect(calls).toEqual(["0"]);
});

test.each<[answer: unknown, problem: string]>([
  ["text", "the value must be a list, as it is list<struct<word: utf8> not null>"],
  [[{ wort: "a" }], "the value[0] has no field wort"],
  [[{ word: 7 }], "the value[0].word must be text, as it is utf8"],
  [[{ document: 1, word: "a" }], "the value[0] has no field document"],
  [["a"], "the value[0] must be an object, as it is struct<word: utf8>"],
  [[null], "the value[0] must have a value, as it is not null"],
  [undefined, "it returned undefined for a row"],
])("an answer of %j is refused: %s", async (answer, problem) => {
  const { run, words_ } = await aScene(["a"]);
  await expect(run({}, () => [answer])).rejects.toThrow(`./words.ts, for the row whose id is 0: ${problem}`);
  expect(await words_()).toEqual(["null own"]);
});

test("code that gives no answer ends the run", async () => {
  const { run } = await aScene(["a"]);
  const silent = () => {
    throw new NoAnswer("the run was interrupted");
  };
  await expect(run({}, silent)).rejects.toThrow("./words.ts: the run was interrupted");
});

test.each([null, 0])("a key that is %s in a row more is refused", async (id) => {
  const { run, add } = await aScene(["a"]);
  await run();
  await add("documents", { id, text: "b" });
  await expect(run()).rejects.toThrow(/documents.id is (null in a row|0 in 2 rows or more), so it can't identify rows/);
});

test("another version replaces the rows of all sources, by their addresses where these are in few ranges", async () => {
  const { run, words_ } = await aScene(Array.from({ length: 50 }, (_, id) => `a${id} b`));
  await run();
  const all = await words_();
  const upper = (rows: readonly RowValues[]) => (rows as readonly Row[]).map(({ text }) => [{ word: `v2 ${text}` }]);
  await run({ version: "2" }, upper);
  expect(await words_()).toHaveLength(51);
  await run();
  expect(await words_()).toEqual(all);
});

test("rows are found by their addresses if these are in few ranges, and otherwise by their marks", () => {
  const same = (mark: string, first: number, last: number, rows = last - first + 1) => ({ mark, rows, first, last });
  const of = (...outdated: readonly ReturnType<typeof same>[]) =>
    outdatedRows(
      outdated.map((one, key) => ({ key, outdated: [one] })),
      step,
      int64,
    );
  const five = ["a", "b", "c", "d", "e"].map((mark, at) => same(mark, 2 * at, 2 * at + 1));
  expect(of(...five.toReversed())).toEqual(["(_rowaddr >= 0 and _rowaddr <= 9)"]);
  const byMark = (...marks: readonly string[]) => [
    `\`document\` is not null and \`made_from\` in (${marks.map((mark) => `'${mark}'`).join(", ")})`,
  ];
  expect(of(...five.slice(1))).toEqual(byMark("b", "c", "d", "e"));
  // A row of another source is between them, or there are no addresses.
  expect(of(...five.slice(1), same("f", 20, 23, 3))).toEqual(byMark("b", "c", "d", "e", "f"));
  expect(of(...five.map(({ mark }) => same(mark, Number.NaN, Number.NaN, 2)))).toEqual(byMark("a", "b", "c", "d", "e"));
});

test.each([true, false])(
  "a table that is larger than what is in memory is compared in parts, by blocks: %s",
  async (byBlocks) => {
    const gap = byBlocks ? 10_000 : 1;
    const {
      run,
      rows,
      documents: table,
      add,
    } = await aScene(
      Array.from({ length: 50 }, (_, id) => `a${id}`),
      gap,
    );
    await run();
    await table.update({ where: `id in (${3 * gap}, ${30 * gap})`, values: { text: "changed" } });
    await table.delete(`id = ${7 * gap}`);
    await add("documents", { id: 99 * gap, text: "new" });
    const found: string[] = [];
    const context = { action: step, rows, hasAddresses: true, isEmpty: false, byBlocks };
    for (const sources of [undefined, 50])
      for await (const { key, lacks, outdated } of findSources({ ...context, sources }, 4))
        found.push(`${Number(key) / gap} ${lacks === undefined ? "has" : "lacks"} ${outdated.length}`);
    const once = ["3 lacks 1", "30 lacks 1", "7 has 1", "99 lacks 0"];
    expect(found.toSorted()).toEqual([...once, ...once].toSorted());
  },
);
