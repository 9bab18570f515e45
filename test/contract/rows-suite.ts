/** What every target has to do that reads and writes rows for code of the project. */
import { describe, expect, test } from "vitest";
import type { Column } from "../../src/schema/data-type.ts";
import { btree } from "../../src/schema/declare/index-builders.ts";
import {
  bool,
  columnsOf,
  date32,
  float32,
  float64,
  int64,
  list,
  struct,
  timestamp,
  utf8,
  vector,
} from "../../src/schema/declare/type-builders.ts";
import type { RowValues } from "../../src/schema/row-values.ts";
import type { RowAccess } from "../../src/targets/contract/row-access.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import type { OpenPair } from "./suite.ts";

const columns = columnsOf({ id: int64(), text: utf8(), mark: utf8(), v: vector(2) });
const rows: readonly RowValues[] = [
  { id: 1, text: "one", mark: null, v: [1, 0.5] },
  { id: 2, text: null, mark: "m", v: null },
  { id: 3, text: "three", mark: null, v: null },
];
const all = columns.map(({ name }) => [name, name] as const);

const some = (names: readonly string[]): readonly Column[] => columns.filter(({ name }) => names.includes(name));

function rowsOf(target: Target): RowAccess {
  const { rows: access } = target;
  if (access === undefined) throw new Error("the target has no rows");
  return access;
}

async function read(target: Target, select = all): Promise<readonly RowValues[]> {
  const found = await rowsOf(target).read("t", { select });
  return plain(found.toSorted((one, other) => Number(one["id"]) - Number(other["id"])));
}

/** Vectors may be typed arrays. */
function plain(values: readonly RowValues[]): readonly RowValues[] {
  return JSON.parse(
    JSON.stringify(values, (_, value: unknown) => (ArrayBuffer.isView(value) ? [...(value as Float32Array)] : value)),
  ) as readonly RowValues[];
}

export function describeRows(name: string, open: OpenPair): void {
  const withRows = async () => {
    const pair = await open();
    await rowsOf(pair.one).append("t", { columns, rows });
    return pair;
  };

  describe(name, () => {
    test("of a table that is not there, no columns and no rows are read, and it is dropped without a trace", async () => {
      const { one } = await open();
      const access = rowsOf(one);
      expect(await access.columns("t")).toBeUndefined();
      expect(await access.read("t", { select: all, where: "id > 0", limit: 1 })).toEqual([]);
      await access.drop("t");
      expect(await one.listTables()).toEqual([]);
    });

    test("rows are appended to a new table and to one that is there, and others read them at once", async () => {
      const { one, other } = await withRows();
      expect(await rowsOf(other).columns("t")).toEqual(columns);
      expect(await read(other)).toEqual(rows);
      const more = { id: 4, text: "", mark: "n", v: [0, -1] };
      await rowsOf(other).append("t", { columns, rows: [more] });
      expect(await read(one)).toEqual([...rows, more]);
    });

    test("a table that was dropped is created again with other columns", async () => {
      const { one, other } = await withRows();
      await rowsOf(one).drop("t");
      expect(await one.listTables()).toEqual([]);
      await rowsOf(other).append("t", { columns: some(["id"]), rows: [{ id: 7 }] });
      expect(await rowsOf(one).columns("t")).toEqual(some(["id"]));
      expect(await read(one, [["id", "id"]])).toEqual([{ id: 7 }]);
    });

    test("expressions, a predicate and a limit say what is read", async () => {
      const { other } = await withRows();
      const access = rowsOf(other);
      const select = [
        ["id", "id"],
        ["hash", "arrow_cast(md5(concat_ws(chr(31), 'x', coalesce(text, chr(0)))), 'Utf8')"],
        ["twice it's", "id * 2"],
      ] as const;
      const [found, ...rest] = await access.read("t", { select, where: "text is null or id > 7" });
      expect(rest).toEqual([]);
      expect(found).toEqual({ id: 2, hash: expect.stringMatching(/^[0-9a-f]{32}$/), "twice it's": 4 });
      expect(await access.read("t", { select, where: "id > 1", limit: 1 })).toHaveLength(1);
      expect(await access.read("t", { select, where: "id > 7" })).toEqual([]);
    });

    test("values of every type that code gets or gives are read as they were appended, and as they were merged", async () => {
      const { one, other } = await open();
      const typed = columnsOf({
        id: int64(),
        flag: bool(),
        day: date32(),
        at: timestamp("us"),
        double: float64(),
        wide: vector(3, float64()),
        items: list(float32()),
        s: struct({ a: float32(), b: utf8() }),
        numbers: list(int64()),
        deep: struct({ a: list(int64()) }),
      });
      const filled = {
        id: "9007199254740993",
        flag: true,
        day: "2026-11-26",
        at: "2026-11-26T01:02:03.004Z",
        double: 0.1,
        wide: [0.1, 0.2, 0.3],
        items: [1, 2],
        s: { a: 0.5, b: "ü" },
        numbers: ["9007199254740993", 7],
        deep: { a: [7] },
      };
      const empty = Object.fromEntries(typed.map((column) => [column.name, null]));
      await rowsOf(one).append("t", { columns: typed, rows: [filled, empty] });
      const found = await rowsOf(other).read("t", { select: typed.map((column) => [column.name, column.name]) });
      expect(plain(found.toSorted((row) => (row["id"] === null ? 1 : -1)))).toEqual([filled, empty]);
      const key = "9007199254740995";
      await rowsOf(one).append("t", { columns: typed, rows: [{ ...empty, id: key }] });
      expect(await rowsOf(one).update("t", "id", { columns: typed, rows: [{ ...filled, id: key }] }, "true")).toBe(1);
      const merged = await rowsOf(other).read("t", {
        select: typed.map((column) => [column.name, column.name]),
        where: `id = ${key}`,
      });
      expect(plain(merged)).toEqual([{ ...filled, id: key }]);
    });

    test.each([["without an index on the key"], ["with an index on the key"]])(
      "only rows for which the condition holds are updated, and only in the given columns: %s",
      async (indexed) => {
        const { one, other } = await withRows();
        if (indexed.startsWith("with "))
          await one.execute(
            { kind: "createIndex", table: "t", name: "id_idx", index: { path: "id", ...btree() } },
            await one.describeTable("t"),
          );
        const given = [
          { id: 1, mark: "one", v: [9, 9] },
          { id: 2, mark: "m", v: [8, 8] },
          { id: 3, mark: "three", v: null },
          { id: 4, mark: "none", v: [7, 7] },
        ];
        const condition = "source.mark in (text, concat('x', text)) and target.mark is null";
        const values = { columns: some(["id", "mark", "v"]), rows: given };
        expect(await rowsOf(other).update("t", "id", values, condition)).toBe(2);
        const after = [{ ...rows[0], mark: "one", v: [9, 9] }, rows[1], { ...rows[2], mark: "three" }];
        expect(await read(one)).toEqual(after);
        expect(await rowsOf(other).update("t", "id", values, condition)).toBe(0);
        expect(await read(one)).toEqual(after);
      },
    );

    test("the version of a table and the addresses of its rows change with them, and a condition can name the addresses", async () => {
      const { one, other } = await withRows();
      const access = rowsOf(other);
      const addresses = async () =>
        await access.read("t", { select: ["id", "_rowaddr"].map((column) => [column, column] as const) });
      const before = { version: await access.version?.("t"), addresses: await addresses() };
      expect(before.addresses.map((row) => row["_rowaddr"])).toEqual([0, 1, 2]);
      await rowsOf(one).setNull("t", ["mark"], "id = 2");
      expect(await access.version?.("t")).toBeGreaterThan(before.version!);
      const moved = (await addresses()).find(({ id }) => id === 2);
      expect(moved?.["_rowaddr"]).toBeGreaterThanOrEqual(2 ** 32);
      const values = { columns: some(["id", "mark"]), rows: [1, 2, 3].map((id) => ({ id, mark: "new" })) };
      expect(await access.update("t", "id", values, `target._rowaddr < ${2 ** 32}`)).toBe(2);
      expect(await access.version?.("none")).toBeUndefined();
    });

    test("a text can be the key", async () => {
      const { one } = await withRows();
      const values = { columns: some(["text", "mark"]), rows: [{ text: "three", mark: "3" }] };
      expect(await rowsOf(one).update("t", "text", values, "target.mark is null")).toBe(1);
      expect(await read(one)).toEqual([rows[0], rows[1], { ...rows[2], mark: "3" }]);
    });

    test("a column is set to null where a predicate holds", async () => {
      const { one, other } = await withRows();
      await rowsOf(one).setNull("t", ["mark"], "starts_with(mark, 'm')");
      expect(await read(other)).toEqual(rows.map((row) => ({ ...row, mark: null })));
    });

    test("the rows whose vectors are nearest come first, by the distance that is asked for", async () => {
      const { one, other } = await open();
      const placed = columnsOf({ id: int64(), at: vector(2), parts: list(vector(2)) });
      const at = [
        [1, 0],
        [0, 1],
        [10, 1],
      ] as const;
      await rowsOf(one).append("t", { columns: placed, rows: at.map((v, id) => ({ id, at: v, parts: [v, v] })) });
      const wanted = { select: [["id", "id"]], vectors: [[2, 0]], column: "at", limit: 2 } as const;
      const ids = async (distance: string, exact: boolean, more: object = {}) =>
        (await rowsOf(other).nearest("t", { ...wanted, distance, exact, ...more })).map(({ id }) => id);
      expect(await ids("l2", true)).toEqual([0, 1]);
      expect(await ids("cosine", false)).toEqual([0, 2]);
      expect(await ids("dot", true, { where: "id <> 0" })).toEqual([2, 1]);
      const several = [
        [0, 3],
        [0, 1],
      ];
      expect(await ids("cosine", true, { column: "parts", vectors: several })).toEqual([1, 2]);
    });

    test("an update of a table that is not there is refused", async () => {
      const { one } = await open();
      const values = { columns: some(["id", "mark"]), rows: [{ id: 1, mark: "1" }] };
      const error = await rowsOf(one)
        .update("t", "id", values, "true")
        .catch((thrown: unknown) => thrown);
      expect(one.verdict(error)).toMatchObject({ kind: "refused" });
    });
  });
}
