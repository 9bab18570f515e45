/** What the crash matrix kills: for each step kind the tables before, their rows, and the migration that is pending. */
import { fileURLToPath } from "node:url";
import {
  float32,
  float64,
  int32,
  int64,
  largeUtf8,
  list,
  struct,
  utf8,
  vector,
} from "../../src/schema/declare/type-builders.ts";
import { bitmap, btree, fts, ivfFlat } from "../../src/schema/declare/index-builders.ts";
import {
  addColumn,
  addComputedColumn,
  alterColumns,
  backfillColumn,
  createIndex,
  createTable,
  dropColumn,
  dropIndex,
  dropTable,
  execute,
  insertRows,
  optimizeTable,
  populateTable,
  rebuildIndex,
  reembedColumn,
  refreshColumn,
  renameColumn,
  renameTable,
  retypeColumn,
  setMetadata,
  setNullable,
} from "../../src/steps/index.ts";
import type { Step, StepName } from "../../src/steps/registry.ts";

export interface MatrixCase {
  readonly name: string;
  /** The migration that has been applied; without one the killed run is the first on an empty database. */
  readonly before?: readonly Step[];
  /** The migration that is pending. */
  readonly pending: readonly Step[];
  /** Migrations after that one. Together they may be a group. */
  readonly following?: readonly (readonly Step[])[];
  /** Somebody's append comes before each call that it could get in the way of; just on the embedded engine. */
  readonly crowded?: boolean;
  /** The other targets can't do it. */
  readonly embeddedOnly?: boolean;
  /** It takes code paths that other cases take too, so it is tried every night and not for each commit. */
  readonly isNightly?: boolean;
}

/** In every case that has a table before. Two columns have equal types, so that a second swap would be seen in their values. */
export const table = "people";
const columns = {
  id: int32().notNull(),
  first: utf8(),
  last: utf8(),
  score: float32(),
  place: struct({ street: utf8(), town: utf8() }),
  note: utf8(),
};
export const rows = Array.from({ length: 20 }, (_, id) => ({
  id,
  first: `first ${id}`,
  last: `last ${id}`,
  score: id / 4,
  place: { street: `street ${id}`, town: `town ${id}` },
  note: `note ${id}`,
}));

const before = [createTable(table, columns)];
const indexed = [...before, createIndex(table, "id", btree())];
const swap = alterColumns(table, [
  { path: "first", rename: "last" },
  { path: "last", rename: "first" },
]);

// A kind without an entry does not compile.
export const matrixCases: Readonly<Record<StepName, readonly MatrixCase[]>> = {
  createTable: [
    { name: "first of all", pending: [createTable("orders", { id: int64().notNull(), tags: list(utf8()) })] },
    {
      name: "beside another",
      before,
      pending: [createTable("orders", { id: int64().notNull(), tags: list(utf8()) })],
      isNightly: true,
    },
  ],
  renameColumn: [
    { name: "column", before, pending: [renameColumn(table, "first", "given")] },
    { name: "nested field", before, pending: [renameColumn(table, "place.town", "city")], isNightly: true },
    {
      name: "in a group with other tables",
      before,
      pending: [renameColumn(table, "first", "given"), createTable("towns", { name: utf8() })],
      following: [
        [renameColumn(table, "given", "name"), setNullable(table, "id", true)],
        [renameColumn("towns", "name", "town"), createTable("streets", { name: utf8() })],
        [renameColumn("streets", "name", "street"), addColumn("streets", "town", utf8())],
      ],
    },
  ],
  retypeColumn: [
    { name: "not null", before, pending: [retypeColumn(table, "id", int64())] },
    { name: "nullable", before, pending: [retypeColumn(table, "score", float64())], isNightly: true },
    {
      name: "with two indexes",
      before: [...indexed, createIndex(table, "id", bitmap(), { name: "id_values" })],
      pending: [retypeColumn(table, "id", int64())],
      isNightly: true,
    },
    {
      name: "nullable, with an index and metadata",
      before: [...before, createIndex(table, "first", fts()), setMetadata(table, "first", { source: "form" })],
      pending: [retypeColumn(table, "first", largeUtf8())],
    },
    {
      name: "not null, using",
      before,
      pending: [retypeColumn(table, "id", int64(), { using: "id + 100" })],
      isNightly: true,
    },
    // Made anew from itself: a second time would be seen. The table looks as before when it is done.
    {
      name: "last column to the same type, using",
      before: [...before, createIndex(table, "note", btree()), setMetadata(table, "note", { source: "form" })],
      pending: [retypeColumn(table, "note", utf8(), { using: "concat(note, '!')" })],
    },
    {
      name: "not null, crowded",
      before,
      pending: [retypeColumn(table, "id", int64())],
      crowded: true,
      isNightly: true,
    },
    {
      name: "nullable, crowded, with an index",
      before: [...before, createIndex(table, "score", btree())],
      pending: [retypeColumn(table, "score", float64())],
      crowded: true,
    },
    {
      name: "using, crowded",
      before,
      pending: [retypeColumn(table, "id", int64(), { using: "id + 1" })],
      crowded: true,
      isNightly: true,
    },
    {
      name: "there and back",
      before,
      pending: [retypeColumn(table, "id", int64()), retypeColumn(table, "id", int32())],
    },
  ],
  setNullable: [
    { name: "false", before, pending: [setNullable(table, "last", false)] },
    { name: "true", before, pending: [setNullable(table, "id", true)], isNightly: true },
  ],
  alterColumns: [
    { name: "swap", before, pending: [swap] },
    { name: "swap three times", before, pending: [swap, swap, swap], isNightly: true },
    {
      name: "rename, retype and nullable",
      before,
      pending: [
        alterColumns(table, [
          { path: "first", rename: "given", type: largeUtf8() },
          { path: "id", nullable: true },
        ]),
      ],
      isNightly: true,
    },
  ],
  addColumn: [
    { name: "nullable", before, pending: [addColumn(table, "age", int32())] },
    {
      name: "with values",
      before,
      pending: [addColumn(table, "full", utf8(), { as: "concat(first, last)" })],
      isNightly: true,
    },
    {
      name: "not null",
      before,
      pending: [addColumn(table, "twice", int64().notNull(), { as: "id * 2" })],
      isNightly: true,
    },
    {
      name: "field of a struct with an index and metadata",
      before: [
        ...before,
        createIndex(table, "place.town", btree()),
        setMetadata(table, "place.street", { source: "form" }),
      ],
      pending: [addColumn(table, "place.zip", int32())],
      embeddedOnly: true,
    },
    {
      name: "field, crowded",
      before,
      pending: [addColumn(table, "place.zip", int32())],
      crowded: true,
      isNightly: true,
    },
  ],
  addComputedColumn: [
    {
      name: "and refreshed",
      before,
      pending: [addComputedColumn(table, "twice", int64(), "id * 2"), refreshColumn(table, "twice")],
    },
  ],
  refreshColumn: [
    {
      name: "of an earlier migration",
      before: [...before, addComputedColumn(table, "full", utf8(), "concat(first, last)")],
      pending: [refreshColumn(table, "full")],
    },
  ],
  rebuildIndex: [
    {
      name: "with new rows",
      before: [...indexed, insertRows(table, rows, { key: "id" })],
      pending: [rebuildIndex(table, "id_idx")],
    },
  ],
  optimizeTable: [
    {
      name: "with rows that an index does not cover",
      before: [...indexed, insertRows(table, [{ id: 77, first: "new" }], { key: "id" })],
      pending: [optimizeTable(table)],
    },
  ],
  dropColumn: [
    { name: "with an index", before: indexed, pending: [dropColumn(table, "id")] },
    { name: "nested field", before, pending: [dropColumn(table, "place.town")], isNightly: true },
    {
      name: "and added again",
      before,
      pending: [dropColumn(table, "note"), addColumn(table, "note", utf8(), { as: "first" })],
      isNightly: true,
    },
  ],
  dropTable: [
    { name: "table", before, pending: [dropTable(table)] },
    { name: "and made again", before, pending: [dropTable(table), createTable(table, columns)], isNightly: true },
  ],
  renameTable: [
    { name: "table", before, pending: [renameTable(table, "persons")] },
    {
      name: "there and back",
      before,
      pending: [renameTable(table, "persons"), renameTable("persons", table)],
      isNightly: true,
    },
  ],
  createIndex: [
    {
      name: "on two columns",
      before,
      pending: [createIndex(table, "id", btree()), createIndex(table, "first", fts())],
    },
    {
      name: "with minRecall",
      before,
      pending: [
        addColumn(table, "at", vector(2), { as: "make_array(score, score * score)" }),
        createIndex(table, "at", ivfFlat({ numPartitions: 1 }), { minRecall: 1, k: 3, sample: 4 }),
      ],
    },
    {
      name: "on too few vectors",
      before: [...before, addColumn(table, "at", vector(2), { as: "make_array(score, score * score)" })],
      pending: [createIndex(table, "at", ivfFlat({ numPartitions: 100 }))],
      embeddedOnly: true,
      isNightly: true,
    },
    {
      name: "in place of another",
      before: [...before, createIndex(table, "first", fts())],
      pending: [createIndex(table, "first", fts({ stem: false }), { replace: true })],
      isNightly: true,
    },
  ],
  dropIndex: [
    {
      name: "and made again as another",
      before: indexed,
      pending: [dropIndex(table, "id_idx"), createIndex(table, "id", bitmap())],
    },
  ],
  setMetadata: [
    {
      name: "and set otherwise",
      before: [...before, setMetadata(table, "place.town", { source: "form", old: "yes" })],
      pending: [
        setMetadata(table, "place.town", { source: "file", old: null }),
        setMetadata(table, "place.town", { source: "form" }),
      ],
    },
  ],
  insertRows: [
    {
      name: "of which one is there",
      before,
      pending: [
        insertRows(
          table,
          [
            { id: 7, first: "another" },
            { id: 77, first: "new" },
          ],
          { key: "id" },
        ),
      ],
    },
  ],
  backfillColumn: [
    {
      name: "new column",
      before,
      pending: [
        addColumn(table, "upper", utf8()),
        backfillColumn(table, "upper", {
          from: ["first"],
          key: "id",
          with: fileURLToPath(new URL("../fixtures/upper.ts", import.meta.url)),
          version: "1",
          batch: 4,
          concurrency: 2,
        }),
      ],
    },
  ],
  populateTable: [
    {
      name: "of rows that were computed before, and new ones",
      before: [
        ...before,
        createTable(
          "words",
          { person: int32(), word: utf8(), made_from: utf8() },
          {
            rows: [
              { person: 1, word: "old", made_from: "other" },
              { person: null, word: "own", made_from: null },
            ],
          },
        ),
      ],
      pending: [
        populateTable("words", {
          from: table,
          columns: ["first"],
          key: "id",
          source: "person",
          mark: "made_from",
          with: fileURLToPath(new URL("../fixtures/words.ts", import.meta.url)),
          version: "1",
          batch: 4,
          concurrency: 2,
        }),
      ],
    },
  ],
  reembedColumn: [
    {
      name: "another type",
      before,
      pending: [
        reembedColumn(table, "last", {
          type: largeUtf8(),
          from: ["first"],
          key: "id",
          with: fileURLToPath(new URL("../fixtures/upper.ts", import.meta.url)),
          version: "1",
          batch: 4,
          concurrency: 2,
          index: fts(),
        }),
      ],
    },
  ],
  execute: [
    {
      name: "update and delete",
      before,
      pending: [
        execute(table, { update: { note: "upper(first)" }, where: "id > 4" }),
        execute(table, { delete: "note = 'FIRST 9'" }),
      ],
    },
  ],
};
