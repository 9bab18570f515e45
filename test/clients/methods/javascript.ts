/**
 * Every public method of the JavaScript client's remote table and connection, against a running service. A row calls the
 * method and has what it gives, or what it is refused with: by the service, or by the client itself before it asks.
 */
import { Index, rerankers } from "@lancedb/lancedb";
import type { Connection, Table } from "../../service/served.ts";
import { arrow } from "../../service/served.ts";

export interface Place {
  readonly db: Connection;
  /** A table of three rows, for this row alone. */
  readonly table: Table;
  readonly name: string;
}

export interface Row {
  readonly call: (place: Place) => unknown;
  readonly gives?: unknown;
  readonly refusedBy?: "service" | "client";
  /** A part of the message. */
  readonly message?: string;
}

export const schema = new arrow.Schema([
  new arrow.Field("id", new arrow.Int32(), true),
  new arrow.Field("s", new arrow.Utf8(), true),
  new arrow.Field("v", new arrow.FixedSizeList(2, new arrow.Field("item", new arrow.Float32(), true)), true),
]);

export const rows = [
  { id: 1, s: "one", v: [1, 0] },
  { id: 2, s: "two", v: [2, 0] },
  { id: 3, s: "three", v: [3, 0] },
];

const works = (call: Row["call"], gives: unknown): Row => ({ call, gives });
const refused = (message: string, call: Row["call"]): Row => ({ call, refusedBy: "service", message });
const clientRefuses = (message: string, call: Row["call"]): Row => ({ call, refusedBy: "client", message });

// An index can be used once.
const btree = () => ({ config: Index.btree() });
const one = rows.slice(0, 1);
const nearest = [{ ...rows[0], _distance: 0 }];
const four = { id: 4, s: "four", v: [4, 0] };
const noJobs = "this service has no computed columns";
const noBranches = "this service has no branches";
const noNamespaces = "this service has no namespaces";
const noLog = "this service has no write-ahead log";
const local = "materialized views are supported only on local databases";

const ids = async (table: Table) => (await table.query().select(["id"]).toArray()).map((row) => row["id"] as number);
const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b);
const rowIds = async (table: Table) =>
  (await table.query().withRowId().toArray()).map((row) => row["_rowid"] as bigint).slice(0, 2);

export const tableMethods: Readonly<Record<string, Row>> = {
  name: works(({ table, name }) => table.name === name, true),
  isOpen: works(({ table }) => table.isOpen(), true),
  close: works(({ table }) => (table.close(), table.isOpen()), false),
  display: works(({ table, name }) => table.display() === `RemoteTable(${name})`, true),
  getEmbeddingFunctions: works(
    async ({ table }) =>
      (await (table as unknown as { getEmbeddingFunctions(): Promise<Map<string, unknown>> }).getEmbeddingFunctions())
        .size,
    0,
  ),
  schema: works(
    async ({ table }) => (await table.schema()).fields.map(({ name, type }) => `${name}: ${type}`),
    ["id: Int32", "s: Utf8", "v: FixedSizeList[2]<Float32>"],
  ),
  add: works(async ({ table }) => [await table.add([four]), sorted(await ids(table))], [{ version: 2 }, [1, 2, 3, 4]]),
  update: works(
    async ({ table }) => [
      await table.update({ where: "id = 1", values: { s: "new" } }),
      await table.countRows("s = 'new'"),
    ],
    [{ rowsUpdated: 1, version: 2 }, 1],
  ),
  countRows: works(async ({ table }) => [await table.countRows(), await table.countRows("id > 1")], [3, 2]),
  delete: works(
    async ({ table }) => [await table.delete("id = 2"), sorted(await ids(table))],
    [{ numDeletedRows: 1, version: 2 }, [1, 3]],
  ),
  createIndex: works(async ({ table }) => {
    await table.createIndex("id", btree());
    return (await table.indexStats("id_idx"))?.indexType;
  }, "BTREE"),
  createIndexAsync: works(async ({ table }) => {
    await table.createIndexAsync("v", { config: Index.ivfFlat({ numPartitions: 1 }) });
    return (await table.indexStats("v_idx"))?.numIndexedRows;
  }, 3),
  listIndices: works(
    async ({ table }) => {
      await table.createIndex("id", btree());
      await table.createIndex("s", { config: Index.fts({ stem: false }) });
      return (await table.listIndices()).map(({ name, indexType, columns, numIndexedRows, indexDetails }) => ({
        name,
        indexType,
        columns,
        numIndexedRows,
        stem: (indexDetails as { stem?: boolean } | undefined)?.stem,
      }));
    },
    [
      { name: "id_idx", indexType: "BTree", columns: ["id"], numIndexedRows: 3 },
      { name: "s_idx", indexType: "FTS", columns: ["s"], numIndexedRows: 3, stem: false },
    ],
  ),
  waitForIndex: works(async ({ table }) => {
    await table.createIndex("id", btree());
    await table.waitForIndex(["id_idx"], 5);
  }, undefined),
  indexStats: works(
    async ({ table }) => {
      await table.createIndex("id", btree());
      return await table.indexStats("id_idx");
    },
    { numIndexedRows: 3, numUnindexedRows: 0, indexType: "BTREE", numIndices: 1 },
  ),
  dropIndex: works(async ({ table }) => {
    await table.createIndex("id", btree());
    await table.dropIndex("id_idx");
    return await table.listIndices();
  }, []),
  prewarmIndex: works(async ({ table }) => {
    await table.createIndex("id", btree());
    await table.prewarmIndex("id_idx");
  }, undefined),
  prewarmData: refused("this service has no warming of tables", ({ table }) => table.prewarmData(["id"])),
  takeOffsets: works(async ({ table }) => (await table.takeOffsets([0, 2]).toArray()).map(({ id }) => id), [1, 3]),
  takeRowIds: works(
    async ({ table }) => (await table.takeRowIds(await rowIds(table)).toArray()).map(({ id }) => id),
    [1, 2],
  ),
  blobColumns: works(({ table }) => table.blobColumns(), []),
  fetchBlobs: clientRefuses("fetch_blobs is not supported on this LanceDB Cloud server", ({ table }) =>
    table.fetchBlobs("s", [0n]),
  ),
  fetchBlobFiles: clientRefuses("fetch_blob_files requires LanceDB Cloud server 0.5.0 or newer", ({ table }) =>
    table.fetchBlobFiles("s", [0n]),
  ),
  query: works(({ table }) => table.query().where("id = 1").toArray(), one),
  search: works(async ({ table }) => await table.search([1, 0]).limit(1).toArray(), nearest),
  vectorSearch: works(({ table }) => table.vectorSearch([1, 0]).limit(1).toArray(), nearest),
  addColumns: works(
    async ({ table }) => [
      await table.addColumns([{ name: "double", valueSql: "id * 2" }]),
      (await table.query().toArray()).map((row) => row["double"]),
    ],
    [{ version: 2 }, [2, 4, 6]],
  ),
  refreshColumn: clientRefuses("a remote refresh runs as a server job", ({ table }) => table.refreshColumn("s")),
  refreshColumnAsync: refused(noJobs, ({ table }) => table.refreshColumnAsync("s")),
  refreshMaterializedView: clientRefuses(local, ({ table }) => table.refreshMaterializedView()),
  alterColumns: works(
    async ({ table }) => [
      await table.alterColumns([{ path: "s", rename: "text" }]),
      (await table.schema()).fields.map(({ name }) => name),
    ],
    [{ version: 2 }, ["id", "text", "v"]],
  ),
  updateFieldMetadata: works(
    async ({ table }) => [
      await table.updateFieldMetadata([{ path: "s", metadata: { unit: "none" } }]),
      Object.fromEntries((await table.schema()).fields[1]!.metadata),
    ],
    [{ version: 2 }, { unit: "none" }],
  ),
  dropColumns: works(
    async ({ table }) => [await table.dropColumns(["s"]), (await table.schema()).fields.map(({ name }) => name)],
    [{ version: 2 }, ["id", "v"]],
  ),
  setUnenforcedPrimaryKey: clientRefuses("set_unenforced_primary_key is not supported on LanceDB cloud", ({ table }) =>
    table.setUnenforcedPrimaryKey("id"),
  ),
  setLsmWriteSpec: refused(noLog, ({ table }) => table.setLsmWriteSpec({ specType: "unsharded" })),
  unsetLsmWriteSpec: refused(noLog, ({ table }) => table.unsetLsmWriteSpec()),
  getLsmWriteSpec: refused(noLog, ({ table }) => table.getLsmWriteSpec()),
  closeLsmWriters: works(({ table }) => table.closeLsmWriters(), undefined),
  flushLsm: refused(noLog, ({ table }) => table.flushLsm()),
  compactLsm: refused(noLog, ({ table }) => table.compactLsm()),
  checkpointLsm: refused(noLog, ({ table }) => table.checkpointLsm()),
  getLsmStats: refused(noLog, ({ table }) => table.getLsmStats()),
  version: works(({ table }) => table.version(), 1),
  listVersions: works(
    async ({ table }) => {
      await table.add([four]);
      return (await table.listVersions()).map(({ version, timestamp }) => [version, timestamp.getFullYear() > 2000]);
    },
    [
      [1, true],
      [2, true],
    ],
  ),
  checkout: works(
    async ({ table }) => {
      await table.add([four]);
      await table.checkout(1);
      return [await table.version(), await table.countRows()];
    },
    [1, 3],
  ),
  checkoutLatest: works(async ({ table }) => {
    await table.add([four]);
    await table.checkout(1);
    await table.checkoutLatest();
    return await table.countRows();
  }, 4),
  restore: works(
    async ({ table }) => {
      await table.add([four]);
      await table.checkout(1);
      await table.restore();
      return [await table.version(), await table.countRows()];
    },
    [3, 3],
  ),
  tags: works(async ({ table }) => {
    const tags = await table.tags();
    await tags.create("a", 1);
    return await tags.getVersion("a");
  }, 1),
  branches: works(async ({ table }) => typeof (await table.branches()).list, "function"),
  currentBranch: works(({ table }) => table.currentBranch(), null),
  optimize: clientRefuses("optimize is not supported on LanceDB cloud", ({ table }) => table.optimize()),
  tokenize: works(
    async ({ table }) => {
      await table.createIndex("s", { config: Index.fts() });
      return (await table.tokenize("Two three", { column: "s" })).map(({ text }) => text);
    },
    ["two", "three"],
  ),
  toArrow: works(async ({ table }) => (await table.toArrow()).toArray(), rows),
  stats: works(
    async ({ table }) => {
      const { numRows, numIndices, fragmentStats } = await table.stats();
      return { numRows, numIndices, fragments: fragmentStats.numFragments };
    },
    { numRows: 3, numIndices: 0, fragments: 1 },
  ),
  initialStorageOptions: works(({ table }) => table.initialStorageOptions(), null),
  latestStorageOptions: works(({ table }) => table.latestStorageOptions(), null),
  mergeInsert: works(
    async ({ table }) => [
      await table
        .mergeInsert("id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute([{ ...rows[0]!, s: "new" }, four]),
      sorted(await ids(table)),
      await table.countRows("s = 'new'"),
    ],
    [
      { version: 2, numInsertedRows: 1, numUpdatedRows: 1, numDeletedRows: 0, numAttempts: 1, numRows: 2 },
      [1, 2, 3, 4],
      1,
    ],
  ),
  usesV2ManifestPaths: clientRefuses("This cannot be run on a remote table", ({ table }) =>
    (table as unknown as { usesV2ManifestPaths(): Promise<boolean> }).usesV2ManifestPaths(),
  ),
  migrateManifestPathsV2: clientRefuses("This cannot be run on a remote table", ({ table }) =>
    (table as unknown as { migrateManifestPathsV2(): Promise<void> }).migrateManifestPathsV2(),
  ),
};

export const tagMethods: Readonly<Record<string, Row>> = {
  create: works(async ({ table }) => {
    await (await table.tags()).create("a", 1);
    await table.checkout("a");
    return await table.version();
  }, 1),
  list: works(
    async ({ table }) => {
      const tags = await table.tags();
      await tags.create("b", 1);
      await tags.create("a", 1);
      const found = Object.entries(await tags.list()).map(([name, { version, manifestSize }]) => [
        name,
        version,
        manifestSize > 0,
      ]);
      return found.toSorted();
    },
    [
      ["a", 1, true],
      ["b", 1, true],
    ],
  ),
  getVersion: works(async ({ table }) => {
    await (await table.tags()).create("a", 1);
    return await (await table.tags()).getVersion("a");
  }, 1),
  update: works(async ({ table }) => {
    await table.add([four]);
    const tags = await table.tags();
    await tags.create("a", 1);
    await tags.update("a", 2);
    return await tags.getVersion("a");
  }, 2),
  delete: works(async ({ table }) => {
    const tags = await table.tags();
    await tags.create("a", 1);
    await tags.delete("a");
    return await tags.list();
  }, {}),
};

export const branchMethods: Readonly<Record<string, Row>> = {
  list: refused(noBranches, async ({ table }) => await (await table.branches()).list()),
  create: refused(noBranches, async ({ table }) => await (await table.branches()).create("b")),
  checkout: refused(noBranches, async ({ table }) => await (await table.branches()).checkout("b")),
  delete: refused(noBranches, async ({ table }) => await (await table.branches()).delete("b")),
  diff: refused(noBranches, async ({ table }) => await (await table.branches()).diff("b")),
  cherryPick: refused(noBranches, async ({ table }) => await (await table.branches()).cherryPick("b")),
};

const found = async (query: { toArray(): Promise<{ id?: unknown }[]> }) => (await query.toArray()).map(({ id }) => id);
const near = ({ table }: Place) => table.query().nearestTo([1, 0]);
const withText = async ({ table }: Place) => {
  await table.createIndex("s", { config: Index.fts() });
  return table.query();
};

/** Those of plain queries, and of queries by vector, which `nearestTo` gives. */
export const queryMethods: Readonly<Record<string, Row>> = {
  where: works(({ table }) => found(table.query().where("id > 1")), [2, 3]),
  filter: works(({ table }) => found(table.query().filter("id > 1")), [2, 3]),
  select: works(
    ({ table }) => table.query().select({ double: "id * 2" }).toArray(),
    [{ double: 2 }, { double: 4 }, { double: 6 }],
  ),
  limit: works(({ table }) => found(table.query().limit(2)), [1, 2]),
  offset: works(({ table }) => found(table.query().offset(1)), [2, 3]),
  orderBy: works(({ table }) => found(table.query().orderBy({ columnName: "id", ascending: false })), [3, 2, 1]),
  withRowId: works(
    async ({ table }) => Object.keys((await table.query().withRowId().toArray())[0]!).includes("_rowid"),
    true,
  ),
  fullTextSearch: works(async (place) => await found((await withText(place)).fullTextSearch("two")), [2]),
  nearestToText: works(async (place) => await found((await withText(place)).nearestToText("two")), [2]),
  nearestTo: works((place) => found(near(place).limit(2)), [1, 2]),
  column: works((place) => found(near(place).column("v").limit(1)), [1]),
  distanceType: works((place) => found(near(place).distanceType("dot").limit(1)), [3]),
  distanceRange: works((place) => found(near(place).distanceRange(1, 2)), [2]),
  // The engine searches for the vectors side by side: the rows of either may come first.
  addQueryVector: works(
    async (place) => {
      const rows = await near(place).addQueryVector([3, 0]).limit(1).toArray();
      return rows.map(({ query_index: vector, id }) => [Number(vector), id]).toSorted();
    },
    [
      [0, 1],
      [1, 3],
    ],
  ),
  postfilter: works((place) => found(near(place).postfilter().where("id = 3").limit(1)), []),
  nprobes: works((place) => found(near(place).nprobes(2).limit(1)), [1]),
  minimumNprobes: works((place) => found(near(place).minimumNprobes(1).limit(1)), [1]),
  maximumNprobes: works((place) => found(near(place).maximumNprobes(30).limit(1)), [1]),
  ef: works((place) => found(near(place).ef(20).limit(1)), [1]),
  refineFactor: works((place) => found(near(place).refineFactor(2).limit(1)), [1]),
  bypassVectorIndex: works((place) => found(near(place).bypassVectorIndex().limit(1)), [1]),
  fastSearch: works(({ table }) => found(table.query().fastSearch()), [1, 2, 3]),
  rerank: works(async (place) => {
    await withText(place);
    const query = near(place).fullTextSearch("two");
    return (await found(query.rerank(await rerankers.RRFReranker.create()).limit(3))).includes(2);
  }, true),
  useLsm: works(({ table }) => found(table.query().useLsm(true)), [1, 2, 3]),
  execute: works(async ({ table }) => {
    let count = 0;
    for await (const batch of table.query()) count += batch.numRows;
    return count;
  }, 3),
  toArray: works(({ table }) => found(table.query()), [1, 2, 3]),
  toArrow: works(async ({ table }) => (await table.query().toArrow()).numRows, 3),
  outputSchema: works(
    async ({ table }) => (await table.query().select(["id"]).outputSchema()).fields.map(({ name }) => name),
    ["id"],
  ),
  explainPlan: works(async ({ table }) => {
    const plan = await table.vectorSearch([1, 0]).where("id > 1").limit(2).explainPlan(true);
    return ["KNNVectorDistance", "id > "].every((part) => plan.includes(part));
  }, true),
  analyzePlan: works(async ({ table }) => (await table.query().limit(2).analyzePlan()).startsWith("AnalyzeExec"), true),
};

export const connectionMethods: Readonly<Record<string, Row>> = {
  isOpen: works(({ db }) => db.isOpen(), true),
  close: works(async ({ db }) => (db.close(), db.isOpen()), false),
  display: works(({ db }) => db.display().startsWith("RemoteDatabase("), true),
  tableNames: works(async ({ db, name }) => (await db.tableNames()).includes(name), true),
  listTables: works(async ({ db, name }) => (await db.listTables()).tables.includes(name), true),
  openTable: works(async ({ db, name }) => (await (await db.openTable(name)).countRows()) === 3, true),
  createTable: works(async ({ db, name }) => (await db.createTable(`${name}_2`, rows, { schema })).countRows(), 3),
  createEmptyTable: works(async ({ db, name }) => (await db.createEmptyTable(`${name}_2`, schema)).countRows(), 0),
  cloneTable: refused("this service has no cloning of tables", ({ db }) => db.cloneTable("c", "file:///t.lance")),
  dropTable: works(async ({ db, name }) => {
    await db.dropTable(name);
    return (await db.tableNames()).includes(name);
  }, false),
  dropTableAsync: works(async ({ db, name }) => {
    await db.dropTableAsync(name);
    return (await db.tableNames()).includes(name);
  }, false),
  dropAllTables: clientRefuses("Dropping all tables is not currently supported in the remote API", ({ db }) =>
    db.dropAllTables(),
  ),
  renameTable: works(
    async ({ db, name }) => {
      await db.renameTable(name, `${name}_2`);
      const names = await db.tableNames();
      return [names.includes(name), names.includes(`${name}_2`)];
    },
    [false, true],
  ),
  describeNamespace: works(({ db }) => db.describeNamespace([]), { properties: {} }),
  listNamespaces: works(({ db }) => db.listNamespaces(), { namespaces: [] }),
  createNamespace: refused(noNamespaces, ({ db }) => db.createNamespace(["n"])),
  dropNamespace: refused(noNamespaces, ({ db }) => db.dropNamespace(["n"])),
  createMaterializedView: clientRefuses(local, ({ db }) => db.createMaterializedView("m", "t")),
  openMaterializedView: clientRefuses(local, ({ db }) => db.openMaterializedView("m")),
  listMaterializedViews: clientRefuses(local, ({ db }) => db.listMaterializedViews()),
  getStorageOptions: works(
    async ({ db }) => await (db as unknown as { getStorageOptions(): unknown }).getStorageOptions(),
    undefined,
  ),
  listJobs: works(({ db }) => db.listJobs(), []),
  cancelJob: works(({ db }) => db.cancelJob("j"), false),
  openJob: refused("Job 'j' was not found", ({ db }) => db.openJob("j")),
};
