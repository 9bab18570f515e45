/** What an application writes while `down` runs is kept, or `down` fails and the table, or a version that it names, still has it. */
import { linkSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Table } from "@lancedb/lancedb";
import { expect, test } from "vitest";
import { systemClock } from "../../src/time/clock.ts";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { takeLease } from "../../src/ledger/lease/lease.ts";
import { migrationsIn } from "../../src/migrations/source.ts";
import { down } from "../../src/commands/down.ts";
import { up } from "../../src/commands/up.ts";
import type { MigratorOptions } from "../../src/run/run-context.ts";
import { float64, int32, int64, utf8 } from "../../src/schema/declare/type-builders.ts";
import {
  addColumn,
  createTable,
  dropColumn,
  execute,
  insertRows,
  retypeColumn,
  setNullable,
} from "../../src/steps/index.ts";
import type { Step } from "../../src/steps/registry.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { temporaryFolder, temporaryFolderOfFile } from "../support/project.ts";
import { isLong, rounds } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";

const steps: Readonly<Record<string, readonly Step[]>> = {
  "a dropped column": [dropColumn("t", "x")],
  "a new column": [addColumn("t", "n", int32())],
  "a new column with values": [addColumn("t", "n", int32(), { as: "7" })],
  "a wider column": [retypeColumn("t", "n0", int64())],
  "a column with other values": [retypeColumn("t", "x", int32(), { using: "length(body)" })],
  "updated rows": [execute("t", { update: { x: "0.5" } })],
  "deleted rows": [execute("t", { delete: "id = 3" })],
  "inserted rows": [insertRows("t", [{ id: 7, body: "g" }], { key: "id" })],
  "a column that may be null": [setNullable("t", "id", true)],
};

interface Write {
  /** Undefined where the table has no such column. */
  readonly write: (table: Table) => Promise<unknown>;
  readonly filter: string;
  readonly rows: number;
}

const has = async (table: Table, name: string) => (await table.schema()).fields.some((field) => field.name === name);

const writes: Readonly<Record<string, Write>> = {
  "an append": {
    write: async (table) => await table.add([{ id: 9, body: "new", ...((await has(table, "n")) ? { n: 9 } : {}) }]),
    filter: "id = 9 AND body = 'new'",
    rows: 1,
  },
  "an update": {
    write: async (table) => await table.update({ where: "id = 1", values: { body: "PAID" } }),
    filter: "id = 1 AND body = 'PAID'",
    rows: 1,
  },
  "an update in place": {
    write: async (table) =>
      await table
        .mergeInsert("id")
        .whenMatchedUpdateAll()
        .execute([{ id: 1, body: "PAID" }]),
    filter: "id = 1 AND body = 'PAID'",
    rows: 1,
  },
  "a delete": { write: async (table) => await table.delete("id = 2"), filter: "id = 2", rows: 0 },
  "a compaction": { write: async (table) => await table.optimize(), filter: "true", rows: -1 },
};

/** A table that a migration has changed, as `down` finds it. The engine never changes a file that it has written, so a link is a copy. */
async function aWorld(change: readonly Step[]) {
  const key = JSON.stringify(change);
  origins.set(key, origins.get(key) ?? (await anOrigin(change)));
  const folder = temporaryFolder();
  link(origins.get(key)!, folder);
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
  const lease = { duration: 5_000, patience: 5_000 };
  const files = join(folder, "migrations");
  const options: MigratorOptions = { target, migrations: migrationsIn(files), ledger: "_migrations", lease };
  return { options, files, open: async () => await (await lancedb.connect(folder)).openTable("t") };
}

async function anOrigin(change: readonly Step[]): Promise<string> {
  const folder = mkdtempSync(join(home, "origin-"));
  const files = join(folder, "migrations");
  mkdirSync(files);
  const toFile = (file: string, all: readonly Step[]) =>
    writeFileSync(join(files, file), `export const up = ${JSON.stringify(all)};\n`);
  toFile("0001_create.mjs", [createTable("t", { id: int32().notNull(), body: utf8(), x: float64(), n0: int32() })]);
  const { options, open } = await worldIn(folder);
  await up(options);
  await (await open()).add([1, 2, 3].map((id) => ({ id, body: `b${id}`, x: id / 8, n0: id })));
  await (await open()).createIndex("id");
  toFile("0002_change.mjs", change);
  await up(options);
  await options.target.close();
  return folder;
}

type Moment = "after the plan" | "before the call" | "after the call";

/** The same target, beside which an application writes once. */
function beside(target: Target, moment: Moment, write: () => Promise<unknown>) {
  let isPlanned = false;
  let isWritten = false;
  const once = async (at: Moment) => {
    if (!isPlanned || isWritten || at !== moment) return;
    isWritten = true;
    await write().catch(() => {});
  };
  return {
    planned: () => void (isPlanned = true),
    target: {
      ...target,
      async describeTable(table: string, withIndexes?: boolean) {
        if (table === "t") await once("after the plan");
        return await target.describeTable(table, withIndexes);
      },
      async execute(...[action, seen]: Parameters<Target["execute"]>) {
        await once("before the call");
        const version = await target.execute(action, seen);
        await once("after the call");
        return version;
      },
    } satisfies Target,
  };
}

/** Whether what was written is there, or where the error says. */
async function requireKept(
  open: () => Promise<Table>,
  { filter, rows }: Omit<Write, "write">,
  problem: unknown,
): Promise<void> {
  const holds = async (table: Table) => rows < 0 || (await table.countRows(filter)) === rows;
  const now = await open();
  if (await holds(now)) return;
  const named = await versionNamedIn(problem, open);
  expect(named, `lost; ${String(problem)}`).toBeDefined();
  expect(await holds(named!)).toBe(true);
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

const moments: readonly Moment[] = ["after the plan", "before the call", "after the call"];
const cases = Object.keys(steps).flatMap((step, one) =>
  Object.keys(writes).flatMap((write, two) =>
    moments
      // For each commit, each two of a step, a write and a moment meet once.
      .filter((_, three) => isLong || (one + two + three) % 3 === 0)
      .map((moment) => [write, moment, step] as const),
  ),
);

test.each(cases)("%s %s is kept or reported: %s", async (write, moment, step) => {
  const { options, open } = await aWorld(steps[step]!);
  let isAcknowledged = false;
  const { target, planned } = beside(options.target, moment, async () => {
    // Between two commits of a step the engine may refuse it.
    await writes[write]!.write(await open());
    isAcknowledged = true;
  });
  const emit: MigratorOptions["emit"] = ({ event }) => event === "planned" && planned();
  const problem = await down({ ...options, target, emit }).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (isAcknowledged) await requireKept(open, writes[write]!, problem);
  if (write === "a compaction" && moment !== "before the call") expect(problem).toBeUndefined();
  await options.target.close();
});

test.each([
  ["a new column", "after the plan", "ERR_ROLLBACK_STOPPED"],
  ["a new column", "before the call", "ERR_WRITES_LOST"],
  ["a new column with values", "after the plan", "ERR_ROLLBACK_STOPPED"],
  ["a new column with values", "before the call", "ERR_WRITES_LOST"],
] as const)("values that are written into %s %s are not dropped silently", async (step, moment, code) => {
  const { options, open } = await aWorld(steps[step]!);
  const fill = async () => await (await open()).update({ where: "id = 1", valuesSql: { n: "42" } });
  const { target, planned } = beside(options.target, moment, fill);
  const emit: MigratorOptions["emit"] = ({ event }) => event === "planned" && planned();
  const problem: unknown = await down({ ...options, target, emit }).catch((error: unknown) => error);
  expect(problem).toMatchObject({ code });
  await requireKept(async () => await fallback(open), { filter: "n = 42", rows: 1 }, problem);
  await options.target.close();

  /** The column is gone where the call was made. */
  async function fallback(table: () => Promise<Table>) {
    const now = await table();
    if (await has(now, "n")) return now;
    const version = /version (\d+)/.exec(String((problem as Error).message))![1];
    await now.checkout(Number(version));
    return now;
  }
});

/** Of another client. */
async function cleanUp(table: Table): Promise<void> {
  await table.optimize({ cleanupOlderThan: new Date(Date.now() + 1_000), deleteUnverified: true });
}

function withoutList(target: Target): Target {
  const list = async () => {
    throw new Error("the list is out of reach");
  };
  return { ...target, versions: { ...target.versions!, list } };
}

test.each([
  [
    "another client cleans up old versions",
    cleanUp,
    (target: Target) => target,
    /version \d+ was cleaned up; .*metadata/,
  ],
  ["old versions can't be listed", async () => {}, withoutList, /the list is out of reach/],
] as const)("that it is unknown whether writes were lost is reported when %s", async (_, afterwards, change, words) => {
  const { options, open } = await aWorld(steps["a new column"]!);
  const fill = async () => await (await open()).update({ where: "id = 1", valuesSql: { n: "42" } });
  const before = beside(change(options.target), "before the call", fill);
  const after = beside(before.target, "after the call", async () => await afterwards(await open()));
  const emit: MigratorOptions["emit"] = ({ event }) => {
    if (event !== "planned") return;
    before.planned();
    after.planned();
  };
  const problem = await down({ ...options, target: after.target, emit }).catch((error: unknown) => error);
  expect(problem).toMatchObject({ code: "ERR_WRITES_UNKNOWN", outcome: "failed" });
  expect(String(problem)).toMatch(words);
  expect(String(problem)).toContain("others wrote to t after version 4");
  await options.target.close();
});

test("the version that was restored is released only once the ledger says so", async () => {
  const { options } = await aWorld(steps["a dropped column"]!);
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

test("a version is kept while rows that came after it are still to be put back", async () => {
  // Where the migration writes rows itself, only the version that it left tells which ones came later.
  const change = [dropColumn("t", "x"), insertRows("t", [{ id: 7, body: "g" }], { key: "id" })];
  const { options, files, open } = await aWorld(change);
  writeFileSync(join(files, "0003_again.mjs"), `export const up = ${JSON.stringify([dropColumn("t", "n0")])};\n`);
  await up(options);
  await (await open()).add([{ id: 9, body: "new" }]);
  const { target } = options;
  const release = async (table: string, name: string) => {
    await target.versions!.release(table, name);
    await (await open()).optimize({ cleanupOlderThan: new Date(), deleteUnverified: true });
  };
  const cleaning: Target = { ...target, versions: { ...target.versions!, release } };
  await down({ ...options, target: cleaning }, { to: 1, keepAppended: true });
  expect(await (await open()).countRows("id = 9")).toBe(1);
  expect(await has(await open(), "x")).toBe(true);
  expect(await target.versions!.kept("t")).toEqual([]);
  await target.close();
});

test("a run that was overtaken while it recorded the end releases nothing that the next one may still need", async () => {
  const { options } = await aWorld(steps["a dropped column"]!);
  const { target } = options;
  const store = target.ledger as Extract<Target["ledger"], { kind: "rows" }>;
  let slept = 0;
  const clock = { ...systemClock, steady: () => systemClock.steady() + slept };
  const records: typeof store.records = (shape) => {
    const table = store.records(shape);
    const insert: typeof table.insert = async (rows) => {
      if (rows.some(({ event }) => event === "reverted")) {
        slept = 1e9;
        const journal = journalOf(target, options.ledger);
        const other = { by: "other", run: "other", tool: "test" };
        const terms = { duration: 30_000, clock: systemClock };
        (await takeLease(journal, foldLedger(await journal.read()), other, undefined, terms))!.abandon();
      }
      await table.insert(rows);
    };
    return { ...table, insert };
  };
  const late = down({ ...options, clock, target: { ...target, ledger: { kind: "rows", records } } });
  await expect(late).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  expect(await target.versions!.kept("t")).toMatchObject([{ name: expect.stringMatching(/^0002\.v/) }]);
  await target.close();
});

test("of writes at any moment none is lost silently", async () => {
  for (let round = 0; round < rounds(4, 180); round++) {
    const step = Object.keys(steps)[round % Object.keys(steps).length]!;
    const { options, open } = await aWorld(steps[step]!);
    const ids: number[] = [];
    const over = new AbortController();
    const writing = (async () => {
      // The first one may come when the plan is made. Without pauses nobody else would get to make a commit.
      await pause(60 * Math.random());
      for (let id = 100; !over.signal.aborted; id++) {
        await pause(10 * Math.random());
        await (await open()).add([{ id, body: "new" }]).then(
          () => ids.push(id),
          () => {},
        );
      }
    })();
    const problem: unknown = await down(options).then(
      () => undefined,
      (error: unknown) => error,
    );
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
