/** What every target has to do that has a call for every kind of action. */
import { describe, expect, test } from "vitest";
import { planCommits } from "../../src/plan/commits/commits.ts";
import type { Action } from "../../src/actions/model/action.ts";
import { tablesAfter } from "../../src/actions/apply-action.ts";
import type { DataType } from "../../src/schema/data-type.ts";
import { btree, fm, fts, ivfFlat } from "../../src/schema/declare/index-builders.ts";
import {
  bool,
  columnsOf,
  date32,
  float64,
  int32,
  int64,
  list,
  struct,
  timestamp,
  utf8,
  vector,
} from "../../src/schema/declare/type-builders.ts";
import { change, sameTable, sameTables, type Table } from "../../src/schema/table.ts";
import type { IndexType } from "../../src/schema/table-index.ts";
import type { TableSnapshot } from "../../src/targets/contract/target.ts";
import { columnsOfEveryType, type Pair } from "./suite.ts";

export interface WholePair extends Pair {
  /** A table as it is, with its indexes. */
  readonly whole: (table: string) => Promise<TableSnapshot | undefined>;
  /** Its rows, as the engine itself reads them; big integers as numbers. */
  readonly rows: (table: string) => Promise<readonly Record<string, unknown>[]>;
}

const columns = columnsOf({
  id: int64().notNull(),
  title: utf8(),
  price: int32(),
  s: struct({ x: int32(), y: utf8() }),
  tags: list(utf8()),
  v: vector(2),
});
const rows = [
  { id: 1, title: "one", price: 10, s: { x: 1, y: "a" }, tags: ["p", null], v: [1, 0.5] },
  { id: 2, title: null, price: null, s: null, tags: null, v: null },
  { id: 3, title: "three", price: 30, s: { x: null, y: "c" }, tags: [], v: [3, 3.5] },
];
const documents: Action = { kind: "createTable", table: "t", columns, rows };

const index = (name: string, path: string, type: IndexType): Action => ({
  kind: "createIndex",
  table: "t",
  name,
  index: { path, ...type },
});
const metadata = (path: string, keys: Readonly<Record<string, string | null>>): Action => ({
  kind: "setMetadata",
  table: "t",
  updates: [{ path, metadata: keys }],
});
const add = (name: string, type: DataType, as?: string): Action => ({
  kind: "addColumns",
  table: "t",
  columns: [{ name, type, nullable: true, as }],
});
const drop = (...paths: readonly string[]): Action => ({ kind: "dropColumns", table: "t", paths });

type Rows = readonly Record<string, unknown>[];
const changed = (change: (row: (typeof rows)[number]) => object): Rows =>
  rows.map((row) => ({ ...row, ...change(row) }));
const without = (...names: readonly string[]): Rows =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name))));

/** Each after some others on a fresh table; with the rows that are there afterwards. */
const actions: readonly (readonly [string, readonly Action[], Action, Rows])[] = [
  ["a column of nulls", [], add("n", { kind: "int32" }), changed(() => ({ n: null }))],
  ["a constant", [], add("n", { kind: "int32" }, "7"), changed(() => ({ n: 7 }))],
  [
    "a column from others",
    [],
    add("n", { kind: "int64" }, "price + id"),
    changed(({ id, price }) => ({ n: price && price + id })),
  ],
  ["a dropped column", [], drop("title"), without("title")],
  ["two dropped columns", [], drop("title", "s"), without("title", "s")],
  ["a dropped field", [], drop("s.x"), changed(({ s }) => ({ s: s && { y: s.y } }))],
  ["an index on numbers", [], index("i", "id", btree()), rows],
  ["an index on a field", [], index("i", "s.x", btree()), rows],
  ["an index on text", [], index("i", "title", fts({ withPosition: true })), rows],
  ["an index on vectors", [], index("i", "v", ivfFlat({ distanceType: "cosine", numPartitions: 1 })), rows],
  ["a second index", [index("i", "id", btree())], index("j", "price", btree()), rows],
  [
    "an index of another kind in place of one",
    [index("i", "title", btree())],
    { ...index("i", "title", fts()), replace: true } as Action,
    rows,
  ],
  ["an index that is dropped", [index("i", "id", btree())], { kind: "dropIndex", table: "t", name: "i" }, rows],
  ["a dropped column with an index", [index("i", "price", btree())], drop("price"), without("price")],
  ["metadata", [], metadata("title", { unit: "EUR", "a b": 'it\'s "quoted"' }), rows],
  ["metadata of a field", [], metadata("s.x", { unit: "EUR" }), rows],
  ["more metadata", [metadata("title", { unit: "EUR" })], metadata("title", { model: "e5" }), rows],
  ["less metadata", [metadata("title", { unit: "EUR", model: "e5" })], metadata("title", { unit: null }), rows],
  [
    "rows that are not there",
    [],
    {
      kind: "insertRows",
      table: "t",
      key: "id",
      rows: [
        { id: 1, title: "mine" },
        { id: "4", tags: ["q"] },
      ],
    },
    [...rows, { id: 4, title: null, price: null, s: null, tags: ["q"], v: null }],
  ],
  [
    "rows whose key has an index that answers no such question",
    [index("i", "title", fm())],
    {
      kind: "insertRows",
      table: "t",
      key: "title",
      rows: [
        { id: 4, title: "one" },
        { id: 5, title: "five" },
      ],
    },
    [...rows, { id: 5, title: "five", price: null, s: null, tags: null, v: null }],
  ],
  [
    "an update",
    [],
    { kind: "updateRows", table: "t", set: { title: "'new'", price: "id * 2" } },
    changed(({ id }) => ({ title: "new", price: id * 2 })),
  ],
  [
    "an update of some rows",
    [],
    { kind: "updateRows", table: "t", set: { "`title`": "'new'" }, where: "price is null" },
    changed(({ price, title }) => ({ title: price === null ? "new" : title })),
  ],
  ["a delete", [], { kind: "deleteRows", table: "t", where: "id > 1" }, rows.slice(0, 1)],
];

/** What each target refuses, and nothing of it happens. */
const refusals: readonly (readonly [string, Action])[] = [
  ["a second column of one name", add("title", { kind: "int32" })],
  ["an expression over a missing column", add("n", { kind: "int32" }, "nope + 1")],
  ["an expression that fits no type", add("n", { kind: "int32" }, "title")],
  ["a missing column", drop("nope")],
  ["one column of two that is missing", drop("title", "nope")],
  ["the last columns", drop(...columns.map(({ name }) => name))],
  ["an index on a missing column", index("i", "nope", btree())],
  ["an index that is not for the type", index("i", "tags", btree())],
  ["an index that is not there", { kind: "dropIndex", table: "t", name: "nope" }],
  ["metadata of a missing column", metadata("nope", { a: "b" })],
  ["an update of a missing column", { kind: "updateRows", table: "t", set: { nope: "1" } }],
  ["an update with a null where there may be none", { kind: "updateRows", table: "t", set: { id: "null" } }],
  ["a predicate that can't be read", { kind: "deleteRows", table: "t", where: "id >" }],
];

/** In several commits, as a run carries them out. */
const series: readonly (readonly [string, readonly Action[], Action, Rows])[] = [
  [
    "a retype of a column with an index and metadata",
    [index("i", "price", btree()), metadata("price", { unit: "EUR" })],
    { kind: "alterColumns", table: "t", alterations: [{ path: "price", type: { kind: "int64" }, rename: "amount" }] },
    without("price").map((row, at) => ({ ...row, amount: rows[at]!.price })),
  ],
  [
    "a column that is recreated",
    [index("i", "title", btree()), metadata("title", { unit: "EUR" })],
    { kind: "convertColumn", table: "t", path: "title", type: { kind: "int32" }, using: "length(title)" },
    changed(({ title }) => ({ title: title && title.length })),
  ],
  [
    "a struct that is recreated without one of its fields",
    [metadata("s.x", { unit: "EUR" }), metadata("s.y", { model: "e5" })],
    {
      kind: "convertColumn",
      table: "t",
      path: "s",
      type: struct({ y: utf8() }).type,
      using: "case when s is not null then named_struct('y', s.y) end",
    },
    changed(({ s }) => ({ s: s && { y: s.y } })),
  ],
  [
    "a not-null column that is recreated",
    [],
    { kind: "convertColumn", table: "t", path: "id", type: { kind: "utf8" }, using: "cast(id as string)" },
    changed(({ id }) => ({ id: `${id}` })),
  ],
  [
    "a column that is not null",
    [],
    {
      kind: "addColumns",
      table: "t",
      columns: [{ name: "n", type: { kind: "int32" }, nullable: false, as: "id + 1" }],
    },
    changed(({ id }) => ({ n: id + 1 })),
  ],
];

const sorted = (found: Rows) => found.toSorted((one, other) => Number(one["id"]) - Number(other["id"]));

export function describeActions(name: string, open: () => Promise<WholePair>): void {
  describe(name, () => {
    const act = async ({ one }: WholePair, action: Action) =>
      await one.execute(action, await one.describeTable(action.table));

    /** A fresh table after some actions, and what the fold makes of it. */
    const prepare = async (pair: WholePair, before: readonly Action[]): Promise<Table> => {
      const database = new Map<string, Table>();
      for (const action of [documents, ...before]) {
        await act(pair, action);
        change(database, tablesAfter(database, action));
      }
      return database.get("t")!;
    };

    const expectTable = (expected: Table | undefined, found: TableSnapshot | undefined) => {
      expect(sameTable(expected, found?.table), JSON.stringify({ expected, found }, undefined, 1)).toBe(true);
      const names = Object.entries(expected?.indexes ?? {}).flatMap(([one, known]) => (known === null ? [] : [one]));
      expect(Object.keys(found?.table.indexes ?? {}).toSorted()).toEqual(names.toSorted());
    };

    test.each(actions)("%s: the table is as the fold says, in one version", async (_, before, action, expected) => {
      const pair = await open();
      const table = await prepare(pair, before);
      const was = await pair.whole("t");
      await act(pair, action);
      const found = await pair.whole("t");
      expectTable(tablesAfter(new Map([["t", table]]), action).get("t"), found);
      expect(found?.version).toBe(was!.version! + 1);
      expect(sorted(await pair.rows("t"))).toEqual(expected);
    });

    test.each(refusals)("%s is refused and changes nothing", async (_, action) => {
      const pair = await open();
      await prepare(pair, []);
      const was = await pair.whole("t");
      const error = await act(pair, action).catch((thrown: unknown) => thrown);
      expect(pair.one.verdict(error)).toMatchObject({ kind: "refused" });
      expect(pair.one.explain(error)).toMatch(/^[^\n]+$/);
      expect(await pair.whole("t")).toEqual(was);
      expect(sorted(await pair.rows("t"))).toEqual(rows);
    });

    test.each(series)("%s: around every commit the table is as the plan says", async (_, before, action, expected) => {
      const pair = await open();
      const table = await prepare(pair, before);
      const commits = planCommits(action, new Map([["t", table]]), pair.one.capabilities);
      expect(commits.length).toBeGreaterThan(1);
      for (const { action: one, before: expected, after } of commits) {
        const tables = async () => new Map([["t", (await pair.whole("t"))?.table]]);
        expect([one, sameTables(expected, await tables())]).toEqual([one, true]);
        await act(pair, one);
        expect([one, sameTables(after, await tables())]).toEqual([one, true]);
      }
      expectTable(tablesAfter(new Map([["t", table]]), action).get("t"), await pair.whole("t"));
      expect(sorted(await pair.rows("t"))).toEqual(expected);
    });

    test("an index tells its parameters as they were given, so that it can be made again", async () => {
      const pair = await open();
      await prepare(pair, []);
      const given = fts({
        withPosition: true,
        baseTokenizer: "ngram",
        language: "German",
        maxTokenLength: 20,
        lowercase: false,
        stem: false,
        removeStopWords: true,
        customStopWords: ["one", "und so"],
        asciiFolding: false,
        ngramMinLength: 2,
        ngramMaxLength: 4,
        prefixOnly: true,
        blockSize: 256,
      });
      await act(pair, index("i", "title", given));
      expect((await pair.whole("t"))?.table.indexes).toEqual({ i: { path: "title", ...given } });
    });

    test("columns of nulls have exactly their types, whichever they are", async () => {
      const pair = await open();
      await prepare(pair, []);
      await act(pair, { kind: "addColumns", table: "t", columns: columnsOfEveryType });
      expect((await pair.whole("t"))?.table.columns).toEqual([...columns, ...columnsOfEveryType]);
    });

    test("rows that are inserted once more change nothing", async () => {
      const pair = await open();
      const insert: Action = { kind: "insertRows", table: "t", key: "title", rows: [{ id: 4, title: "four" }] };
      await prepare(pair, [insert, { kind: "updateRows", table: "t", set: { price: "1" }, where: "id = 4" }, insert]);
      const found = (await pair.rows("t")).filter(({ id }) => id === 4);
      expect(found).toEqual([{ id: 4, title: "four", price: 1, s: null, tags: null, v: null }]);
    });

    test("a table that is made with rows has them, by value", async () => {
      const pair = await open();
      const made = { b: bool(), d: date32(), f: float64(), w: timestamp("ms"), big: int64() };
      const given = [
        { b: true, d: "2026-11-20", f: 0.1, w: "2026-11-20T12:34:56.789Z", big: "4503599627370497" },
        { b: null, d: null, f: null, w: null, big: null },
      ];
      await act(pair, { kind: "createTable", table: "t", columns: columnsOf(made), rows: given });
      const time = Date.UTC(2026, 10, 20);
      const [one, other] = await pair.rows("t");
      expect(one).toEqual({ b: true, d: time, f: 0.1, w: 1_795_178_096_789, big: 4_503_599_627_370_497 });
      expect(other).toEqual(given[1]);
      expect((await pair.whole("t"))?.version).toBe(1);
    });

    test("a dropped table is gone, and another can have its name", async () => {
      const pair = await open();
      await prepare(pair, []);
      await act(pair, { kind: "dropTable", table: "t" });
      expect(await pair.whole("t")).toBeUndefined();
      expect(await pair.other.listTables()).toEqual([]);
      await act(pair, { kind: "createTable", table: "t", columns: columnsOf({ a: bool() }) });
      expect((await pair.whole("t"))?.table.columns).toEqual(columnsOf({ a: bool() }));
    });
  });
}
