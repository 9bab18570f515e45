/** What every target has to do, whatever it talks to. A target's test file calls this and adds what is special to it. */
import { describe, expect, test } from "vitest";
import type { Column, DataType } from "../../src/schema/data-type.ts";
import type { Action } from "../../src/schema/action.ts";
import { applyAction } from "../support/fold.ts";
import type { Database } from "../../src/schema/table.ts";
import { ledgerColumns } from "../../src/ledger/rows.ts";
import type { Row, Target } from "../../src/targets/target.ts";

/** Opens a target on an empty database; called again with the same place it gives a second, independent one. */
export type OpenPair = () => Promise<{ readonly one: Target; readonly other: Target }>;

const column = (name: string, type: DataType, nullable = true): Column => ({ name, type, nullable });
const item = (type: DataType, nullable = true): Column => column("item", type, nullable);
const plain = (kind: "int32" | "utf8" | "float32" | "int64"): DataType => ({ kind });

const everyType: readonly DataType[] = [
  ...(["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const).map((kind) => ({ kind })),
  ...(["float16", "float32", "float64", "null", "bool", "date32", "date64"] as const).map((kind) => ({ kind })),
  ...(["utf8", "largeUtf8", "binary", "largeBinary"] as const).map((kind) => ({ kind })),
  { kind: "fixedSizeBinary", length: 16 },
  { kind: "decimal128", precision: 38, scale: 10 },
  { kind: "time32", unit: "ms" },
  { kind: "time64", unit: "ns" },
  { kind: "duration", unit: "us" },
  { kind: "timestamp", unit: "us" },
  { kind: "timestamp", unit: "ns", zone: "Europe/Berlin" },
  { kind: "list", item: item(plain("int32"), false) },
  { kind: "largeList", item: item({ kind: "struct", fields: [column("x", plain("int32"))] }) },
  { kind: "fixedSizeList", item: item(plain("float32")), length: 768 },
  { kind: "struct", fields: [column("a", plain("utf8"), false), column("b", plain("int32"))] },
  { kind: "dictionary", index: plain("int32"), value: plain("utf8") },
];

const documents: Action = {
  kind: "createTable",
  table: "documents",
  columns: [
    column("id", plain("int32"), false),
    column("title", plain("utf8")),
    column("source", { kind: "struct", fields: [column("url", plain("utf8")), column("fetched", plain("utf8"))] }),
    column("tags", { kind: "list", item: item(plain("int32")) }),
    column("embedding", { kind: "fixedSizeList", item: item(plain("float32")), length: 4 }),
  ],
};

const alter = (...alterations: Extract<Action, { kind: "alterColumns" }>["alterations"]): Action => ({
  kind: "alterColumns",
  table: "documents",
  alterations,
});

/** Each on a fresh documents table. */
const alterations: readonly (readonly [string, Action])[] = [
  ["a rename", alter({ path: "title", rename: "headline" })],
  ["a nested rename", alter({ path: "source.fetched", rename: "fetched_at" })],
  ["a quoted path", alter({ path: "`source`.`url`", rename: "address" })],
  ["a widening", alter({ path: "id", type: plain("int64") })],
  ["a nested retype", alter({ path: "source.url", type: { kind: "largeUtf8" } })],
  ["a retype of a list", alter({ path: "tags", type: { kind: "list", item: item(plain("int64")) } })],
  [
    "a retype of a vector",
    alter({ path: "embedding", type: { kind: "fixedSizeList", item: item({ kind: "float16" }), length: 4 } }),
  ],
  ["not null", alter({ path: "title", nullable: false })],
  ["nullable", alter({ path: "id", nullable: true })],
  ["a swap", alter({ path: "title", rename: "id" }, { path: "id", rename: "title" })],
  ["a nested swap", alter({ path: "source.url", rename: "fetched" }, { path: "source.fetched", rename: "url" })],
  ["rename and retype in one entry", alter({ path: "id", rename: "key", type: plain("int64") })],
  [
    "a struct and a field in it",
    alter({ path: "source", rename: "origin" }, { path: "source.url", rename: "address" }),
  ],
];

export function describeTarget(name: string, open: OpenPair): void {
  describe(name, () => {
    const run = async (target: Target, database: Database, action: Action): Promise<Database> => {
      await target.execute(action, await target.look(action.table));
      return applyAction(database, action);
    };

    test("a table that is not there is not seen", async () => {
      const { one } = await open();
      expect(await one.look("documents")).toBeUndefined();
      expect(await one.listTables()).toEqual([]);
    });

    test.each(everyType.map((type) => [type.kind, type] as const))(
      "a column of type %s reads back as made",
      async (_, type) => {
        const { one } = await open();
        const columns = [column("id", plain("int64"), false), column("value", type)];
        await one.execute({ kind: "createTable", table: "types", columns }, undefined);
        expect((await one.look("types"))?.table.columns).toEqual(columns);
      },
    );

    test("creating a table that exists fails and leaves it alone", async () => {
      const { one, other } = await open();
      await one.execute(documents, undefined);
      const before = await one.look("documents");
      const again: Action = { kind: "createTable", table: "documents", columns: [column("x", plain("int32"))] };
      await expect(other.execute(again, undefined)).rejects.toThrow();
      expect((await other.look("documents"))?.table).toEqual(before?.table);
    });

    test.each(alterations)("%s leaves the table as the fold says, in one version", async (_, action) => {
      const { one, other } = await open();
      let database = await run(one, new Map(), documents);
      const before = await one.look("documents");
      database = await run(one, database, action);
      const after = await other.look("documents");
      expect(after?.table).toEqual(database.get("documents"));
      if (before?.version !== undefined) expect(after?.version).toBe(before.version + 1);
    });

    test.each([
      ["a missing column", alter({ path: "nope", rename: "x" })],
      ["a refused cast", alter({ path: "id", type: plain("utf8") })],
      ["one bad entry of two", alter({ path: "title", rename: "x" }, { path: "nope", rename: "y" })],
    ])("%s is refused and changes nothing", async (_, action) => {
      const { one } = await open();
      await one.execute(documents, undefined);
      const before = await one.look("documents");
      await expect(one.execute(action, before)).rejects.toThrow();
      const after = await one.look("documents");
      expect([after?.table, after?.version]).toEqual([before?.table, before?.version]);
    });

    test("an error of the target is explained in one line without places in its source", async () => {
      const { one } = await open();
      await one.execute(documents, undefined);
      const seen = await one.look("documents");
      const error = await one
        .execute(alter({ path: "id", type: plain("utf8") }), seen)
        .catch((thrown: unknown) => thrown);
      expect(one.explain(error)).toMatch(/^[^\n]+$/);
      expect(one.explain(error)).not.toMatch(/\.rs\b|\/registry\//);
    });

    test("records are added once a key, however many try", async () => {
      const { one, other } = await open();
      const [mine, theirs] = [one.records("_ledger"), other.records("_ledger")];
      expect(await mine.all(names)).toBeUndefined();
      await Promise.all([mine.create(ledgerColumns, "key"), theirs.create(ledgerColumns, "key")]);
      const told = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? mine : theirs).insertIfAbsent(aRow(1, 0, `runner ${index}`)),
        ),
      );
      expect(told.filter(Boolean)).toHaveLength(1);
      expect(await mine.all(names)).toHaveLength(1);
    });

    test("records read back as written, and the newest is found", async () => {
      const { one, other } = await open();
      const [mine, theirs] = [one.records("_ledger"), other.records("_ledger")];
      await mine.create(ledgerColumns, "key");
      const rows = [aRow(1, 0), aRow(2, 1), aRow(2, 10), aRow(2, 9)];
      await mine.insert(rows);
      expect((await theirs.all(names))?.toSorted((a, b) => Number(a.number) - Number(b.number))).toEqual(
        rows.toSorted((a, b) => Number(a.number) - Number(b.number)),
      );
      expect(await theirs.last(["epoch", "number"], ["epoch", "number"])).toEqual({ epoch: 2, number: 10 });
    });

    test("what one writes the other reads at once, also while records are tended", async () => {
      const { one, other } = await open();
      const [mine, theirs] = [one.records("_ledger"), other.records("_ledger")];
      await mine.create(ledgerColumns, "key");
      for (let number = 0; number < 80; number++) {
        await mine.insert([aRow(1, number)]);
        await mine.tend();
        if (number % 10 === 0) expect(await theirs.all(names)).toHaveLength(number + 1);
      }
      expect(await theirs.all(names)).toHaveLength(80);
    });
  });
}

const names = ledgerColumns.map(({ name }) => name);

/** A ledger row with every kind of cell and some empty ones. */
function aRow(epoch: number, number: number, by = "somebody"): Row {
  return {
    ...Object.fromEntries(ledgerColumns.map(({ name }) => [name, null])),
    key: `${epoch}.${number}`,
    epoch,
    number,
    event: "applied",
    version: 20_260_101_120_000,
    name: "größer",
    at: 1_763_632_000_123,
    by,
    run: "r",
    tool: "t",
    applied: "a",
    previous: "",
    detail: 'it\'s "quoted"\nand goes on',
  };
}
