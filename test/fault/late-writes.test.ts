/**
 * What an application writes while `down` runs is kept, or `down` stops before it destroys anything, or it names the version
 * that still has what it destroyed. For each kind of step, it is stated which of these happens at which moment.
 */
import { linkSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Table } from "@lancedb/lancedb";
import { expect, test } from "vitest";
import { embed } from "../../src/features/embed/feature.ts";
import { MigrateError } from "../../src/errors/migrate-error.ts";
import { systemClock } from "../../src/time/clock.ts";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { takeLease } from "../../src/ledger/lease/lease.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { btree } from "../../src/schema/declare/index-builders.ts";
import { float32, float64, int32, int64, largeUtf8, utf8 } from "../../src/schema/declare/type-builders.ts";
import {
  addColumn,
  addComputedColumn,
  alterColumns,
  backfillColumn,
  createIndex,
  createTable,
  dropColumn,
  dropIndex,
  execute,
  insertRows,
  optimizeTable,
  rebuildIndex,
  reembedColumn,
  refreshColumn,
  renameColumn,
  retypeColumn,
  setMetadata,
  setNullable,
} from "../../src/steps/index.ts";
import type { Step, StepName } from "../../src/steps/registry.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { drawnChance } from "../support/kill-moments.ts";
import { temporaryFolder, temporaryFolderOfFile } from "../support/project.ts";
import { isLong, rounds } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";

type Values = Readonly<Record<string, number | bigint | string | null>>;

interface Write {
  /** `values`: what it writes besides. */
  readonly write: (table: Table, values: Values) => Promise<unknown>;
  /** Whether a version of the table has what was written. */
  readonly isIn: (table: Table, values: Values) => Promise<boolean>;
}

const sql = (value: Values[string]) =>
  value === null ? "NULL" : typeof value === "string" ? `'${value}'` : String(value);

const isRow = async (table: Table, row: Values) => {
  const conditions = Object.entries(row).map(([name, value]) =>
    value === null ? `${name} IS NULL` : `${name} = ${sql(value)}`,
  );
  return (await table.countRows(conditions.join(" AND "))) === 1;
};

const inserted = (values: Values) => ({ id: 9, body: "new", ...values });
const updated = (values: Values) => ({ body: "PAID", ...values });
const merged = (values: Values) => ({ ...updated(values), id: 1 });

const writes = {
  "an append": {
    write: async (table, values) => await table.add([inserted(values)]),
    isIn: async (table, values) => await isRow(table, inserted(values)),
  },
  "an update": {
    write: async (table, values) => {
      const valuesSql = Object.entries(updated(values)).map(([name, value]) => [name, sql(value)]);
      await table.update({ where: "id = 1", valuesSql: Object.fromEntries(valuesSql) });
    },
    isIn: async (table, values) => await isRow(table, updated(values)),
  },
  "an update in place": {
    write: async (table, values) =>
      await table
        .mergeInsert("id")
        .whenMatchedUpdateAll()
        .execute([merged(values)]),
    isIn: async (table, values) => await isRow(table, merged(values)),
  },
  "a delete": {
    write: async (table) => await table.delete("id = 2"),
    isIn: async (table) => (await table.countRows("id = 2")) === 0,
  },
  "a compaction": { write: async (table) => await table.optimize(), isIn: async () => true },
} as const satisfies Readonly<Record<string, Write>>;

type WriteName = keyof typeof writes;

/**
 * When an application writes: before the check of `down` whether it may destroy what is there now; before the look at the
 * table that the call is based on; before the call itself; or after it.
 */
const moments = ["after the plan", "after the check", "before the call", "after the call"] as const;
type Moment = (typeof moments)[number];

/** `prevented`: `down` stops, and the table is as the application left it. `reported`: the version that `down` names has it. */
type Fate = "kept" | "prevented" | "reported";

interface Case {
  readonly name: string;
  /** The migration before, if that does not just create the table. */
  readonly before?: readonly Step[];
  readonly change: readonly Step[];
  /** What the application writes besides, while the table has such columns. */
  readonly values?: Values;
  /** The writes that the rollback would lose. It keeps all others, and all after its call. */
  readonly loses: readonly WriteName[];
  /** What becomes of these. */
  readonly fates?: Readonly<Record<Exclude<Moment, "after the call">, Fate>>;
  /** The rollback has no action. */
  readonly isNoCall?: boolean;
}

const columns = { id: int32().notNull(), body: utf8(), first: utf8(), x: float64(), f: float32(), n0: int32() };
const rows = [1, 2, 3].map((id) => ({ id, body: `b${id}`, first: `a${id}`, x: id / 8, f: id / 8, n0: id }));
const create = createTable("t", columns);
const indexed = [create, createIndex("t", "n0", btree())];
const upper = {
  from: ["first"],
  key: "id",
  with: fileURLToPath(new URL("../fixtures/upper.ts", import.meta.url)),
  version: "1",
} as const;

const valuesAndRows: readonly WriteName[] = ["an append", "an update", "an update in place"];
const whatWasThere: readonly WriteName[] = ["an update", "an update in place", "a delete"];
/** The engine commits on whatever version is the newest. */
const late = { "after the plan": "prevented", "after the check": "prevented", "before the call": "reported" } as const;
const never = {
  "after the plan": "prevented",
  "after the check": "prevented",
  "before the call": "prevented",
} as const;
const restored = { loses: whatWasThere, fates: late };

// A kind without an entry does not compile. The text is the reason why there is nothing to lose.
const steps = {
  addColumn: [
    {
      name: "a new column",
      change: [addColumn("t", "n", int32())],
      values: { n: 42 },
      loses: valuesAndRows,
      fates: late,
    },
    {
      name: "a new column with values",
      change: [addColumn("t", "n", int32(), { as: "7" })],
      values: { n: 42 },
      loses: valuesAndRows,
      fates: late,
    },
  ],
  addComputedColumn: [
    { name: "a computed column", change: [addComputedColumn("t", "c", int32(), "id * 2")], loses: [] },
  ],
  alterColumns: [
    {
      name: "a column of another type and name",
      change: [alterColumns("t", [{ path: "f", rename: "g", type: float64() }])],
      // float32 does not have it.
      values: { g: 0.1 },
      loses: valuesAndRows,
      // The check before its first commit does not hold for the later ones.
      fates: { ...late, "after the check": "reported" },
    },
  ],
  backfillColumn: [
    {
      name: "computed values",
      before: [create, addColumn("t", "n", utf8())],
      change: [backfillColumn("t", "n", upper)],
      ...restored,
    },
    {
      name: "a new column with computed values",
      change: [addColumn("t", "n", utf8()), backfillColumn("t", "n", upper)],
      values: { n: "mine" },
      loses: [...valuesAndRows, "a delete"],
      fates: late,
    },
  ],
  createIndex: [{ name: "a new index", change: [createIndex("t", "n0", btree())], loses: [] }],
  createTable: [
    {
      name: "a new table",
      before: [createTable("other", columns)],
      change: [createTable("t", columns, { rows })],
      loses: valuesAndRows,
      fates: never,
    },
    {
      name: "a new table that was changed",
      before: [createTable("other", columns)],
      change: [create, insertRows("t", rows, { key: "id" }), dropColumn("t", "x")],
      loses: valuesAndRows,
      fates: never,
    },
  ],
  dropColumn: [{ name: "a dropped column", change: [dropColumn("t", "x")], ...restored }],
  dropIndex: [{ name: "a dropped index", before: indexed, change: [dropIndex("t", "n0_idx")], loses: [] }],
  dropTable: "`down` refuses it before it changes anything, and the table is gone",
  execute: [
    { name: "updated rows", change: [execute("t", { update: { x: "0.5" } })], ...restored },
    { name: "deleted rows", change: [execute("t", { delete: "id = 3" })], ...restored },
  ],
  insertRows: [
    { name: "inserted rows", change: [insertRows("t", [{ id: 7, body: "g" }], { key: "id" })], ...restored },
  ],
  optimizeTable: [{ name: "a compacted table", change: [optimizeTable("t")], loses: [], isNoCall: true }],
  populateTable: "`down` restores the version before, as it does for insertRows",
  rebuildIndex: [
    { name: "a rebuilt index", before: indexed, change: [rebuildIndex("t", "n0_idx")], loses: [], isNoCall: true },
  ],
  reembedColumn: [
    {
      name: "values of another model",
      change: [reembedColumn("t", "body", { ...upper, type: largeUtf8() })],
      loses: valuesAndRows,
      fates: late,
    },
  ],
  refreshColumn: [
    {
      name: "refreshed values",
      before: [create, addComputedColumn("t", "c", int32(), "id * 2")],
      change: [refreshColumn("t", "c")],
      loses: [],
      isNoCall: true,
    },
  ],
  renameColumn: [{ name: "another name", change: [renameColumn("t", "x", "y")], loses: [] }],
  renameTable: "the embedded engine can't rename tables, and a service renames a table with all its rows",
  retypeColumn: [
    {
      name: "a wider column",
      change: [retypeColumn("t", "n0", int64())],
      values: { n0: 2n ** 40n },
      loses: valuesAndRows,
      // The engine refuses to make a value narrower that does not fit.
      fates: never,
    },
    {
      name: "a column with other values",
      change: [retypeColumn("t", "x", int32(), { using: "length(body)" })],
      values: { x: 42 },
      loses: [...valuesAndRows, "a delete"],
      fates: late,
    },
  ],
  setMetadata: [{ name: "metadata", change: [setMetadata("t", "x", { unit: "m" })], loses: [] }],
  setNullable: [
    {
      name: "a column that may be null",
      change: [setNullable("t", "id", true)],
      values: { id: null },
      loses: ["an append", "an update"],
      // The engine looks for nulls in the version that it commits on.
      fates: never,
    },
  ],
} as const satisfies Readonly<Record<StepName, readonly Case[] | string>>;

const allCases = Object.entries(steps).flatMap(([kind, cases]: [string, readonly Case[] | string]) =>
  typeof cases === "string" ? [] : cases.map((one) => ({ ...one, kind: kind as StepName })),
);

const has = async (table: Table, name: string) => (await table.schema()).fields.some((field) => field.name === name);

/** A table that a migration has changed, as `down` finds it. The engine never changes a file that it has written, so a link is a copy. */
async function aWorld({ before = [create], change }: Pick<Case, "before" | "change">) {
  const folder = temporaryFolder();
  link(await originOf([before, change]), folder);
  return await worldIn(folder);
}

function link(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, place] = [join(from, entry.name), join(to, entry.name)];
    if (!entry.isDirectory()) linkSync(source, place);
    else {
      mkdirSync(place);
      link(source, place);
    }
  }
}

/** The folders that worlds are copies of. */
const origins = new Map<string, string>();
const home = temporaryFolderOfFile();

async function worldIn(folder: string) {
  const target = await openLance({ kind: "lance", uri: folder }, { name: "late", folder });
  const lease = { duration: 30_000, patience: 5_000 };
  const files = join(folder, "migrations");
  const options: MigratorOptions = {
    target,
    migrations: migrationsIn(files),
    ledger: "_migrations",
    lease,
    folder,
    computing: embed.computing,
  };
  const connect = async () => await lancedb.connect(folder);
  const open = async () => await (await connect()).openTable("t");
  return { options, files, open, exists: async () => (await (await connect()).tableNames()).includes("t") };
}

/** A folder with these migrations applied. After the first one, the application has filled its table. */
async function originOf(migrations: readonly (readonly Step[])[]): Promise<string> {
  const key = JSON.stringify(migrations);
  const origin = origins.get(key) ?? (await anOrigin(migrations));
  origins.set(key, origin);
  return origin;
}

async function anOrigin(migrations: readonly (readonly Step[])[]): Promise<string> {
  const folder = mkdtempSync(join(home, "origin-"));
  const [last, ...others] = migrations.toReversed();
  if (others.length > 0) link(await originOf(others.toReversed()), folder);
  const { options, files, open, exists } = await worldIn(folder);
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, `000${migrations.length}_steps.mjs`), `export const up = ${JSON.stringify(last)};\n`);
  await up(options);
  if (others.length === 0 && (await exists())) {
    await (await open()).add(rows);
    await (await open()).createIndex("id");
  }
  await options.target.close();
  return folder;
}

/** The same target, beside which an application writes. `times`: how often; once when absent. */
function beside(target: Target, moment: Moment, write: () => Promise<unknown>, times = 1) {
  let isPlanned = false;
  let isBegun = false;
  let written = 0;
  let calls = 0;
  const at = async (now: Moment) => {
    if (!isPlanned || written === times || now !== moment) return;
    written++;
    await write();
  };
  const besides: Target = {
    ...target,
    async describeTable(table, withIndexes) {
      if (table === "t") await at("after the plan");
      if (table === "t" && isBegun) {
        isBegun = false;
        await at("after the check");
      }
      return await target.describeTable(table, withIndexes);
    },
    async execute(action, seen) {
      calls++;
      await at("before the call");
      const version = await target.execute(action, seen);
      await at("after the call");
      return version;
    },
  };
  const emit: MigratorOptions["emit"] = ({ event }) => {
    isPlanned ||= event === "planned";
    isBegun ||= event === "action";
  };
  return { target: besides, emit, calls: () => calls };
}

/** Rolls back. Gives the error, if there is one. */
async function problemOf(options: MigratorOptions): Promise<unknown> {
  return await down(options).then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** The version that holds what was lost, by the error. */
async function versionNamedIn(problem: unknown, open: () => Promise<Table>): Promise<Table | undefined> {
  const version = /version (\d+)[^;]* still holds/.exec(String(problem))?.[1];
  if (version === undefined) return undefined;
  const table = await open();
  await table.checkout(Number(version));
  return table;
}

async function idsIn(table: Table | undefined): Promise<readonly number[]> {
  const rows = await table?.query().where("id >= 100").select(["id"]).toArray();
  return (rows ?? []).map(({ id }) => Number(id));
}

const fieldsOf = async (table: Table) => (await table.schema()).fields.map(String);

type Kinded = (typeof allCases)[number];

/**
 * What is tried for each commit: every write at every moment beside the drop of a table, because no version holds what is
 * lost with it; and otherwise, of the writes that a rollback would lose, one at each second moment, and some of the others.
 */
function isInSample({ name, loses }: Kinded, one: number, write: WriteName, two: number, three: number): boolean {
  if (isLong || name === "a new table") return true;
  if (loses.includes(write))
    return three < 3 && (one + three) % 2 === 0 && write === loses[(one + three) % loses.length];
  return one % 2 === 0 && three === one % 4 && two === (one + three) % 5;
}

const cases = allCases
  .filter(({ isNoCall }) => isNoCall !== true)
  .flatMap((one, index) =>
    (Object.keys(writes) as WriteName[]).flatMap((write, two) =>
      moments
        .filter((_, three) => isInSample(one, index, write, two, three))
        .map((moment) => {
          const isKept = moment === "after the call" || !one.loses.includes(write);
          return [write, moment, isKept ? "kept" : one.fates![moment], one.name, one] as const;
        }),
    ),
  );

test.each(cases)("%s %s is %s: %s", async (name, moment, fate, _, one) => {
  const { options, open, exists } = await aWorld(one);
  const before = await fieldsOf(await open());
  const values: Record<string, Values[string]> = {};
  let isAcknowledged: boolean | undefined;
  const { target, emit } = beside(options.target, moment, async () => {
    isAcknowledged = false;
    // A table that was dropped, or that has the guard of a later commit, takes no writes.
    if (moment === "after the call" && !(await exists())) return;
    const table = await open();
    for (const [column, value] of Object.entries(moment === "after the call" ? {} : (one.values ?? {})))
      if (await has(table, column)) values[column] = value;
    await writes[name].write(table, values).then(
      () => (isAcknowledged = true),
      (error: unknown) => expect([moment, String(error)]).toEqual(["after the call", expect.anything()]),
    );
  });
  const problem = await problemOf({ ...options, target, emit });
  expect(isAcknowledged).toBeDefined();
  const isIn = async (table: Table | undefined) =>
    table !== undefined && (await writes[name].isIn(table, values).catch(() => false));
  if (fate === "kept") expect(problem).toBeUndefined();
  else expect(problem).toMatchObject({ name: "MigrateError", outcome: "failed" });
  if (fate === "kept" && one.kind === "createTable") expect(await exists()).toBe(false);
  else if (fate !== "reported" && isAcknowledged) expect(await isIn(await open()), String(problem)).toBe(true);
  if (fate === "prevented") expect(await fieldsOf(await open())).toEqual(before);
  if (fate === "reported") {
    expect(await isIn(await open())).toBe(false);
    expect(await isIn(await versionNamedIn(problem, open)), String(problem)).toBe(true);
  }
  await options.target.close();
});

const noCalls = allCases.filter(({ isNoCall }) => isNoCall).slice(0, rounds(1, Infinity));

test.each(noCalls)("the rollback of $name calls nothing", async (one) => {
  const { options } = await aWorld(one);
  const { target, emit, calls } = beside(options.target, "before the call", async () => {});
  expect([await problemOf({ ...options, target, emit }), calls()]).toEqual([undefined, 0]);
  await options.target.close();
});

/** Of another client. */
async function cleanUp(table: Table): Promise<void> {
  await table.optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });
}

const withoutList = (error: Error) => (target: Target) => ({
  ...target,
  versions: { ...target.versions!, list: async () => await Promise.reject(error) },
});
const noList = new Error("the list is out of reach");
const unreachable = new MigrateError("ERR_TARGET_UNREACHABLE", { target: "late", problem: "no route" });

const [aColumn] = steps.addColumn;
const [aDrop] = steps.dropColumn;

test.each([
  [
    "another client cleans up old versions",
    cleanUp,
    (target: Target) => target,
    /version \d+ was cleaned up; .*metadata/,
  ],
  ["old versions can't be listed", async () => {}, withoutList(noList), /the list is out of reach/],
  ["the target is out of reach then", async () => {}, withoutList(unreachable), /no route/],
] as const)("that it is unknown whether writes were lost is reported when %s", async (_, afterwards, change, words) => {
  const { options, open } = await aWorld(aColumn);
  const fill = async () => void (await (await open()).update({ where: "id = 1", valuesSql: { n: "42" } }));
  const filled = beside(change(options.target), "before the call", fill);
  const { target, emit } = beside(filled.target, "after the call", async () => await afterwards(await open()));
  const both: MigratorOptions["emit"] = (event) => {
    filled.emit(event);
    emit(event);
  };
  const problem = await problemOf({ ...options, target, emit: both });
  expect(problem).toMatchObject({ code: "ERR_WRITES_UNKNOWN", outcome: "failed" });
  expect(String(problem)).toMatch(words);
  expect(String(problem)).toContain("others wrote to t after version 4");
  await options.target.close();
});

test("what comes after the call is not reported as lost with what came before it", async () => {
  const { options, open } = await aWorld(steps.addColumn[1]);
  const compacting = beside(options.target, "before the call", async () => void (await (await open()).optimize()));
  const append = async () => void (await (await open()).add([{ id: 9, body: "new" }]));
  const { target, emit } = beside(compacting.target, "after the call", append);
  const both: MigratorOptions["emit"] = (event) => {
    compacting.emit(event);
    emit(event);
  };
  expect(await problemOf({ ...options, target, emit: both })).toBeUndefined();
  expect(await (await open()).countRows("id = 9")).toBe(1);
  await options.target.close();
});

test.each(moments)("a value that is written %s of an earlier action is not dropped with its column", async (moment) => {
  const { options, open } = await aWorld({ change: [addColumn("t", "n", int32()), renameColumn("t", "x", "y")] });
  const fill = async () => void (await (await open()).update({ where: "id = 1", valuesSql: { n: "42" } }));
  const { target, emit } = beside(options.target, moment, fill);
  expect(await problemOf({ ...options, target, emit })).toMatchObject({ code: "ERR_ROLLBACK_STOPPED" });
  expect(await (await open()).countRows("n = 42")).toBe(1);
  expect(await has(await open(), "x")).toBe(true);
  await options.target.close();
});

test.each(moments)("values written %s of one column's drop are not dropped with a second column", async (moment) => {
  const { options, open } = await aWorld({ change: [addColumn("t", "n", int32()), addColumn("t", "m", int32())] });
  const fill = async () => void (await (await open()).update({ where: "id = 1", valuesSql: { n: "42" } }));
  const { target, emit } = beside(options.target, moment, fill);
  expect(await problemOf({ ...options, target, emit })).toMatchObject({
    code: expect.stringMatching(/^ERR_(ROLLBACK_STOPPED|WRITES_LOST)$/),
  });
  expect(await (await open()).countRows("n = 42")).toBe(1);
  await options.target.close();
});

test.each(moments)("rows written %s of a restore, and reinserted, are not dropped with the table", async (moment) => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "migrations"));
  for (const [index, step] of [create, dropColumn("t", "x")].entries())
    writeFileSync(
      join(folder, "migrations", `000${index + 1}_m.mjs`),
      `export const up = ${JSON.stringify([step])};\n`,
    );
  const { options, open } = await worldIn(folder);
  await up(options);
  const append = async () => void (await (await open()).add([{ id: 9, body: "new" }]));
  const { target, emit } = beside(options.target, moment, append);
  const late = down({ ...options, target, emit }, { to: 0, reinsert: true });
  await expect(late).rejects.toMatchObject({ code: "ERR_ROLLBACK_STOPPED" });
  expect(await (await open()).countRows("id = 9")).toBe(1);
  await options.target.close();
});

test("the version that was restored is released only once the ledger says so", async () => {
  const { options } = await aWorld(aDrop);
  const { target } = options;
  const seen: unknown[] = [];
  const release = async (table: string, name: string) => {
    const { migrations } = foldLedger(await journalOf(target, options.ledger).read());
    seen.push([table, name, migrations.get(2)?.status ?? "pending"]);
    await target.versions!.release(table, name);
  };
  await down({ ...options, target: { ...target, versions: { ...target.versions!, release } } });
  expect(seen).toEqual([["t", expect.stringMatching(/^0002\.v\d+\.e\d+$/), "pending"]]);
  expect(await target.versions!.kept("t")).toEqual([]);
  await target.close();
});

test("a version is kept while rows that came after it are still to be reinserted", async () => {
  // Where the migration writes rows itself, only the version that it left tells which ones came later.
  const change = [dropColumn("t", "x"), insertRows("t", [{ id: 7, body: "g" }], { key: "id" })];
  const { options, files, open } = await aWorld({ change });
  writeFileSync(join(files, "0003_again.mjs"), `export const up = ${JSON.stringify([dropColumn("t", "n0")])};\n`);
  await up(options);
  await (await open()).add([{ id: 9, body: "new" }]);
  const { target } = options;
  const release = async (table: string, name: string) => {
    await target.versions!.release(table, name);
    await (await open()).optimize({ cleanupOlderThan: new Date(), deleteUnverified: true });
  };
  const cleaning: Target = { ...target, versions: { ...target.versions!, release } };
  await down({ ...options, target: cleaning }, { to: 1, reinsert: true });
  expect(await (await open()).countRows("id = 9")).toBe(1);
  expect(await has(await open(), "x")).toBe(true);
  expect(await target.versions!.kept("t")).toEqual([]);
  await target.close();
});

/** A clock on which a run oversleeps: whenever that is called, another one takes the lease over. */
function oversleeping({ target, ledger }: MigratorOptions) {
  let slept = 0;
  const oversleep = async () => {
    slept = 1e9;
    const journal = journalOf(target, ledger);
    const other = { by: "other", run: "other", tool: "test" };
    const terms = { duration: 30_000, clock: systemClock };
    (await takeLease(journal, foldLedger(await journal.read()), other, undefined, terms))!.abandon();
  };
  return { clock: { ...systemClock, steady: () => systemClock.steady() + slept }, oversleep };
}

test("a run that was overtaken while it recorded the end releases nothing that the next one may still need", async () => {
  const { options } = await aWorld(aDrop);
  const { target } = options;
  const store = target.ledger as Extract<Target["ledger"], { kind: "rows" }>;
  const { clock, oversleep } = oversleeping(options);
  const records: typeof store.records = (shape) => {
    const table = store.records(shape);
    const insert: typeof table.insert = async (rows) => {
      if (rows.some(({ event }) => event === "reverted")) await oversleep();
      await table.insert(rows);
    };
    return { ...table, insert };
  };
  const late = down({ ...options, clock, target: { ...target, ledger: { kind: "rows", records } } });
  await expect(late).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  expect(await target.versions!.kept("t")).toMatchObject([{ name: expect.stringMatching(/^0002\.v/) }]);
  await target.close();
});

// The other one may have begun to apply again what was rolled back: then each direction would ask for the other one first.
test("a run that was overtaken before it turns to the next migration does not record that it rolls that back", async () => {
  const { options, files } = await aWorld(aDrop);
  writeFileSync(join(files, "0003_again.mjs"), `export const up = ${JSON.stringify([dropColumn("t", "n0")])};\n`);
  await up(options);
  const { target } = options;
  const { clock, oversleep } = oversleeping(options);
  const release = async (table: string, name: string) => {
    await target.versions!.release(table, name);
    await oversleep();
  };
  const overtaken = { ...options, clock, target: { ...target, versions: { ...target.versions!, release } } };
  const late = down(overtaken, { to: 1, accept: ["lossy"] });
  await expect(late).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  const { migrations } = foldLedger(await journalOf(target, options.ledger).read());
  expect([...migrations.values()].map(({ version, reversal }) => [version, reversal])).toEqual([
    [1, undefined],
    [2, undefined],
  ]);
  await target.close();
});

/** A write that has begun when its table is dropped is the engine's to refuse. */
const staying = allCases.filter(({ kind, loses }) => kind !== "createTable" && loses.length > 0);

test("of writes at any moment none is lost silently", async () => {
  const { chance } = drawnChance();
  for (let round = 0; round < rounds(2, 180); round++) {
    const { options, open } = await aWorld(staying[round % staying.length]!);
    const ids: number[] = [];
    const over = new AbortController();
    const writing = (async () => {
      // The first one may come when the plan is made. Without pauses nobody else would get to make a commit.
      await pause(60 * chance.next());
      for (let id = 100; !over.signal.aborted; id++) {
        await pause(10 * chance.next());
        await (await open()).add([{ id, body: "new" }]).then(
          () => ids.push(id),
          () => {},
        );
      }
    })();
    const problem = await problemOf(options);
    over.abort();
    await writing;
    // Once `down` has ended with an error, the application continues with the restored table.
    const kept = new Set([...(await idsIn(await open())), ...(await idsIn(await versionNamedIn(problem, open)))]);
    expect(
      ids.filter((id) => !kept.has(id)),
      `lost; ${String(problem)}`,
    ).toEqual([]);
    await options.target.close();
  }
});
