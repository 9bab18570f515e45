/** What a plan says of calls and costs, against what the engine is called with and what it writes. */
import { cpSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { connect, nativeTable } from "../../src/engine/engine.ts";
import { planCommits } from "../../src/plan/commits/commits.ts";
import { costOf } from "../../src/plan/assess/cost.ts";
import { sampling } from "../../src/run/prepare/estimate.ts";
import type { Action } from "../../src/actions/model/action.ts";
import {
  columnsOf,
  float32,
  float64,
  int32,
  int64,
  struct,
  utf8,
  vector,
} from "../../src/schema/declare/type-builders.ts";
import { btree } from "../../src/schema/declare/index-builders.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { temporaryFolder, temporaryFolderOfFile } from "../support/project.ts";

const columns = columnsOf({
  id: int32().notNull(),
  title: utf8(),
  score: float64(),
  v: vector(8),
  s: struct({ town: utf8(), lat: float64() }),
});
/** So many that the files' own headers do not count. */
const rows = 40_000;

/** Values that no compression makes smaller. */
function drawn() {
  let state = 1;
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31;
  const letters = () => Math.floor(next() * 2 ** 31).toString(36);
  return Array.from({ length: rows }, () => ({
    id: Math.floor(next() * 2 ** 31),
    title: letters() + letters() + letters(),
    score: next(),
    v: Array.from({ length: 8 }, next),
    s: { town: letters(), lat: next() },
  }));
}

const of = <Kind extends Action["kind"]>(kind: Kind, rest: object) => ({ kind, table: "t", ...rest }) as Action;

const writing: Readonly<Record<string, readonly [action: Action, where?: number]>> = {
  "a wider integer": [of("alterColumns", { alterations: [{ path: "id", type: int64().type }] })],
  "a narrower float": [of("alterColumns", { alterations: [{ path: "score", type: float32().type }] })],
  "a text of another type": [of("alterColumns", { alterations: [{ path: "title", type: { kind: "largeUtf8" } }] })],
  vectors: [of("alterColumns", { alterations: [{ path: "v", type: vector(8, float64()).type }] })],
  "a rename": [of("alterColumns", { alterations: [{ path: "title", rename: "headline" }] })],
  "nothing null any more": [of("alterColumns", { alterations: [{ path: "title", nullable: false }] })],
  "a column of nulls": [of("addColumns", { columns: [{ name: "n", ...int64() }] })],
  "a column with values": [
    of("addColumns", { columns: [{ name: "n", type: { kind: "float64" }, nullable: true, as: "score * 3.7" }] }),
  ],
  "a column with texts": [
    of("addColumns", { columns: [{ name: "n", type: { kind: "utf8" }, nullable: true, as: "concat(title, title)" }] }),
  ],
  "a column recreated": [of("convertColumn", { path: "score", type: { kind: "float64" }, using: "score * 3.7" })],
  "a field": [of("addField", { path: "s.zip", type: { kind: "int32" }, nullable: true })],
  "a dropped column": [of("dropColumns", { paths: ["v"] })],
  "deleted rows": [of("deleteRows", { where: "score < 0.5" })],
  "updated rows": [of("updateRows", { set: { score: "1.5" } })],
  "some updated rows": [of("updateRows", { set: { score: "1.5" }, where: "score < 0.25" }), rows / 4],
};

const kept = temporaryFolderOfFile();
beforeAll(async () => {
  const target = await open({ kind: "lance", uri: "db" }, { name: "test", folder: kept });
  await target.execute({ kind: "createTable", table: "t", columns }, undefined);
  await (await (await connect({ uri: join(kept, "db") })).openTable("t")).add(drawn());
});

async function aTable() {
  const folder = temporaryFolder();
  cpSync(join(kept, "db"), join(folder, "db"), { recursive: true });
  const target = await open({ kind: "lance", uri: "db" }, { name: "test", folder });
  return { target, data: join(folder, "db", "t.lance", "data") };
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}

test.each(Object.entries(writing))("%s: about so many bytes are written", async (name, [action, where]) => {
  await checkBytes(name, action, where);
});

test.each(Object.entries(writing).filter(([, [, where]]) => where === undefined))(
  "%s: not more bytes are written where most rows have been deleted",
  async (name, [action]) => {
    await checkBytes(name, action, undefined, async (data) => {
      await (await (await connect({ uri: join(data, "../..") })).openTable("t")).delete("score > 0.1");
    });
  },
);

async function checkBytes(
  name: string,
  action: Action,
  where?: number,
  prepare?: (data: string) => Promise<void>,
): Promise<void> {
  const { target, data } = await aTable();
  await prepare?.(data);
  const before = (await target.describeTable("t"))!.table;
  const commits = planCommits(action, new Map([["t", before]]), target.capabilities);
  const size = await target.tableSize!("t");
  if (prepare === undefined) expect(size.rows).toBe(rows);
  const sizes = new Map([["t", size]]);
  const widths = await sampling(new Map([["t", before]]), sizes, target)(commits, []);
  const cost = costOf(commits, sizes, widths, where);
  const [bytes, version] = [bytesIn(data), (await target.describeTable("t"))!.version!];
  for (const commit of commits) await target.execute(commit.action, await target.describeTable("t"));
  const written = bytesIn(data) - bytes;
  expect((await target.describeTable("t"))!.version! - version).toBe(cost.versions);
  // Headers and indexes of pages are not told.
  if (cost.bytes === 0) expect(written).toBeLessThan(5_000);
  else {
    expect(cost.bytes! / written).toBeGreaterThan(0.6);
    // Of whole numbers files keep just the bits that are needed, and of deleted rows other than vectors hardly any.
    if (prepare === undefined || name === "vectors") expect(cost.bytes! / written).toBeLessThan(2.2);
  }
}

afterEach(() => vi.restoreAllMocks());

const small: Action = { kind: "createTable", table: "t", columns, rows: [{ id: 1, title: "one", score: 1, v: null }] };

const twice = { name: "twice", type: { kind: "int32" }, nullable: true, computed: "id * 2" } as const;

test.each<readonly [Action, ...Action[]]>([
  [of("addColumns", { columns: [{ name: "n", type: { kind: "int8" }, nullable: true, as: "id" }] })],
  [of("addColumns", { columns: [twice] })],
  [of("refreshColumn", { path: "twice" }), of("addColumns", { columns: [twice] })],
  [of("alterColumns", { alterations: [{ path: "id", type: { kind: "int64" } }] })],
  [of("alterColumns", { alterations: [{ path: "title", rename: "headline", nullable: false }] })],
  [of("createIndex", { name: "by_id", index: { path: "id", ...btree() } })],
  [of("createIndex", { name: "by_id", index: { path: "id", ...btree() }, replace: true })],
  [of("deleteRows", { where: "id > 1" })],
  [of("dropColumns", { paths: ["v", "title"] })],
  [of("dropIndex", { name: "by_id" }), of("createIndex", { name: "by_id", index: { path: "id", ...btree() } })],
  [of("insertRows", { key: "id", rows: [{ id: 2, title: null, score: null, v: null }] })],
  [of("optimizeTable", {})],
  [of("setMetadata", { updates: [{ path: "id", metadata: { unit: "s" } }] })],
  [of("updateRows", { set: { title: "'x'" }, where: "id = 1" })],
  [of("updateRows", { set: { title: "'x'" } })],
])("the call that is told of %j is the one that is made", async (action, ...earlier) => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: "db" }, { name: "test", folder });
  await target.execute(small, undefined);
  for (const one of earlier) await target.execute(one, await target.describeTable("t"));
  const seen = await target.describeTable("t", true);
  const told = /^t\.(\w+)\((.*?)\)(\.when.*)?$/.exec(await target.call(action, seen?.table))!;
  const made = await watched(folder, () => target.execute(action, seen));
  expect(made).toEqual([told[1], JSON.parse(`[${told[2]}]`)]);
});

/** The method of the engine that changes something, and what it was given. */
async function watched(folder: string, work: () => Promise<unknown>): Promise<unknown> {
  const table = await (await connect({ uri: join(folder, "db") })).openTable("t");
  const names = [
    "addColumns",
    "createIndex",
    "delete",
    "dropColumns",
    "dropIndex",
    "optimize",
    "refreshColumn",
    "update",
  ];
  const outer = Object.getPrototypeOf(table) as Record<string, () => unknown>;
  const inner = Object.getPrototypeOf(nativeTable(table)) as Record<string, () => unknown>;
  const ofPackage = [...names, "updateFieldMetadata"].map((name) => [name, vi.spyOn(outer, name)] as const);
  const onlyOfBinding = ["addComputedColumns", "alterColumns", "mergeInsert"];
  const ofBinding = [...names, ...onlyOfBinding].map((name) => [name, vi.spyOn(inner, name)] as const);
  await work();
  const callsOf = (spies: typeof ofPackage) =>
    spies.flatMap(([name, spy]) => spy.mock.calls.map((given) => [name, plain(name, given)]));
  // The package calls the binding itself.
  const calls = callsOf(callsOf(ofPackage).length > 0 ? ofPackage : ofBinding);
  expect(calls).toHaveLength(1);
  const [[name, given]] = calls as [[string, unknown[]]];
  // The package's addColumns takes both kinds of columns.
  return name === "addComputedColumns" ? ["addColumns", [{ computed: given[0] }]] : [name, given];
}

function plain(name: string, given: readonly unknown[]): unknown {
  const seen = JSON.parse(
    JSON.stringify(given, (_, value) => (value instanceof Map ? Object.fromEntries(value) : value)),
  ) as Record<string, unknown>[];
  if (name === "alterColumns")
    for (const one of seen[0] as unknown as { dataType?: unknown }[])
      if (one.dataType !== undefined) one.dataType = JSON.parse(one.dataType as string);
  // What an index is made of is hidden in the binding.
  if (name === "createIndex") seen[1]!["config"] = { btree: {} };
  return seen;
}
