import { expect, test } from "vitest";
import { adopt, undeclarable } from "../../../../../src/features/author/adopt/adopt-tables.ts";
import { columnsOf, int32, list, struct, utf8, vector } from "../../../../../src/schema/declare/type-builders.ts";
import type { Table } from "../../../../../src/schema/table.ts";

const columns = columnsOf({ id: int32(), title: utf8(), tags: list(struct({ a: int32() })), v: vector(4) });
const index = (path: string, kind: string, options = {}) => ({ path, kind, options }) as never;
const nothing = new Map<string, Table>();

test("an index that no step makes is left out, each with its reason", () => {
  const indexes = {
    a: index("id", "btree"),
    b: index("v", "ivfFlat"),
    c: index("title", "fts", { language: "Klingon" }),
    d: index("tags.item.a", "btree"),
    e: index("title", "labelList"),
    f: index("v", "hnswSq", { numBits: 8 }),
  };
  const { steps, left } = adopt(nothing, new Map([["t", { columns, indexes }]]));
  expect(steps.slice(1)).toEqual([
    { kind: "createIndex", table: "t", path: "id", type: { kind: "btree", options: {} }, name: "a" },
    { kind: "createIndex", table: "t", path: "v", type: { kind: "ivfFlat", options: {} }, name: "b" },
  ]);
  expect(left).toEqual([
    expect.stringMatching(
      /^index c on t\.title \(fts\(language: Klingon\)\), which no builder makes: language must be one of /,
    ),
    expect.stringMatching(/^index d on t\.tags\.item\.a \(btree\), .*inside a list/),
    expect.stringMatching(/^index e on t\.title \(labelList\), .*is for lists/),
    expect.stringMatching(
      /^index f on t\.v \(hnswSq\(numBits: 8\)\), which no builder makes: its parameters hold an unknown one: numBits; there is /,
    ),
  ]);
});

test("an index that can't be recreated is left out, and one that took the place of a migration's is not adopted", () => {
  const indexes = { i: { path: "v", kind: "IvfSq", options: {}, stuck: "its kind is unknown" } };
  const said = "index i on t.v (IvfSq), which can't be recreated: its kind is unknown";
  const found = new Map([["t", { columns, indexes }]]);
  const pulled = adopt(nothing, found);
  expect([pulled.steps.map(({ kind }) => kind), pulled.left]).toEqual([["createTable"], [said]]);
  const known = new Map([["t", { columns, indexes: { i: index("v", "ivfFlat") } }]]);
  expect(adopt(known, found)).toMatchObject({ steps: [], left: [said] });
});

test("metadata that no step sets is left out, and what others add to a table that is known is theirs", () => {
  const described = [
    { ...columns[0]!, metadata: { unit: "s", more: "x" } },
    {
      name: "f",
      nullable: true,
      type: {
        kind: "fixedSizeList",
        length: 4,
        item: { name: "item", nullable: true, type: { kind: "float32" }, metadata: { k: "v" } },
      },
    },
  ] as never as Table["columns"];
  const { steps, left } = adopt(nothing, new Map([["t", { columns: described }]]));
  expect(steps.slice(1)).toEqual([{ kind: "setMetadata", table: "t", path: "id", metadata: { unit: "s", more: "x" } }]);
  expect(left).toEqual([expect.stringMatching(/^metadata of t\.f\.item: /)]);
  const known = new Map([["t", { columns: [{ ...described[0]!, metadata: { unit: "m", gone: "y" } }, columns[3]!] }]]);
  const now = new Map([["t", { columns: [described[0]!, columns[3]!], indexes: { i: index("id", "btree") } }]]);
  expect(adopt(known, now)).toMatchObject({
    steps: [{ kind: "setMetadata", table: "t", path: "id", metadata: { unit: "s", gone: null } }],
    left: [],
  });
});

test("metadata that means something to the engine, which it never rolls back, is left out and said", () => {
  const key = "lance-schema:unenforced-primary-key";
  const described = (metadata: object) => [{ ...columns[0]!, metadata }] as never as Table["columns"];
  const { steps, left } = adopt(nothing, new Map([["t", { columns: described({ [key]: "true", unit: "s" }) }]]));
  expect(steps.slice(1)).toEqual([{ kind: "setMetadata", table: "t", path: "id", metadata: { unit: "s" } }]);
  const said = [`${key} of t.id, which the engine never undoes, so that down could not`];
  expect(left).toEqual(said);
  const own = adopt(nothing, new Map([["t", { columns: described({ [key]: "true" }) }]]), { takesEngines: true });
  expect(own).toMatchObject({ left: [], steps: [{}, { kind: "setMetadata", metadata: { [key]: "true" } }] });
  const known = new Map([["t", { columns: described({ [key]: "false" }) }]]);
  const now = new Map([["t", { columns: described({ [key]: "true" }) }]]);
  expect(adopt(known, now)).toMatchObject({ steps: [], left: said });
  expect(adopt(now, now)).toMatchObject({ steps: [], left: [] });
});

test("every problem of every table is said with its place", () => {
  const map = { kind: "unknown", name: "map" } as const;
  const found = new Map<string, Table>([
    ["a/b", { columns: columnsOf({ id: int32() }) }],
    [
      "t",
      {
        columns: [
          { name: "m", nullable: true, type: map },
          {
            name: "s",
            nullable: true,
            type: {
              kind: "struct",
              fields: [
                {
                  name: "l",
                  nullable: true,
                  type: { kind: "list", item: { name: "element", nullable: true, type: { kind: "int32" } } },
                },
              ],
            },
          },
          { name: "x", nullable: true, type: { kind: "list", item: { name: "item", nullable: true, type: map } } },
          { name: "d", nullable: true, type: { kind: "dictionary", index: { kind: "int8" }, value: map } },
          { name: "z", nullable: true, type: { kind: "timestamp", unit: "us", zone: "+02:00" } },
          { name: "a.b", nullable: true, type: { kind: "int32" } },
        ],
      },
    ],
  ]);
  expect(undeclarable(found)).toEqual([
    'table a/b: its name may hold only letters, digits, "_", "-" and "."',
    "column m of table t is of the type map, which no builder makes",
    "column s.l of table t holds a list<int32> whose items are called element, where the builders make item",
    "column x of table t is of the type map, which no builder makes",
    "column d of table t is of the type dictionary<int8, map>, which no builder makes",
    expect.stringMatching(
      /^column z of table t is of the type timestamp\(us, \+02:00\), which no builder makes: it must be a time zone/,
    ),
    expect.stringMatching(/^column `a\.b` of table t: its name holds a dot/),
  ]);
});

test("metadata by which the engine reads files is not adopted, since setting it would break a table", () => {
  const described = [{ ...columns[0]!, metadata: { "ARROW:extension:name": "lance.json", unit: "s" } }];
  const { steps, left } = adopt(nothing, new Map([["t", { columns: described }]]));
  expect(steps.slice(1)).toEqual([{ kind: "setMetadata", table: "t", path: "id", metadata: { unit: "s" } }]);
  expect(left).toEqual([expect.stringMatching(/^ARROW:extension:name of t\.id: the engine reads /)]);
});

test("the metadata of columns is left alone until it is known which columns they are", () => {
  const known = new Map([["t", { columns: columnsOf({ a: int32(), b: utf8() }) }]]);
  const later = columnsOf({ c: int32(), b: list(int32()) });
  const found = new Map([
    ["t", { columns: later }],
    ["u", { columns: [{ ...columns[0]!, metadata: { unit: "s" } }] }],
  ]);
  const { steps, unsure, impossible } = adopt(known, found);
  expect(unsure).toEqual([{ table: "t", path: "a", names: ["c"] }]);
  expect(impossible).toHaveLength(1);
  expect(steps.map(({ kind }) => kind)).not.toContain("setMetadata");
});

test("a list that no builder makes is reported though its items are fine", () => {
  const column = {
    name: "f",
    nullable: true,
    type: { kind: "fixedSizeList", length: 0, item: columnsOf({ item: int32() })[0]! },
  };
  expect(undeclarable(new Map([["t", { columns: [column as never] }]]))).toEqual([
    "column f of table t is of the type fixedSizeList<int32, 0>, which no builder makes: it must be at least 1",
  ]);
});
