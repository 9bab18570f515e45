/** Columns that get their values from an expression: they have exactly the type and nullability of the plan. */
import { expect, test } from "vitest";
import { up } from "../../src/commands/up.ts";
import * as types from "../../src/schema/declare/type-builders.ts";
import { columnsOf } from "../../src/schema/declare/type-builders.ts";
import type { NullableType } from "../../src/schema/typed/shape.ts";
import { risksOf } from "../../src/actions/apply-action.ts";
import { formatType, type DataType } from "../../src/schema/data-type.ts";
import { addColumn, createTable, retypeColumn } from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { memoryTarget } from "../simulate/target/memory-target.ts";
import { memoryTables } from "../simulate/target/memory-tables.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import type { LedgerStore } from "../../src/targets/contract/ledger-store.ts";
import { isMigrateError } from "../../src/errors/migrate-error.ts";
import { aMigration } from "../simulate/history.ts";
import { temporaryFolder } from "../support/project.ts";
import { isLong, ofThisCommit } from "../support/rounds.ts";
import { lancedb, rowsOf, versionsOf } from "../support/tables.ts";
import { sourceOf } from "../simulate/start-run.ts";

const integers = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"] as const;
const floats = ["float32", "float64"] as const;

/** Every plain type, with a value of it in SQL, and the families that the engine casts it to and from. */
const values: readonly (readonly [NullableType, string, string])[] = [
  ...integers.map((kind) => [types[kind](), "7", "number"] as const),
  ...floats.map((kind) => [types[kind](), "7", "number"] as const),
  [types.float16(), "7", "half"],
  [types.decimal128(10, 2), "7", "decimal"],
  [types.bool(), "true", "bool"],
  [types.utf8(), "'7'", "text"],
  [types.largeUtf8(), "'7'", "text"],
  [types.binary(), "X'37'", "binary"],
  [types.largeBinary(), "X'37'", "binary"],
  [types.date32(), "date '2026-11-20'", "time"],
  [types.date64(), "date '2026-11-20'", "time"],
  ...(["s", "ms", "us", "ns"] as const).map(
    (unit) => [types.timestamp(unit), "timestamp '2026-11-20T12:00:00'", "time"] as const,
  ),
  [types.timestamp("us", "Europe/Berlin"), "timestamp '2026-11-20T12:00:00'", "time"],
];

/** Which families become which by a cast in SQL, of these values. */
const casts: Readonly<Record<string, readonly string[]>> = {
  number: ["number", "half", "decimal", "text"],
  half: ["number", "half", "text"],
  decimal: ["number", "decimal", "text"],
  bool: ["bool", "number", "half", "text"],
  text: ["text", "number", "half", "decimal"],
  binary: ["binary", "text"],
  time: ["time", "text"],
};

/** Of each folder; in memory, for speed. */
const ledgers = new Map<string, LedgerStore>();

/** Each list of steps as a migration. */
async function apply(folder: string, ...all: readonly (readonly Step[])[]): Promise<void> {
  const engine = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const ledger =
    ledgers.get(folder) ?? memoryTarget({ name: "ledger", model: "embedded", tables: memoryTables() }).ledger;
  ledgers.set(folder, ledger);
  const target: Target = { ...engine, ledger };
  const migrations = all.map((steps, index) => aMigration(index + 1, steps));
  await up({
    target,
    ledger: "_migrations",
    migrations: sourceOf(migrations),
    lease: { duration: 600_000, patience: 0 },
  });
  await target.close();
}

async function columnsIn(folder: string) {
  const target = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  const columns = (await target.describeTable("t"))!.table.columns;
  await target.close();
  return columns;
}

const create = createTable("t", { id: types.int32().notNull() }, { rows: [{ id: 1 }, { id: 2 }] });
const each = values.map(([type, sql, family]) => [formatType(type.type), type, sql, family] as const);

test.each(ofThisCommit(each, 2))("constants, columns and nulls give %s as it was asked for", async (_, type, sql) => {
  const folder = temporaryFolder();
  await apply(folder, [
    create,
    addColumn("t", "strict", type.notNull(), { as: sql }),
    addColumn("t", "loose", type, { as: sql }),
    addColumn("t", "partly", type, { as: `case when id = 1 then ${sql} end` }),
    addColumn("t", "empty", type, { as: "null" }),
    addColumn("t", "bare", type),
  ]);
  const asked = { strict: type.notNull(), loose: type, partly: type, empty: type, bare: type };
  expect(await columnsIn(folder)).toEqual(columnsOf({ id: types.int32().notNull(), ...asked }));
  const [one, other] = (await rowsOf(folder, "t")) as [Record<string, unknown>, Record<string, unknown>];
  expect(one["strict"]).not.toBeNull();
  expect([one["loose"], one["partly"], other["strict"], other["loose"]]).toEqual(Array(4).fill(one["strict"]));
  expect([other["partly"], one["empty"], one["bare"]]).toEqual([null, null, null]);
});

test.each<[string, NullableType]>([
  ["0", types.int64()],
  ["-1", types.float32()],
  ["+2.50", types.decimal128(10, 2)],
  ["'it''s'", types.utf8()],
  ["''", types.binary()],
  ["'2026-11-20'", types.date32()],
  ["FALSE", types.bool()],
])("the literal %s gives a column that is not null in one version", async (sql, type) => {
  const folder = temporaryFolder();
  await apply(folder, [create], [addColumn("t", "n", type.notNull(), { as: sql })]);
  expect(await columnsIn(folder)).toEqual(columnsOf({ id: types.int32().notNull(), n: type.notNull() }));
  expect(await versionsOf(folder)).toEqual({ t: 2 });
});

/** For each commit one type of each family, which the engine casts in the same way; every night all types. */
const families = Map.groupBy(each, ([, , , family]) => family);
const sources = isLong ? each : [...families.values()].map((all) => all[all.length >> 1]!);

test.each(sources)("from %s every type that SQL casts it to", async (_, from, sql, family) => {
  const folder = temporaryFolder();
  const others = values.filter(([, , other]) => casts[family]!.includes(other)).map(([type]) => type);
  const nameOf = ({ type }: NullableType, strict: boolean) =>
    formatType(type).replace(/\W+/g, "_") + (strict ? "!" : "");
  // For each commit, every second type as not null and the others as nullable.
  const asked = others
    .flatMap((to) => [[to, true] as const, [to, false] as const])
    .filter((_, at) => isLong || at % 4 === 0 || at % 4 === 3);
  await apply(folder, [
    create,
    addColumn("t", "from", from.notNull(), { as: sql }),
    ...asked.map(([to, strict]) =>
      addColumn("t", `a ${nameOf(to, strict)}`, strict ? to.notNull() : to, { as: "`from`" }),
    ),
    ...asked.flatMap(([to, strict]) => [
      addColumn("t", `u ${nameOf(to, strict)}`, strict ? from.notNull() : from, { as: sql }),
      retypeColumn("t", `u ${nameOf(to, strict)}`, to, { using: `\`u ${nameOf(to, strict)}\`` }),
    ]),
  ]);
  const found = await columnsIn(folder);
  const wanted = (kind: string): readonly (readonly [string, DataType, boolean])[] =>
    asked.map(([to, strict]) => [`${kind} ${nameOf(to, strict)}`, to.type, !strict]);
  expect(found.slice(2).map(({ name, type, nullable }) => [name, type, nullable])).toEqual([
    ...wanted("a"),
    ...wanted("u"),
  ]);
});

test.each<[string, NullableType, string]>([
  ["text that is no number", types.int32(), "'seven'"],
  ["a number that does not fit", types.int8(), "id * 1000"],
  ["a missing column", types.int32(), "nope"],
  ["nulls where there may be none", types.int32().notNull() as unknown as NullableType, "nullif(id, 2)"],
])("%s stop a column, and the table stays as it was", async (_, type, sql) => {
  const folder = temporaryFolder();
  await apply(folder, [create]);
  const before = await columnsIn(folder);
  const error = await apply(folder, [create], [addColumn("t", "n", type, { as: sql })]).catch(
    (thrown: unknown) => thrown,
  );
  expect(isMigrateError(error, "ERR_STEP_WOULD_FAIL")).toBe(true);
  expect(await columnsIn(folder)).toEqual(before);
});

const bigger = 2n ** 53n + 1n;
/**
 * Columns, a value of each that is as full as can be, and what becomes of it as int8, int16, int32, int64, float32, float64,
 * decimal128(10, 2), float16 and bool: `=` it is kept, `?` it is kept and others might not be, `-` it is cut, `x` it is refused.
 */
const full: readonly (readonly [NullableType, string, string])[] = [
  [types.int8(), "127", "========-"],
  [types.int16(), "32767", "x======--"],
  [types.int32(), "2147483647", "xx==-=x--"],
  [types.int64(), String(bigger), "xxx=--x--"],
  [types.float32(), "0.1", "----==?--"],
  [types.float64(), "1.7", "-----=?--"],
  [types.decimal128(10, 2), "1.75", "----??=xx"],
];

const results = [...full.map(([to]) => to), types.float16(), types.bool()];

test.each(full.map(([from, value, outcomes]) => [formatType(from.type), from, value, outcomes] as const))(
  "what a cast of %s may cut is noted before",
  async (_, from, value, outcomes) => {
    const folder = temporaryFolder();
    const steps: (readonly Step[])[] = [[create, addColumn("t", "a", from, { as: value })]];
    const given = results.map((to, at) => ({ to, at, expected: outcomes[at]! }));
    const cast = ({ to, at }: (typeof given)[number]) => addColumn("t", `b${at}`, to, { as: "a" });
    const back = ({ at }: (typeof given)[number]) => addColumn("t", `c${at}`, from, { as: `b${at}` });
    /** Whether a migration with these steps runs; if not, nothing of it was done. */
    const runs = async (...more: readonly Step[]): Promise<unknown> => {
      const failed = await apply(folder, ...steps, more).catch((error: unknown) => error);
      if (failed === undefined) steps.push(more);
      return failed;
    };
    await apply(folder, ...steps);
    const target = await open({ kind: "lance", uri: folder }, { name: "local", folder });
    const { table } = (await target.describeTable("t"))!;
    await target.close();
    const noted = given.map(({ to }) => {
      const added = { name: "b", type: to.type, nullable: true, as: "a" };
      return risksOf({ kind: "addColumns", table: "t", columns: [added] }, table).some(({ kind }) => kind === "loss");
    });
    for (const one of given.filter(({ expected }) => expected === "x"))
      expect(await runs(cast(one)), formatType(one.to.type)).toMatchObject({ code: "ERR_STEP_WOULD_FAIL" });
    const done = given.filter(({ expected }) => expected !== "x");
    expect(await runs(...done.map(cast))).toBeUndefined();
    // What is kept comes back all at once. Infinity, which a large number becomes, is refused on the way back.
    const [cut, kept] = [
      done.filter(({ expected }) => expected === "-"),
      done.filter(({ expected }) => expected !== "-"),
    ];
    expect(await runs(...kept.map(back))).toBeUndefined();
    for (const one of cut) await runs(back(one));
    const [row] = await (await (await lancedb.connect(folder)).openTable("t")).query().toArray();
    expect(
      done.map(({ to, at, expected }) => ({
        to: formatType(to.type),
        isKept: String(row![`c${at}`]) === String(row!["a"]),
        noted: noted[at],
        expected,
      })),
    ).toEqual(
      done.map(({ to, expected }) => ({
        to: formatType(to.type),
        isKept: expected !== "-",
        noted: expected !== "=",
        expected,
      })),
    );
    expect(Object.keys(row!).filter((name) => name.startsWith("b"))).toEqual(done.map(({ at }) => `b${at}`));
  },
);

test.each([
  ["Item +* 1", "ERR_STEP_WOULD_FAIL", /the SQL can't be read: Expected: an expression, found: \*$/],
  ["lower(item)", "ERR_STEP_WOULD_FAIL", /No field named item \(did you mean 'Item'\?\)$/],
  [
    "sum(id)",
    "ERR_STEP_WOULD_FAIL",
    /an aggregate such as sum or a window function such as row_number can't stand here$/,
  ],
  // The trial asks whether the value is null. The engine knows that for row_number without computing it.
  [
    "row_number() over ()",
    "ERR_STEP_FAILED",
    /an aggregate such as sum or a window function such as row_number can't stand here;/,
  ],
])("what the engine says of %s is told without what nobody wrote", async (as, code, words) => {
  const made = createTable("t", { id: types.int32().notNull(), Item: types.utf8() }, { rows: [{ id: 1, Item: "a" }] });
  const failed = await apply(temporaryFolder(), [made], [addColumn("t", "b", types.utf8(), { as })]).catch(
    (error: unknown) => error,
  );
  expect(failed).toMatchObject({ code, message: expect.stringMatching(words) });
});
