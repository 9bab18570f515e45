/** Migrations of two branches on the same tables, as they are drawn. */
import { describe, expect, test } from "vitest";
import { isMigrateError } from "../../../../../src/errors/migrate-error.ts";
import { checksumOf } from "../../../../../src/migrations/checksum.ts";
import type { Migration } from "../../../../../src/migrations/load.ts";
import { compileMigration } from "../../../../../src/plan/compile/compile.ts";
import { rebase } from "../../../../../src/features/author/branch/rebase-steps.ts";
import { tablesAfter } from "../../../../../src/actions/apply-action.ts";
import { childColumns, formatType, withChildColumns, type Column } from "../../../../../src/schema/data-type.ts";
import { parsePath } from "../../../../../src/schema/path.ts";
import { change, findColumn, type Database, type Table } from "../../../../../src/schema/table.ts";
import type { Step } from "../../../../../src/steps/registry.ts";
import * as m from "lance-migrate";
import { beginning, drafts, stepOf, type Draft } from "../../../../sequences/draw.ts";
import * as fc from "../../../../support/fast-check.ts";
import { rounds } from "../../../../support/rounds.ts";

const capabilities = { describes: true };
const populating = { source: "of", mark: "mark", with: "./rows.ts", version: "1" };

function migration(version: number, name: string, steps: readonly Step[]): Migration {
  const file = `000${version}_${name}.ts`;
  return { version, name, file, path: file, textHash: "", steps, checksum: checksumOf(steps) };
}

function after(database: Database, ...migrations: readonly Migration[]): Database {
  const tables = new Map<string, Table>(database);
  for (const one of migrations)
    for (const { action } of compileMigration(one, capabilities)) change(tables, tablesAfter(tables, action));
  return tables;
}

/** The steps that drafts mean one after the other, without those that can't work. */
function stepsOf(draws: readonly Draft[], from: Database): readonly Step[] {
  let database = from;
  return draws.flatMap((draft) => {
    const step = stepOf(draft, database);
    try {
      database = after(database, migration(1, "one", [step]));
      return [step];
    } catch (error) {
      if (isMigrateError(error)) return [];
      throw error;
    }
  });
}

/** Every column with a number of its own, which goes with it whatever it is called. */
function numbered(database: Database): Database {
  let number = 0;
  const mark = (column: Column): Column => ({
    ...column,
    metadata: { own: String(number++) },
    type: withChildColumns(column.type, childColumns(column.type).map(mark)),
  });
  return new Map([...database].map(([name, table]) => [name, { ...table, columns: table.columns.map(mark) }]));
}

function numberOf(database: Database, table: string, path: string): string | undefined {
  return findColumn(database.get(table)?.columns ?? [], parsePath(path))?.metadata?.["own"] ?? undefined;
}

/** Without the order of columns, and the numbers. */
function plain(database: Database): unknown {
  const columnsOf = (columns: readonly Column[]): readonly unknown[] =>
    columns
      .map(({ name, nullable, type }) => ({
        name,
        nullable,
        type: type.kind === "struct" ? columnsOf(type.fields) : formatType(type),
      }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return Object.fromEntries(
    [...database]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, { columns, indexes = {} }]) => [
        name,
        {
          columns: columnsOf(columns),
          indexes: Object.entries(indexes)
            .filter(([, index]) => index !== null)
            .toSorted(),
        },
      ]),
  );
}

const branches = fc.record({
  tables: fc.array(beginning, { minLength: 1, maxLength: 2 }),
  first: drafts,
  ours: drafts,
  theirs: drafts,
});

const pairs = rounds(350, 2_000);

test(`${pairs} pairs of branches go by the same columns wherever they stand, and lead to the same where the order does not matter`, () => {
  const seen = { refused: 0, rewritten: 0, apart: 0, same: 0 };
  fc.assert(
    fc.property(branches, ({ tables, first, ours, theirs }) => {
      const begun = after(new Map(), migration(1, "start", stepsOf([...tables, ...first], new Map())));
      const base = numbered(begun);
      const [own, incoming] = [
        migration(2, "ours", stepsOf(ours, base)),
        migration(2, "theirs", stepsOf(theirs, base)),
      ];
      fc.pre(own.steps.length > 0 && incoming.steps.length > 0);
      let result: ReturnType<typeof rebase>;
      try {
        result = rebase({ base, incoming: [incoming], own: [own], capabilities });
      } catch (error) {
        if (!isMigrateError(error, "ERR_REBASE")) throw error;
        seen.refused++;
        return;
      }
      const [moved] = result.moved;
      if (checksumOf(moved!.steps) !== own.checksum) seen.rewritten++;
      let [here, there] = [base, after(base, incoming)];
      for (const [index, step] of moved!.steps.entries()) {
        const before = own.steps[index]!;
        if ("path" in step && "path" in before) {
          const [one, other] = [numberOf(here, before.table, before.path), numberOf(there, step.table, step.path)];
          if (one !== undefined && other !== undefined) expect(other).toBe(one);
        }
        here = after(here, migration(2, "ours", [before]));
        there = after(there, migration(3, "ours", [step]));
      }
      if (result.apart.length > 0) {
        seen.apart++;
        return;
      }
      seen.same++;
      expect(plain(after(here, incoming))).toEqual(plain(there));
    }),
    { numRuns: pairs },
  );
  // Each of them often enough to be sure of something.
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(rounds(20, 40));
});

describe("what a branch is told", () => {
  const base: Database = after(
    new Map(),
    migration(1, "start", [
      m.createTable("d", { a: m.int32(), b: m.int32(), s: m.struct({ x: m.int32(), y: m.utf8() }) }),
    ]),
  );
  const told = (theirs: readonly Step[], ours: readonly Step[], down?: readonly Step[]) =>
    rebase({
      base,
      incoming: [migration(2, "theirs", theirs)],
      own: [{ ...migration(2, "ours", ours), down }],
      capabilities,
    });
  const stepsThere = (theirs: readonly Step[], ours: readonly Step[], down?: readonly Step[]) => {
    const { moved } = told(theirs, ours, down);
    return down === undefined ? moved[0]!.steps : moved[0]!.down;
  };

  test.each<[string, readonly Step[], readonly Step[], readonly Step[]]>([
    [
      "names that were swapped",
      [
        m.alterColumns("d", [
          { path: "a", rename: "b" },
          { path: "b", rename: "a" },
        ]),
      ],
      [m.retypeColumn("d", "a", m.int64()), m.renameColumn("d", "a", "c"), m.setNullable("d", "c", false)],
      [m.retypeColumn("d", "b", m.int64()), m.renameColumn("d", "b", "c"), m.setNullable("d", "c", false)],
    ],
    [
      "a table and a struct in it",
      [m.renameTable("d", "e"), m.renameColumn("e", "s", "t")],
      [
        m.renameColumn("d", "s.x", "z"),
        m.addColumn("d", "s.n", m.int8()),
        m.dropColumn("d", "s.z"),
        m.createTable("n", { a: m.int8() }),
        m.dropColumn("d", "a"),
      ],
      [
        m.renameColumn("e", "t.x", "z"),
        m.addColumn("e", "t.n", m.int8()),
        m.dropColumn("e", "t.z"),
        m.createTable("n", { a: m.int8() }),
        m.dropColumn("e", "a"),
      ],
    ],
    [
      "columns of our own",
      [m.renameColumn("d", "a", "c")],
      [
        m.addColumn("d", "n", m.int8()),
        m.renameColumn("d", "n", "o"),
        m.alterColumns("d", [
          { path: "o", type: m.int16() },
          { path: "a", rename: "p" },
        ]),
      ],
      [
        m.addColumn("d", "n", m.int8()),
        m.renameColumn("d", "n", "o"),
        m.alterColumns("d", [
          { path: "o", type: m.int16() },
          { path: "c", rename: "p" },
        ]),
      ],
    ],
    [
      "rows and an index",
      [m.renameColumn("d", "a", "c")],
      [
        m.insertRows("d", [{ a: 1, b: 2 }], { key: "a" }),
        m.createIndex("d", "a", m.btree()),
        m.execute("d", { update: { a: "b + 1" } }),
      ],
      [
        m.insertRows("d", [{ c: 1, b: 2 }], { key: "c" }),
        m.createIndex("d", "c", m.btree(), { name: "a_idx" }),
        m.execute("d", { update: { c: "b + 1" } }),
      ],
    ],
    [
      "values that a module computes",
      [m.renameColumn("d", "a", "c")],
      [
        m.addColumn("d", "v", m.int32()),
        m.backfillColumn("d", "v", { from: ["b"], key: "a", with: "./b.ts", version: "1" }),
      ],
      [
        m.addColumn("d", "v", m.int32()),
        m.backfillColumn("d", "v", { from: ["b"], key: "c", with: "./b.ts", version: "1" }),
      ],
    ],
    [
      "rows that a module computes",
      [m.renameColumn("d", "a", "c"), m.renameTable("d", "e")],
      [
        m.createTable("n", { of: m.int32(), mark: m.utf8() }),
        m.populateTable("n", { ...populating, from: "d", columns: ["b"], key: "a", where: "b > 1" }),
      ],
      [
        m.createTable("n", { of: m.int32(), mark: m.utf8() }),
        m.populateTable("n", { ...populating, from: "e", columns: ["b"], key: "c", where: "b > 1" }),
      ],
    ],
  ])("%s", (_, theirs, ours, there) => {
    expect(stepsThere(theirs, ours)).toEqual(there);
  });

  test("what rolls it back goes by the names of after it", () => {
    const theirs = [m.renameColumn("d", "s", "t")];
    const ours = [m.renameColumn("d", "s.x", "z"), m.renameColumn("d", "a", "k")];
    const down = [m.renameColumn("d", "k", "a"), m.renameColumn("d", "s.z", "x"), m.setNullable("d", "s.x", false)];
    const there = [m.renameColumn("d", "k", "a"), m.renameColumn("d", "t.z", "x"), m.setNullable("d", "t.x", false)];
    expect(stepsThere(theirs, ours, down)).toEqual(there);
  });

  test("the order of new columns is a note", () => {
    const { apart, notes } = told([m.addColumn("d", "m", m.int8())], [m.addColumn("d", "n", m.int8())]);
    expect(apart).toEqual([]);
    expect(notes.join()).toContain("the columns are in another order");
  });

  test.each<[string, readonly Step[], readonly Step[], string]>([
    ["both cast", [m.retypeColumn("d", "a", m.int64())], [m.retypeColumn("d", "a", m.int16())], "column a is"],
    [
      "rows with the same key",
      [m.insertRows("d", [{ a: 1 }], { key: "a" })],
      [m.insertRows("d", [{ a: 1, b: 1 }], { key: "a" })],
      "both work on the rows of d",
    ],
    [
      "rows by another key",
      [m.insertRows("d", [{ a: 1, b: 2 }], { key: "b" })],
      [m.insertRows("d", [{ a: 1, b: 3 }], { key: "a" })],
      "both work on the rows of d",
    ],
    [
      "rows and a cast of their key",
      [m.retypeColumn("d", "a", m.int64())],
      [m.insertRows("d", [{ a: 1 }], { key: "a" })],
      "both work on the rows of d",
    ],
    [
      "rows and what refuses nulls",
      [m.setNullable("d", "a", false)],
      [m.execute("d", { update: { a: "1" }, where: "a is null" })],
      "both work on the rows of d",
    ],
    [
      "values of a column that is cast",
      [m.retypeColumn("d", "a", m.int64())],
      [m.execute("d", { update: { b: "a + 1" } })],
      "both work on the rows of d",
    ],
    [
      "SQL with a name of before",
      [m.execute("d", { delete: "A > 1" })],
      [m.renameColumn("d", "a", "c")],
      "d.a is used in SQL",
    ],
    ["a column that ours drops", [m.retypeColumn("d", "a", m.int64())], [m.dropColumn("d", "a")], "d.a is gone"],
  ])("the order matters: %s", (_, theirs, ours, because) => {
    expect(told(theirs, ours).apart.join()).toContain(because);
  });

  test.each<[string, readonly Step[], readonly Step[], string]>([
    [
      "a table that is gone",
      [m.dropTable("d")],
      [m.addColumn("d", "n", m.int8())],
      "d is gone: 0002_theirs (drop table d)",
    ],
    [
      "a field that is another, in rows",
      [m.renameColumn("d", "s.x", "z")],
      [m.insertRows("d", [{ a: 1, s: { x: 1, y: "" } }], { key: "a" })],
      "d.s.x is used in rows, and has another name there",
    ],
    [
      "a column from which SQL computes values",
      [m.renameColumn("d", "b", "c")],
      [
        m.addColumn("d", "v", m.int32()),
        m.backfillColumn("d", "v", { from: ["b"], key: "a", with: { sql: "b + 1" }, version: "1" }),
      ],
      "d.b is used in SQL, and has another name there",
    ],
    ["the same table", [m.createTable("n", { a: m.int8() })], [m.createTable("n", { a: m.int8() })], "n"],
  ])("it can't stand there: %s", (_, theirs, ours, because) => {
    expect(() => told(theirs, ours)).toThrow(because);
  });

  test("the step that can't stand there is named", () => {
    const fits = m.addColumn("d", "n", m.int8());
    expect(() => told([m.dropColumn("d", "a")], [fits, m.renameColumn("d", "a", "c")])).toThrow(/ours\.ts, step 2/);
  });

  test("the migration that it can't stand behind is named, of several", () => {
    const incoming = [
      migration(2, "first", [m.renameColumn("d", "a", "c")]),
      migration(3, "second", [m.dropColumn("d", "c")]),
      migration(4, "third", [m.addColumn("d", "a", m.int8())]),
    ];
    const own = [migration(2, "ours", [m.retypeColumn("d", "a", m.int64())])];
    expect(() => rebase({ base, incoming, own, capabilities })).toThrow(/it can't follow 0003_second/);
  });

  test("rows with other keys, and in other tables, are nobody's concern", () => {
    expect(
      told([m.insertRows("d", [{ a: 1 }], { key: "a" })], [m.insertRows("d", [{ a: 2 }], { key: "a" })]).apart,
    ).toEqual([]);
    expect(
      told(
        [m.createTable("n", { a: m.int8() }), m.execute("n", { delete: "a = 1" })],
        [m.execute("d", { delete: "a = 1" })],
      ).apart,
    ).toEqual([]);
  });
});
