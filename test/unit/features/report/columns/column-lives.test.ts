import {
  addColumn,
  addComputedColumn,
  alterColumns,
  btree,
  createIndex,
  createTable,
  dropColumn,
  dropTable,
  execute,
  fixedSizeList,
  float32,
  int32,
  int64,
  ivfFlat,
  largeUtf8,
  list,
  reembedColumn,
  refreshColumn,
  renameColumn,
  renameTable,
  retypeColumn,
  setMetadata,
  setNullable,
  struct,
  utf8,
} from "lance-migrate";
import { expect, test } from "vitest";
import { isMigrateError } from "../../../../../src/errors/migrate-error.ts";
import { typeText } from "../../../../../src/features/report/columns/column-changes.ts";
import { tableLives, type ColumnLife } from "../../../../../src/features/report/columns/column-lives.ts";
import { replayNext } from "../../../../../src/plan/history/replay.ts";
import { formatPath } from "../../../../../src/schema/path.ts";
import { columnPaths, findColumn, type Table } from "../../../../../src/schema/table.ts";
import { parseStep, type Step } from "../../../../../src/steps/registry.ts";
import { beginning, drafts, stepOf } from "../../../../sequences/draw.ts";
import * as fc from "../../../../support/fast-check.ts";
import { rounds } from "../../../../support/rounds.ts";
import { aMigration } from "../../../../support/migrations.ts";

type Steps = readonly object[];

const create = createTable("documents", {
  id: int64().notNull(),
  title: utf8(),
  tags: list(utf8()),
  vector: fixedSizeList(float32(), 2),
  source: struct({ url: utf8(), size: int32() }),
});

/** The lives after a first migration that creates `documents`, and these. */
function livesAfter(...migrations: readonly Steps[]) {
  return tableLives([[create], ...migrations].map((steps, index) => aMigration(index + 1, steps)));
}

/** What happened to the columns that have or last had this name, as text. */
function eventsOf(name: string, ...migrations: readonly Steps[]): readonly (readonly string[])[] {
  const { tables, problem } = livesAfter(...migrations);
  expect(problem).toBeUndefined();
  return tables
    .flatMap(({ columns }) => columns)
    .filter(({ names }) => names.at(-1) === name)
    .map(textOf);
}

function textOf({ events }: ColumnLife): readonly string[] {
  return events.map(({ version, step, change, before, after }) => {
    const values = before === undefined ? (after ?? "") : `${before} => ${after ?? ""}`;
    return `${version}.${step} ${change} ${values}`.trim();
  });
}

test.each<{ what: string; name: string; migrations: readonly Steps[]; events: readonly (readonly string[])[] }>([
  {
    what: "a column that is renamed twice",
    name: "documents.headline",
    migrations: [[renameColumn("documents", "title", "name")], [renameColumn("documents", "name", "headline")]],
    events: [["1.1 created utf8", "2.1 renamed title => name", "3.1 renamed name => headline"]],
  },
  {
    what: "a field of a struct that is renamed too",
    name: "documents.origin.address",
    migrations: [[renameColumn("documents", "source", "origin"), renameColumn("documents", "origin.url", "address")]],
    events: [["1.1 created utf8", "2.1 renamed source.url => origin.url", "2.2 renamed origin.url => origin.address"]],
  },
  {
    what: "two columns that swap their names",
    name: "documents.tags",
    migrations: [
      [
        alterColumns("documents", [
          { path: "title", rename: "tags" },
          { path: "tags", rename: "title" },
        ]),
      ],
    ],
    events: [["1.1 created utf8", "2.1 renamed title => tags"]],
  },
  {
    what: "a column of a renamed table",
    name: "papers.title",
    migrations: [[renameTable("documents", "papers")], [setNullable("papers", "title", false)]],
    events: [["1.1 created utf8", "2.1 moved documents => papers", "3.1 nullability utf8 => utf8 not null"]],
  },
  {
    what: "a type, and a nullability with it",
    name: "documents.title",
    migrations: [
      [retypeColumn("documents", "title", largeUtf8())],
      [retypeColumn("documents", "title", utf8()), setNullable("documents", "title", false)],
    ],
    events: [
      [
        "1.1 created utf8",
        "2.1 retyped utf8 => largeUtf8",
        "3.1 retyped largeUtf8 => utf8",
        "3.2 nullability utf8 => utf8 not null",
      ],
    ],
  },
  {
    what: "a column that is recreated from an expression",
    name: "documents.title",
    migrations: [[retypeColumn("documents", "title", int32(), { using: "length(title)" })]],
    events: [["1.1 created utf8", "2.1 retyped utf8 => int32", "2.1 filled length(title)"]],
  },
  {
    what: "a column that is dropped, and another one of its name",
    name: "documents.title",
    migrations: [[dropColumn("documents", "title")], [addColumn("documents", "title", int32())]],
    events: [["1.1 created utf8", "2.1 dropped utf8 =>"], ["3.1 created int32"]],
  },
  {
    what: "a struct that goes with its last field",
    name: "documents.source",
    migrations: [[dropColumn("documents", "source.url"), dropColumn("documents", "source.size")]],
    events: [["1.1 created struct<url: utf8, size: int32>", "2.2 dropped struct<size: int32> =>"]],
  },
  {
    what: "a struct that gets a field, which is no change of the struct",
    name: "documents.source",
    migrations: [[addColumn("documents", "source.fetched", int64())]],
    events: [["1.1 created struct<url: utf8, size: int32>"]],
  },
  {
    what: "a field that is added",
    name: "documents.source.fetched",
    migrations: [[addColumn("documents", "source.fetched", int64())]],
    events: [["2.1 created int64"]],
  },
  {
    what: "a column that is added with values, and updated",
    name: "documents.words",
    migrations: [
      [addColumn("documents", "words", int32(), { as: "length(title)" })],
      [execute("documents", { update: { words: "0" }, where: "words is null" })],
    ],
    events: [["2.1 created int32", "2.1 filled length(title)", "3.1 filled 0"]],
  },
  {
    what: "a column that the engine computes",
    name: "documents.words",
    migrations: [
      [addComputedColumn("documents", "words", int32(), "length(title)")],
      [refreshColumn("documents", "words")],
    ],
    events: [["2.1 created int32 computed from length(title)", "3.1 computed length(title)"]],
  },
  {
    what: "an index, which a rename of its column does not change",
    name: "documents.headline",
    migrations: [
      [createIndex("documents", "title", btree())],
      [renameColumn("documents", "title", "headline")],
      [dropColumn("documents", "headline")],
    ],
    events: [
      ["1.1 created utf8", "2.1 indexed title_idx, btree", "3.1 renamed title => headline", "4.1 dropped utf8 =>"],
    ],
  },
  {
    what: "metadata",
    name: "documents.title",
    migrations: [
      [setMetadata("documents", "title", { unit: "m", owner: "search" })],
      [setMetadata("documents", "title", { unit: null })],
    ],
    events: [["1.1 created utf8", '2.1 metadata unit="m", owner="search"', '3.1 metadata unit="m" =>']],
  },
  {
    what: "a column of a dropped table",
    name: "documents.title",
    migrations: [[dropTable("documents")], [createTable("documents", { id: int64() })]],
    events: [["1.1 created utf8", "2.1 dropped utf8 =>"]],
  },
])("the life of $what", ({ name, migrations, events }) => {
  expect(eventsOf(name, ...migrations)).toEqual(events);
});

const reembed = reembedColumn("documents", "vector", {
  type: fixedSizeList(float32(), 3),
  from: ["title"],
  key: "id",
  with: "./embed.ts",
  version: "2",
});

test("a column that is switched to another embedding model stays the same column, and its old values get a new one", () => {
  expect(eventsOf("documents.vector", [reembed])).toEqual([
    [
      "1.1 created fixedSizeList<float32, 2>",
      "2.1 retyped fixedSizeList<float32, 2> => fixedSizeList<float32, 3>",
      "2.1 computed from title with ./embed.ts, version 2",
    ],
  ]);
  expect(eventsOf("documents.vector_old", [reembed])).toEqual([["2.1 created vector => fixedSizeList<float32, 2>"]]);
  // Its index stays on the old values.
  const index = createIndex("documents", "vector", ivfFlat({ numPartitions: 2 }), { name: "near" });
  expect(eventsOf("documents.vector_old", [index], [reembed])).toEqual([
    ["3.1 created vector => fixedSizeList<float32, 2>", expect.stringMatching(/^3.1 indexed near, ivfFlat/)],
  ]);
});

test("a dropped table and another one of its name are two", () => {
  const { tables } = livesAfter([dropTable("documents")], [createTable("documents", { id: int64() })]);
  expect(tables.map(({ name, created, dropped }) => ({ name, created, dropped }))).toEqual([
    { name: "documents", created: 1, dropped: 2 },
    { name: "documents", created: 3, dropped: undefined },
  ]);
  expect(tables.map(({ columns }) => columns.map(({ now }) => now !== undefined))).toEqual([
    Array.from({ length: 7 }, () => false),
    [true],
  ]);
});

test("a column knows its present name, its type and all of its names", () => {
  const { tables } = livesAfter([renameColumn("documents", "title", "name"), renameTable("documents", "papers")]);
  const [table] = tables;
  expect(table!.name).toBe("papers");
  expect(table!.columns.find(({ now }) => now?.path === "name")).toMatchObject({
    now: { table: "papers", path: "name", type: "utf8" },
    names: ["documents.title", "documents.name", "papers.name"],
  });
});

test("lives end at a step that can't work, for example because a migration is missing", () => {
  const { tables, problem } = livesAfter(
    [renameColumn("documents", "title", "name")],
    [renameColumn("others", "a", "b")],
    [dropColumn("documents", "name")],
  );
  expect(problem).toMatch(/^0003_m3.ts, step 1 .*others/u);
  expect(tables[0]!.columns.filter(({ now }) => now === undefined)).toEqual([]);
});

const histories = rounds(60, 5_000);

test(`the columns whose lives have no end are those of the tables, after ${histories} drawn histories`, () => {
  const kinds = new Set<string>();
  fc.assert(
    fc.property(
      fc.array(beginning, { minLength: 1, maxLength: 2 }),
      fc.array(drafts, { maxLength: 4 }),
      (tables, more) => {
        const database = new Map<string, Table>();
        const migrations = [tables, ...more].flatMap((drafts, index) => {
          const possible = drafts.flatMap((draft) => {
            const { step } = parseStep(stepOf(draft, database)) as { readonly step?: Step };
            return step !== undefined && works(step, database) ? [step] : [];
          });
          return possible.length === 0 ? [] : [aMigration(index + 1, possible)];
        });
        const lives = tableLives(migrations);
        expect(lives.problem).toBeUndefined();
        const columns = lives.tables.flatMap((table) => table.columns);
        expect(columns.flatMap(({ now = [] }) => now).toSorted(byName)).toEqual(columnsOf(database).toSorted(byName));
        for (const { events } of columns) {
          const changes = events.map(({ change }) => change);
          expect(changes[0]).toBe("created");
          expect(changes.slice(1)).not.toContain("created");
          expect(changes.slice(0, -1)).not.toContain("dropped");
          for (const change of changes) kinds.add(change);
        }
      },
    ),
    { numRuns: histories },
  );
  expect([...kinds].toSorted()).toEqual([
    "computed",
    "created",
    "dropped",
    "filled",
    "indexed",
    "metadata",
    "moved",
    "nullability",
    "renamed",
    "retyped",
  ]);
});

/** Applies a step to the database, if it can work. */
function works(step: Step, database: Map<string, Table>): boolean {
  const next = new Map(database);
  try {
    replayNext(next, { file: "", steps: [step] }, { describes: true });
  } catch (error) {
    if (!isMigrateError(error)) throw error;
    return false;
  }
  database.clear();
  for (const [name, table] of next) database.set(name, table);
  return true;
}

function columnsOf(database: ReadonlyMap<string, Table>) {
  return [...database].flatMap(([table, { columns }]) =>
    columnPaths(columns).map((path) => ({
      table,
      path: formatPath(path),
      type: typeText(findColumn(columns, path)!),
    })),
  );
}

function byName(one: { table: string; path: string }, other: { table: string; path: string }): number {
  return JSON.stringify([one.table, one.path]) < JSON.stringify([other.table, other.path]) ? -1 : 1;
}
