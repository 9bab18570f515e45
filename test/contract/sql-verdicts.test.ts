/**
 * SQL that a run tries on an empty table before it changes anything. The engine must refuse everything that the trial
 * refuses, whatever is in the table, and the trial must refuse nothing that works.
 */
import { expect, test } from "vitest";
import { embed } from "../../src/features/embed/feature.ts";
import { up } from "../../src/commands/up.ts";
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { btree } from "../../src/schema/declare/index-builders.ts";
import {
  bool,
  date32,
  float64,
  int32,
  int64,
  struct,
  timestamp,
  utf8,
  vector,
} from "../../src/schema/declare/type-builders.ts";
import type { RowValue } from "../../src/schema/row-values.ts";
import {
  addColumn,
  backfillColumn,
  createIndex,
  createTable,
  dropColumn,
  execute,
  renameColumn,
  retypeColumn,
} from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { aMigration } from "../simulate/history.ts";
import { sourceOf } from "../simulate/start-run.ts";
import { memoryTables } from "../simulate/target/memory-tables.ts";
import { memoryTarget } from "../simulate/target/memory-target.ts";
import { temporaryFolder } from "../support/project.ts";
import { casesInTurn } from "../support/rounds.ts";
import { rowsOf } from "../support/tables.ts";

const columns = {
  id: int64().notNull(),
  Item: utf8(),
  n: int32(),
  ok: bool(),
  day: date32(),
  at: timestamp("us"),
  price: float64(),
  v: vector(2),
  s: struct({ x: int32(), y: utf8() }),
};
type Row = Readonly<Record<string, RowValue>>;
const rows: readonly Row[] = [
  { id: 1, Item: "7", n: 0, ok: true, v: [1, 2], s: { x: 1, y: "a" } },
  { id: 2, Item: "seven", n: 5, ok: false },
];

const update = (set: Readonly<Record<string, string>>, where?: string): Step =>
  execute("t", { update: set, ...(where !== undefined && { where }) });
const remove = (where: string): Step => execute("t", { delete: where });
const fill = (sql: string, where?: string, from: readonly string[] = ["Item"]): Step =>
  backfillColumn("t", "n", { from, key: "id", with: { sql }, version: "1", ...(where !== undefined && { where }) });

/** Applies steps to a table. Gives the error, if there is one, and the rows after it. */
async function aTable(given: readonly Row[]) {
  const folder = temporaryFolder();
  const { ledger } = memoryTarget({ name: "ledger", model: "embedded", tables: memoryTables() });
  const first = aMigration(1, [createTable("t", columns, { rows: given })]);
  const run = async (steps: readonly Step[], change: (target: Target) => Target = (target) => target) => {
    const engine = await open({ kind: "lance", uri: folder }, { name: "local", folder });
    const migrations = sourceOf(steps.length === 0 ? [first] : [first, aMigration(2, steps)]);
    const target = change({ ...engine, ledger });
    const given = {
      target,
      ledger: "_migrations",
      migrations,
      computing: embed.computing,
      lease: { duration: 600_000, patience: 0 },
    };
    const error = await up(given).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    await engine.close();
    if (error !== undefined && !isMigrateError(error)) throw error;
    return error;
  };
  expect(await run([])).toBeUndefined();
  return { run, rows: () => rowsOf(folder, "t") };
}

const withoutTrials = (target: Target): Target => ({ ...target, tryCall: undefined, countRows: undefined });

const inTurn = casesInTurn();
const tables: readonly (readonly Row[])[] = [rows, []];
/** For each commit every statement on one of the tables, in turn: the trial has none of their rows. */
const tablesOf = () => inTurn(tables);

const refused: readonly (readonly [step: Step | readonly Step[], words: string])[] = [
  [update({ n: "1" }, "nope = 1"), "no rows can be found where nope = 1: No field named nope. Valid fields are "],
  [update({ n: "nope" }), "t.n can't be computed from nope: No field named nope. "],
  [update({ ok: "true", n: "nope" }, "id > 0"), "t.n can't be computed from nope: No field named nope. "],
  [update({ ok: "true", n: "1" }, "id >> 0"), "no rows can be found where id >> 0: "],
  [update({ n: "character_length(item)" }), "(did you mean 'Item'?)"],
  [update({ n: "1 +* 2" }), "the SQL can't be read: Expected: an expression, found: *"],
  [update({ n: "1" }, "1 +* 2 = 3"), "the SQL can't be read: Expected: an expression, found: *"],
  [update({ n: "nofunc(id)" }), "Invalid function 'nofunc'"],
  [update({ n: "1" }, "nofunc(id)"), "Invalid function 'nofunc'"],
  [update({ n: "character_length(Item, 2)" }), "t.n can't be computed from character_length(Item, 2): "],
  [update({ n: "'x'" }), "Cannot cast string 'x' to value of Int32 type"],
  [update({ n: "'x'" }, "false"), "Cannot cast string 'x' to value of Int32 type"],
  [update({ n: "cast('x' as int)" }), "Cannot cast string 'x' to value of Int32 type"],
  [update({ n: "9999999999999" }), "Can't cast value 9999999999999 to type Int32"],
  [update({ n: "named_struct('a', 1)" }), "t.n can't be computed from named_struct('a', 1): "],
  [update({ n: "v" }), "t.n can't be computed from v: "],
  [update({ n: "s.z" }), "t.n can't be computed from s.z: "],
  [update({ n: "id + Item" }), "Cannot coerce arithmetic expression Int64 + Utf8 to valid types"],
  [update({ n: "sum(id)" }), "an aggregate such as sum or a window function such as row_number can't stand here"],
  [update({ n: "row_number() over ()" }), "a window function such as row_number can't stand here"],
  [update({ ok: "case when n = 0 then true end" }), "is not supported SQL in lance"],
  [update({ n: "(select 1)" }), "t.n can't be computed from (select 1): "],
  [update({ n: "1" }, "id in (select 1)"), "no rows can be found where id in (select 1): "],
  [update({ n: "1" }, "id"), "Filter predicate must return BOOLEAN values, got Int64"],
  [update({ n: "1" }, "null"), "Filter predicate must return BOOLEAN values, got Null"],
  [update({ n: "1" }, "id = 'x'"), 'Received literal Utf8("x") and could not convert to literal of type '],
  [update({ n: "1" }, "Item + 1 > 2"), "Cannot coerce arithmetic expression Utf8 + Int64 to valid types"],
  [update({ n: "1" }, "regexp_like(Item, '(')"), "regex parse error"],
  [remove("nope = 1"), "no rows can be found where nope = 1: No field named nope. "],
  [remove("id"), "The filter id does not return a boolean"],
  [remove("null"), "The filter NULL does not return a boolean"],
  [remove("id = 'x'"), 'Received literal Utf8("x") and could not convert to literal of type '],
  [remove("id +* 1 = 2"), "the SQL can't be read: Expected: an expression, found: *"],
  [remove("sum(id) > 1"), "an aggregate such as sum or a window function such as row_number can't stand here"],
  [remove("nofunc(1)"), "Invalid function 'nofunc'"],
  [remove("id in (select 1)"), "no rows can be found where id in (select 1): "],
  [fill("character_length(nope)"), "t.n can't be computed from character_length(nope): No field named nope. "],
  [fill("character_length(item)"), "(did you mean 'Item'?)"],
  [fill("1 +* 2"), "the SQL can't be read: Expected: an expression, found: *"],
  [fill("nofunc(Item)"), "t.n can't be computed from nofunc(Item): Invalid function 'nofunc'"],
  [fill("cast('x' as int)"), "t.n can't be computed from cast('x' as int): Cast error: Cannot cast string 'x'"],
  [fill("sum(id)"), "an aggregate such as sum or a window function such as row_number can't stand here"],
  [fill("Item + 1", undefined, ["Item"]), "Cannot coerce arithmetic expression Utf8 + Int64 to valid types"],
  [fill("named_struct('a', 1)"), "t.n can't be computed from named_struct('a', 1): "],
  [fill("1", "nope = 1"), "no rows can be found where nope = 1: No field named nope. "],
  [fill("nope", "id = 1"), "t.n can't be computed from nope: No field named nope. "],
  [fill("1", "id"), "no rows can be found where id: "],
  [[renameColumn("t", "n", "m"), update({ ok: "n > 1" })], "t.ok can't be computed from n > 1: No field named n"],
  [[dropColumn("t", "n"), remove("n > 1")], "no rows can be found where n > 1: No field named n. "],
  [
    [addColumn("t", "more", int32()), update({ more: "mor" })],
    "t.more can't be computed from mor: No field named mor ",
  ],
  [[retypeColumn("t", "id", int32()), update({ Item: "id || nofunc(1)" })], "Invalid function 'nofunc'"],
  [
    [createTable("u", { a: int32() }), execute("u", { delete: "b = 1" })],
    "no rows can be found where b = 1: No field named b. Valid fields are a",
  ],
];

const shown = (step: Step | readonly Step[]) =>
  [step].flat().map((one) => JSON.stringify({ ...one, table: undefined }));

test.each(refused.map(([step, words]) => [shown(step).join(", "), [step].flat(), words, tablesOf()] as const))(
  "the engine refuses what is refused in advance: %s",
  async (_, steps, words, among) => {
    for (const given of among) {
      const table = await aTable(given);
      const before = await table.rows();
      const ahead = await table.run(steps);
      expect(ahead).toMatchObject({ code: "ERR_STEP_WOULD_FAIL", message: expect.stringContaining(words) });
      expect(await table.rows()).toEqual(before);
      expect(await table.run(steps, withoutTrials)).toMatchObject({ code: "ERR_STEP_FAILED" });
    }
  },
);

const accepted: readonly (Step | readonly Step[])[] = [
  update({ n: "1" }),
  update({ n: "id" }),
  update({ n: "'12'" }),
  update({ n: "ok" }),
  update({ n: "12.7" }, "id = 1 and Item is not null"),
  update({ n: "null" }),
  update({ Item: "id" }),
  update({ Item: "concat('x', id)" }),
  update({ Item: "'x'" }, "ITEM = '7'"),
  update({ ok: "n > 3", Item: "cast(price as string)" }, "id in (1, 2)"),
  update({ day: "'2026-11-20'", at: "now()", price: "id / 3" }),
  update({ v: "null" }),
  update({ s: "named_struct('x', 1, 'y', 'b')" }),
  update({ n: "s.x" }),
  update({ n: "1 / 0" }, "false"),
  update({ ok: "coalesce(n, 0) = 0" }),
  update({ n: "cast(id / 2 as int)" }, "`Item` = 'seven' or `Item` like 's%'"),
  update({ n: "1" }, "_rowid >= 0"),
  update({ n: "1" }, "1 = 1"),
  update({ n: "1" }, "random() > 0.5"),
  update({ n: "1" }, "contains_tokens(Item, 'seven')"),
  update({ n: "1" }, "day < current_date() and at < now()"),
  remove("false"),
  remove("true"),
  remove("item = '7'"),
  remove("ok"),
  remove("id > 1 and (null)"),
  remove("n between 1 and 3 or s.y = 'a'"),
  fill("character_length(Item)"),
  fill("null"),
  fill("1"),
  fill("try_cast(Item as int)"),
  fill("1 / 0", "false"),
  fill("1", "item = '7'"),
  fill("1", "null"),
  fill("case when ok then 1 end", "id > 0", ["ok"]),
  [addColumn("t", "more", int32(), { as: "id" }), update({ Item: "more + 1" }, "more > 0"), remove("more = 2")],
  [renameColumn("t", "n", "m"), update({ m: "1" }, "m is null")],
  [createIndex("t", "n", btree()), update({ ok: "true" }, "n = 5"), remove("n > 3")],
  [createTable("u", { a: int32() }), execute("u", { update: { a: "1" } })],
  [
    addColumn("t", "new", int32()),
    backfillColumn("t", "new", { from: ["Item"], key: "id", with: { sql: "1" }, version: "1" }),
  ],
];

test.each(accepted.map((step) => [shown(step).join(", "), [step].flat(), tablesOf()] as const))(
  "nothing that works is refused in advance: %s",
  async (_, steps, among) => {
    for (const given of among) {
      const table = await aTable(given);
      expect(await table.run(steps)).toBeUndefined();
    }
  },
);

test.each([
  update({ price: "cast(Item as int)" }),
  update({ price: "10 / n" }),
  update({ ok: "true" }, "cast(Item as int) > 3"),
  remove("row_number() over () > 5"),
  remove("10 / n > 1"),
  update({ price: "1 / 0" }),
  backfillColumn("t", "price", { from: ["Item"], key: "id", with: { sql: "cast(Item as int)" }, version: "1" }),
])("only the rows show that this fails: %j", async (step) => {
  expect(await (await aTable(rows)).run([step])).toMatchObject({ code: "ERR_STEP_FAILED" });
  expect(await (await aTable([])).run([step])).toBeUndefined();
});
