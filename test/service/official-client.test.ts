/** LanceDB's own client, `connect("db://x", { apiKey, hostOverride })`, against the service. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { DataType } from "apache-arrow";
import { temporaryFolderOfFile } from "../support/project.ts";
import { columnsOf, lancedb, rowsOf } from "../support/tables.ts";
import {
  apiKey,
  arrow,
  aService,
  connectTo,
  plain,
  startIn,
  type Connection,
  type Served,
  type Table,
} from "./served.ts";

const { Field, Schema } = arrow;
const nullable = (name: string, type: DataType) => new Field(name, type, true);
const required = (name: string, type: DataType) => new Field(name, type, false);
const item = (type: DataType) => nullable("item", type);
const vector = (length: number, type: DataType = new arrow.Float32()) => new arrow.FixedSizeList(length, item(type));

const books = new Schema([
  required("id", new arrow.Int32()),
  nullable("title", new arrow.Utf8()),
  nullable(
    "source",
    new arrow.Struct([nullable("url", new arrow.Utf8()), nullable("fetched", new arrow.Utf8())] as never),
  ),
  nullable("embedding", vector(2)),
]);

const booksColumns = [
  "id: int32 not null",
  "title: utf8",
  "source: struct<url: utf8, fetched: utf8>",
  "embedding: fixedSizeList<float32, 2>",
];

const book = (id: number, title: string | null, embedding: number[]) => ({
  id,
  title,
  source: { url: `https://example.org/${id}`, fetched: "2026" },
  embedding,
});

const shelf = [
  book(1, "Größe", [0, 0]),
  book(2, "it's", [3, 4]),
  book(3, null, [1, 0]),
  book(4, "d", [-6, 8]),
  book(5, "e", [0, 2]),
];

const byId = (rows: readonly Record<string, unknown>[]) => rows.toSorted((a, b) => Number(a.id) - Number(b.id));
const ids = (rows: readonly { id: unknown }[]) => rows.map(({ id }) => Number(id));
const some = (rows: readonly number[]) => byId(shelf.filter(({ id }) => rows.includes(id)));

/** A service with a table of five books. */
async function aShelf(): Promise<Served & { readonly table: Table }> {
  const served = await aService();
  return { ...served, table: await served.remote.createTable("books", shelf, { schema: books }) };
}

/** A service that the tests around share, as they only read. */
function aServiceToRead(fill: (local: Connection) => Promise<unknown>) {
  const folder = temporaryFolderOfFile();
  let clients: Pick<Served, "remote" | "local">;
  beforeAll(async () => {
    const local = await lancedb.connect(folder);
    await fill(local);
    const { service } = await startIn(folder);
    const remote = await connectTo(service.url);
    clients = { remote, local };
    return async () => {
      remote.close();
      local.close();
      await service.close();
    };
  });
  return () => clients;
}

const message = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("it was not refused");
};

describe("listing", () => {
  const names = [
    ...Array.from({ length: 25 }, (_, index) => `table_${String(index).padStart(2, "0")}`),
    "A",
    "Z",
    "a",
    "_private",
    "-dash",
    "with.dot",
    ".hidden",
    "tablE_00",
  ].toSorted((a, b) => (a < b ? -1 : 1));

  const many = aServiceToRead(async (local) => {
    for (const name of names) await local.createEmptyTable(name, books);
  });

  test("all names arrive, sorted, when no limit is asked for", async () => {
    const { remote } = many();
    expect(await remote.tableNames()).toEqual(names);
  });

  test.each([1, 7, names.length - 1, names.length, 1000])(
    "in pages of %i every name arrives once and in order",
    async (limit) => {
      const { remote } = many();
      const pages: string[] = [];
      while (pages.length <= names.length) {
        const page = await remote.tableNames({ limit, startAfter: pages.at(-1) ?? "" });
        if (page.length === 0) break;
        expect(page.length).toBeLessThanOrEqual(limit);
        pages.push(...page);
      }
      expect(pages).toEqual(names);
    },
  );

  test("a page begins behind a name, whether there is a table of that name or not", async () => {
    const { remote } = many();
    expect(await remote.tableNames({ limit: 3, startAfter: "table_03" })).toEqual(["table_04", "table_05", "table_06"]);
    expect(await remote.tableNames({ limit: 2, startAfter: "table_035" })).toEqual(["table_04", "table_05"]);
    expect(await remote.tableNames({ limit: 2, startAfter: "zzz" })).toEqual([]);
  });

  test("with page tokens every name arrives once and the last page has no token", async () => {
    const { remote } = many();
    const seen: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await remote.listTables({ limit: 10, ...(pageToken === undefined ? {} : { pageToken }) });
      seen.push(...page.tables);
      pageToken = page.pageToken || undefined;
    } while (pageToken !== undefined && seen.length <= names.length);
    expect(seen).toEqual(names);
  });
});

describe("creating", () => {
  test("a table created with rows has the schema and the rows that were sent", async () => {
    const { folder, table } = await aShelf();
    expect(await columnsOf(folder, "books")).toEqual(booksColumns);
    expect(byId(await rowsOf(folder, "books"))).toEqual(shelf);
    expect(byId(plain(await table.query().toArray()) as never)).toEqual(shelf);
  });

  const types: readonly (readonly [string, DataType, readonly unknown[]])[] = [
    ["bool", new arrow.Bool(), [true, false, null]],
    ["int8", new arrow.Int8(), [-128, 127, null]],
    ["int16", new arrow.Int16(), [-32_768, 32_767, null]],
    ["int32", new arrow.Int32(), [-2_147_483_648, 2_147_483_647, null]],
    ["int64", new arrow.Int64(), [-9_223_372_036_854_775_808n, 9_223_372_036_854_775_807n, null]],
    ["uint8", new arrow.Uint8(), [0, 255, null]],
    ["uint16", new arrow.Uint16(), [0, 65_535, null]],
    ["uint32", new arrow.Uint32(), [0, 4_294_967_295, null]],
    ["uint64", new arrow.Uint64(), [0n, 18_446_744_073_709_551_615n, null]],
    ["float16", new arrow.Float16(), [0.5, -2, null]],
    ["float32", new arrow.Float32(), [0.5, Number.POSITIVE_INFINITY, null]],
    ["float64", new arrow.Float64(), [0.1, 1e300, null]],
    ["utf8", new arrow.Utf8(), ["", "größer 🙂", null]],
    ["largeUtf8", new arrow.LargeUtf8(), ["", "größer 🙂", null]],
    ["binary", new arrow.Binary(), [new Uint8Array([0, 255]), new Uint8Array(), null]],
    ["largeBinary", new arrow.LargeBinary(), [new Uint8Array([0, 255]), new Uint8Array(), null]],
    ["fixedSizeBinary(2)", new arrow.FixedSizeBinary(2), [new Uint8Array([0, 255]), new Uint8Array([1, 2]), null]],
    ["date32", new arrow.DateDay(), [new Date("2026-01-01"), new Date("1969-12-31"), null]],
    ["date64", new arrow.DateMillisecond(), [new Date("2026-01-01"), new Date("1969-12-31"), null]],
    ["time32(s)", new arrow.TimeSecond(), [0, 86_399, null]],
    ["time32(ms)", new arrow.TimeMillisecond(), [0, 86_399_999, null]],
    ["time64(us)", new arrow.TimeMicrosecond(), [0n, 86_399_999_999n, null]],
    ["time64(ns)", new arrow.TimeNanosecond(), [0n, 86_399_999_999_999n, null]],
    ["timestamp(s)", new arrow.TimestampSecond(), [0, 1_763_632_000_000, null]],
    ["timestamp(us, UTC)", new arrow.TimestampMicrosecond("UTC"), [0, 1_763_632_000_123, null]],
    ["timestamp(ns, Europe/Berlin)", new arrow.TimestampNanosecond("Europe/Berlin"), [0, 1_763_632_000_123, null]],
    ["duration(ms)", new arrow.DurationMillisecond(), [0n, -5n, null]],
    ["decimal128(10, 2)", new arrow.Decimal(2, 10, 128), [new Uint32Array([1234, 0, 0, 0]), null]],
    ["list<int32>", new arrow.List(item(new arrow.Int32())), [[1, 2], [], null]],
    [
      "fixedSizeList<float32, 2>",
      vector(2),
      [
        [1, 2],
        [0.5, -1],
      ],
    ],
    [
      "fixedSizeList<float16, 2>",
      vector(2, new arrow.Float16()),
      [
        [1, 2],
        [0.5, -1],
      ],
    ],
    [
      "struct<a: utf8 not null, b: list<int32>>",
      new arrow.Struct([
        required("a", new arrow.Utf8()),
        nullable("b", new arrow.List(item(new arrow.Int32()))),
      ] as never),
      [
        { a: "x", b: [1] },
        { a: "", b: null },
      ],
    ],
    ["dictionary<int32, utf8>", new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()), ["x", "y", "x"]],
    ["null", new arrow.Null(), [null, null]],
  ];

  test.each(types)(
    "a column of type %s is told as it was sent, and its rows arrive as in a local database",
    async (...given) => {
      const [name, type, values] = given;
      const { remote, local, folder } = await aService();
      const schema = new Schema([required("id", new arrow.Int64()), nullable("value", type)]);
      await remote.createEmptyTable("typed", schema);
      expect(await columnsOf(folder, "typed")).toEqual(["id: int64 not null", `value: ${name}`]);
      const told = await (await remote.openTable("typed")).schema();
      expect(told.fields.map(String)).toEqual(schema.fields.map(String));
      expect(told.fields.map((field) => field.nullable)).toEqual([false, true]);
      const data = new arrow.Table(new Schema([nullable("value", type)]), {
        value: arrow.vectorFromArray(values, type),
      });
      await remote.createTable("sent", data);
      await local.createTable("written", data);
      expect(await columnsOf(folder, "sent")).toEqual(await columnsOf(folder, "written"));
      const query = async (db: Connection, name: string) => plain(await (await db.openTable(name)).query().toArray());
      expect(await query(local, "sent")).toEqual(await query(local, "written"));
      expect(await query(remote, "sent")).toEqual(await query(local, "written"));
      expect(await query(remote, "sent")).toHaveLength(values.length);
    },
  );

  test.each([
    ["an interval", new arrow.IntervalYearMonth()],
    ["a union", new arrow.DenseUnion([0], [item(new arrow.Int32())])],
  ])("%s, which the engine has no place for, is refused by name and no table is made", async (_, type) => {
    const { remote } = await aService();
    const refusal = await message(remote.createEmptyTable("typed", new Schema([nullable("value", type)])));
    expect(refusal).toMatch(/^Invalid input, .*(interval|union)/i);
    expect(await remote.tableNames()).toEqual([]);
  });

  test("creating a name that exists fails with the client's own words and leaves the table alone", async () => {
    const { remote, folder } = await aShelf();
    expect(await message(remote.createTable("books", [{ other: 1 }]))).toMatch(/^Table 'books' already exists/);
    expect(await message(remote.createEmptyTable("books", books))).toMatch(/^Table 'books' already exists/);
    expect(await columnsOf(folder, "books")).toEqual(booksColumns);
    expect(byId(await rowsOf(folder, "books"))).toEqual(shelf);
  });

  test("creating with existOk opens the table that exists and makes the one that does not", async () => {
    const { remote, folder } = await aShelf();
    const table = await remote.createTable("books", [book(6, "new", [1, 1])], { existOk: true, schema: books });
    expect(await table.countRows()).toBe(shelf.length);
    expect(byId(await rowsOf(folder, "books"))).toEqual(shelf);
    await remote.createTable("more", [book(6, "new", [1, 1])], { existOk: true, schema: books });
    expect(await rowsOf(folder, "more")).toEqual([book(6, "new", [1, 1])]);
  });

  test("creating with overwrite replaces schema and rows, and makes the table that is not there", async () => {
    const { remote, folder } = await aShelf();
    for (const name of ["books", "other"]) {
      const table = await remote.createTable(name, [{ x: "only" }], { mode: "overwrite" });
      expect(plain(await table.query().toArray())).toEqual([{ x: "only" }]);
      expect(await columnsOf(folder, name)).toEqual(["x: utf8"]);
    }
    const table = await remote.openTable("books");
    await table.checkout(1);
    expect(await table.countRows()).toBe(shelf.length);
  });
});

describe("opening", () => {
  test("a table can be opened at an old version", async () => {
    const { service, table } = await aShelf();
    await table.delete("id = 1");
    expect(await table.countRows()).toBe(4);
    // The client keeps what it opened: a second open by the same connection would show version 1 again.
    const other = await connectTo(service.url);
    onTestFinished(() => other.close());
    expect(await (await other.openTable("books", [], { version: 1 })).countRows()).toBe(5);
  });

  test("every call on a table that was dropped meanwhile says that it was not found", async () => {
    const { remote, table } = await aShelf();
    await remote.dropTable("books");
    const calls = [
      () => table.add([book(9, "x", [0, 0])]),
      () => table.query().toArray(),
      () => table.countRows(),
      () => table.update({ values: { title: "x" } }),
      () => table.delete("true"),
      () => table.alterColumns([{ path: "title", rename: "x" }]),
      () => table.dropColumns(["title"]),
      () => table.listVersions(),
      async () => await (await table.tags()).list(),
      async () => await (await table.tags()).create("x", 1),
    ];
    for (const call of calls) expect(await message(call())).toMatch(/Table 'books' was not found/);
    expect(await remote.tableNames()).toEqual([]);
  });
});

describe("adding rows", () => {
  test("added rows arrive, nulls and missing nullable columns included", async () => {
    const { folder, table } = await aShelf();
    await table.add([book(6, null, [1, 1])]);
    await table.add([{ id: 7, embedding: [2, 2] }]);
    expect(byId(await rowsOf(folder, "books"))).toEqual([
      ...shelf,
      book(6, null, [1, 1]),
      { id: 7, title: null, source: null, embedding: [2, 2] },
    ]);
    expect(await table.version()).toBe(3);
  });

  test("a table of several record batches arrives whole", async () => {
    const { remote, folder } = await aService();
    const batch = (from: number) =>
      new arrow.Table({ id: arrow.vectorFromArray([from, from + 1], new arrow.Int32()) }).batches;
    const table = await remote.createEmptyTable("many", new Schema([nullable("id", new arrow.Int32())]));
    await table.add(new arrow.Table([0, 2, 4, 6].flatMap(batch)));
    expect(byId(await rowsOf(folder, "many"))).toEqual(Array.from({ length: 8 }, (_, id) => ({ id })));
  });

  test("a hundred thousand rows arrive, and a query without a limit brings all of them back", async () => {
    const { remote } = await aService();
    const count = 100_000;
    const values = Int32Array.from({ length: count }, (_, index) => (index * 7919) % count);
    const table = await remote.createTable("wide", new arrow.Table({ id: arrow.vectorFromArray(values) }));
    const id = (await table.toArrow()).getChild("id")!;
    expect(id.length).toBe(count);
    expect((id.toArray() as Int32Array).toSorted()).toEqual(values.toSorted());
  });

  test("a body compressed with LZ4, as the client sends it, is stored", async () => {
    const text = "again and ".repeat(2000);
    const rows = Array.from({ length: 100 }, (_, id) => ({ id, text: `${id} ${text}` }));
    const body = await captured(async (db) => await db.createTable("t", rows));
    expect(body.length).toBeLessThan(text.length * 20);
    expect(() => arrow.tableFromIPC(body)).toThrow(/compression/);

    const { service, folder } = await aService();
    const answer = await fetch(`${service.url}/v1/tables/compressed`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/vnd.apache.arrow.stream" },
      body: new Uint8Array(body),
    });
    expect(answer.status).toBe(200);
    expect(byId(await rowsOf(folder, "compressed"))).toEqual(rows);
  });

  test("adding with overwrite leaves only the new rows", async () => {
    const { folder, table } = await aShelf();
    await table.add([book(9, "only", [1, 1])], { mode: "overwrite" });
    expect(await rowsOf(folder, "books")).toEqual([book(9, "only", [1, 1])]);
  });

  test.each([
    ["a column that the table does not have", { id: 1, colour: "red" }, /colour/],
    ["a null where none may be", { id: null, title: "x" }, /null/i],
  ])("rows with %s are refused and none is stored", async (_, row, reason) => {
    const { folder, table } = await aShelf();
    expect(await message(table.add([row]))).toMatch(reason);
    expect(byId(await rowsOf(folder, "books"))).toEqual(shelf);
  });
});

/** The body of the one request that sends data. */
async function captured(act: (db: Connection) => Promise<unknown>): Promise<Buffer> {
  const bodies: Buffer[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      bodies.push(Buffer.concat(chunks));
      response.setHeader("content-type", "application/json").end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const db = await connectTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await act(db);
  db.close();
  server.closeAllConnections();
  return bodies[0]!;
}

const toRead = (local: Connection) => local.createTable("books", shelf, { schema: books });

describe("querying", () => {
  const shared = aServiceToRead(toRead);
  const queries: readonly (readonly [string, (table: Table) => { toArray(): Promise<unknown[]> }, unknown])[] = [
    ["everything", (table) => table.query(), shelf],
    ["a filter", (table) => table.query().where("id > 3"), some([4, 5])],
    ["a filter on a text with a quote", (table) => table.query().where("title = 'it''s'"), some([2])],
    ["a filter on a text that is not ASCII", (table) => table.query().where("title = 'Größe'"), some([1])],
    ["a filter on nulls", (table) => table.query().where("title IS NULL"), some([3])],
    ["a filter on a nested column", (table) => table.query().where("source.url LIKE '%/5'"), some([5])],
    ["a filter that nothing meets", (table) => table.query().where("id > 99"), []],
    ["one column", (table) => table.query().select("id").where("id < 3"), [{ id: 1 }, { id: 2 }]],
    [
      "columns in another order",
      (table) => table.query().select(["title", "id"]).where("id = 1"),
      [{ title: "Größe", id: 1 }],
    ],
    [
      "a nested column",
      (table) => table.query().select(["source.url"]).where("id = 1"),
      [{ "source.url": "https://example.org/1" }],
    ],
    [
      "expressions",
      (table) => table.query().select({ id: "id", twice: "id * 2", shout: "upper(title)" }).where("id = 4"),
      [{ id: 4, twice: 8, shout: "D" }],
    ],
    ["a limit", (table) => table.query().orderBy({ columnName: "id" }).limit(2), some([1, 2])],
    ["a limit beyond the end", (table) => table.query().limit(99), shelf],
    ["an offset", (table) => table.query().orderBy({ columnName: "id" }).offset(3).limit(10), some([4, 5])],
    [
      "filter, order, limit and offset",
      (table) => table.query().where("id <> 4").orderBy({ columnName: "id" }).offset(1).limit(2),
      some([2, 3]),
    ],
  ];

  test.each(queries)("a query with %s brings back the rows that it should", async (_, query, expected) => {
    const table = await shared().remote.openTable("books");
    expect(byId(plain(await query(table).toArray()) as never)).toEqual(expected);
  });

  test.each([
    ["descending", { columnName: "id", ascending: false }, [5, 4, 3, 2, 1]],
    ["by a text with its nulls first", { columnName: "title", nullsFirst: true }, [3, 1, 4, 5, 2]],
    ["by a text with its nulls last", { columnName: "title", nullsFirst: false }, [1, 4, 5, 2, 3]],
  ])("rows come back ordered %s", async (_, ordering, expected) => {
    const table = await shared().remote.openTable("books");
    expect(ids(await table.query().orderBy(ordering).limit(10).toArray())).toEqual(expected);
  });

  test("rows come back ordered by two columns", async () => {
    const { table } = await aShelf();
    await table.add([book(6, "d", [1, 1])]);
    const ordering = [
      { columnName: "title", nullsFirst: false },
      { columnName: "id", ascending: false },
    ];
    expect(ids(await table.query().orderBy(ordering).limit(10).toArray())).toEqual([1, 6, 4, 5, 2, 3]);
  });

  test("an answer without rows still has its columns", async () => {
    const table = await shared().remote.openTable("books");
    const query = table.query().where("false").select(["id", "title"]);
    expect((await query.outputSchema()).fields.map(String)).toEqual(["id: Int32", "title: Utf8"]);
    expect(await query.toArray()).toEqual([]);
  });
});

describe("vector search", () => {
  const shared = aServiceToRead(toRead);
  const search = (table: Table) => table.query().nearestTo([0, 0]).select(["id", "_distance"]);
  const found = async (query: ReturnType<typeof search>) =>
    (plain(await query.toArray()) as { id: number; _distance: number }[]).map(({ id, _distance }) => [
      id,
      Math.round(_distance * 1e6) / 1e6,
    ]);

  const searches: readonly (readonly [string, (table: Table) => ReturnType<typeof search>, unknown])[] = [
    [
      "a limit",
      (table) => search(table).limit(2),
      [
        [1, 0],
        [3, 1],
      ],
    ],
    [
      "an offset",
      (table) => search(table).limit(2).offset(1),
      [
        [3, 1],
        [5, 4],
      ],
    ],
    ["a filter before the search", (table) => search(table).where("id > 3").limit(1), [[5, 4]]],
    ["a filter after the search", (table) => search(table).where("id > 3").postfilter().limit(3), [[5, 4]]],
    [
      "a range of distances",
      (table) => search(table).distanceRange(1, 25),
      [
        [3, 1],
        [5, 4],
      ],
    ],
    ["the column named", (table) => search(table).column("embedding").limit(1), [[1, 0]]],
    [
      "cosine",
      (table) => table.query().nearestTo([3, 4]).distanceType("cosine").where("id <> 1").select(["id", "_distance"]),
      [
        [2, 0],
        [5, 0.2],
        [3, 0.4],
        [4, 0.72],
      ],
    ],
    [
      "dot",
      (table) => table.query().nearestTo([1, 1]).distanceType("dot").where("id in (2, 4)").select(["id", "_distance"]),
      [
        [2, -6],
        [4, -1],
      ],
    ],
  ];

  test.each(searches)("a search with %s finds what it should, as in a local database", async (_, query, expected) => {
    const { remote, local } = shared();
    for (const db of [remote, local]) expect(await found(query(await db.openTable("books")))).toEqual(expected);
  });

  test("of two vector columns the named one is searched", async () => {
    const { remote } = await aService();
    const table = await remote.createTable(
      "two",
      [
        { id: 1, one: [0, 0], other: [9, 9] },
        { id: 2, one: [9, 9], other: [0, 0] },
      ],
      {
        schema: new Schema([
          nullable("id", new arrow.Int32()),
          nullable("one", vector(2)),
          nullable("other", vector(2)),
        ]),
      },
    );
    const nearest = async (column: string) =>
      ids(await table.query().nearestTo([0, 0]).column(column).limit(1).toArray());
    expect([await nearest("one"), await nearest("other")]).toEqual([[1], [2]]);
  });
});

describe("counting and changing rows", () => {
  test("an update by SQL without a filter changes every row", async () => {
    const { folder, table } = await aShelf();
    const result = await table.update({ valuesSql: { id: "id + 10", title: "NULL" } });
    expect(result).toEqual({ rowsUpdated: 5, version: 2 });
    expect(byId(await rowsOf(folder, "books"))).toEqual(shelf.map((row) => ({ ...row, id: row.id + 10, title: null })));
  });
});

describe("merge insert", () => {
  const news = [book(5, "changed", [5, 5]), book(6, "new", [6, 6])];
  const merges: readonly (readonly [
    string,
    (table: Table) => ReturnType<Table["mergeInsert"]>,
    Readonly<Record<string, number>>,
    unknown,
  ])[] = [
    [
      "an upsert",
      (table) => table.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll(),
      { numInsertedRows: 1, numUpdatedRows: 1, numDeletedRows: 0 },
      [...some([1, 2, 3, 4]), ...news],
    ],
    [
      "an insert of what is missing",
      (table) => table.mergeInsert("id").whenNotMatchedInsertAll(),
      { numInsertedRows: 1, numUpdatedRows: 0, numDeletedRows: 0 },
      [...shelf, news[1]],
    ],
    [
      "an update of what is there",
      (table) => table.mergeInsert("id").whenMatchedUpdateAll(),
      { numInsertedRows: 0, numUpdatedRows: 1, numDeletedRows: 0 },
      [...some([1, 2, 3, 4]), news[0]],
    ],
    [
      "an update under a condition that is not met",
      (table) => table.mergeInsert("id").whenMatchedUpdateAll({ where: "target.title = 'other'" }),
      { numInsertedRows: 0, numUpdatedRows: 0, numDeletedRows: 0 },
      shelf,
    ],
    [
      "a replacement",
      (table) =>
        table.mergeInsert("id").whenMatchedUpdateAll().whenNotMatchedInsertAll().whenNotMatchedBySourceDelete(),
      { numInsertedRows: 1, numUpdatedRows: 1, numDeletedRows: 4 },
      news,
    ],
    [
      "a replacement of a part",
      (table) =>
        table
          .mergeInsert("id")
          .whenMatchedUpdateAll()
          .whenNotMatchedInsertAll()
          .whenNotMatchedBySourceDelete({ where: "id > 2" }),
      { numInsertedRows: 1, numUpdatedRows: 1, numDeletedRows: 2 },
      [...some([1, 2]), ...news],
    ],
    [
      "an upsert on two columns",
      (table) => table.mergeInsert(["id", "title"]).whenMatchedUpdateAll().whenNotMatchedInsertAll(),
      { numInsertedRows: 2, numUpdatedRows: 0, numDeletedRows: 0 },
      [...shelf, ...news],
    ],
  ];

  test.each(merges)("%s does to the rows what it says and tells how many", async (_, merge, counts, expected) => {
    const { folder, table } = await aShelf();
    const result = await merge(table).execute(news);
    expect(result).toMatchObject({ ...counts, version: await table.version() });
    const sorted = (await rowsOf(folder, "books")).toSorted(
      (a, b) => Number(a.id) - Number(b.id) || (String(a.title) < String(b.title) ? -1 : 1),
    );
    expect(sorted).toEqual(
      (expected as typeof shelf).toSorted((a, b) => a.id - b.id || (String(a.title) < String(b.title) ? -1 : 1)),
    );
  });
});

describe("altering columns", () => {
  type Alterations = Parameters<Table["alterColumns"]>[0];
  const [id, title, source, embedding] = booksColumns as [string, string, string, string];

  const alterations: readonly (readonly [string, Alterations, readonly string[]])[] = [
    [
      "a path in backquotes",
      [{ path: "`source`.`url`", rename: "address" }],
      [id, title, "source: struct<address: utf8, fetched: utf8>", embedding],
    ],
    [
      "a swap",
      [
        { path: "title", rename: "id" },
        { path: "id", rename: "title" },
      ],
      ["title: int32 not null", "id: utf8", source, embedding],
    ],
    [
      "a nested swap",
      [
        { path: "source.url", rename: "fetched" },
        { path: "source.fetched", rename: "url" },
      ],
      [id, title, "source: struct<fetched: utf8, url: utf8>", embedding],
    ],
    [
      "a type as a value",
      [{ path: "id", dataType: new arrow.Int16() }],
      ["id: int16 not null", title, source, embedding],
    ],
    [
      "a vector's type as a value",
      [{ path: "embedding", dataType: vector(2, new arrow.Float16()) }],
      [id, title, source, "embedding: fixedSizeList<float16, 2>"],
    ],
    [
      "a list's type as a value",
      [{ path: "embedding", dataType: new arrow.List(item(new arrow.Float32())) }],
      [id, title, source, "embedding: list<float32>"],
    ],
    ["no nulls", [{ path: "embedding", nullable: false }], [id, title, source, `${embedding} not null`]],
    [
      "name, type and nulls in one entry",
      [{ path: "id", rename: "key", dataType: "int64", nullable: true }],
      ["key: int64", title, source, embedding],
    ],
    [
      "several columns in one call",
      [
        { path: "id", dataType: "int64" },
        { path: "title", rename: "headline" },
        { path: "source.url", rename: "address" },
        { path: "embedding", nullable: true },
      ],
      ["id: int64 not null", "headline: utf8", "source: struct<address: utf8, fetched: utf8>", embedding],
    ],
  ];

  test.each(alterations)("%s takes effect in one version and keeps the data", async (_, entries, columns) => {
    const { folder, table } = await aShelf();
    const values = async () => (await rowsOf(folder, "books")).map((row) => JSON.stringify(deepValues(row))).toSorted();
    const before = await values();
    expect(await table.alterColumns(entries)).toEqual({ version: 2 });
    expect(await columnsOf(folder, "books")).toEqual(columns);
    expect(await table.version()).toBe(2);
    expect(await values()).toEqual(before);
  });

  test.each([
    ["decimal:128:12:2", new arrow.Decimal(2, 10, 128), "decimal128(12, 2)"],
    ["timestamp:ns:UTC", new arrow.TimestampMicrosecond("UTC"), "timestamp(ns, UTC)"],
    ["timestamp:ms:-", new arrow.TimestampMicrosecond(), "timestamp(ms)"],
    ["date64:ms", new arrow.DateDay(), "date64"],
    ["date32:day", new arrow.DateMillisecond(), "date32"],
    ["time64:ns", new arrow.TimeMicrosecond(), "time64(ns)"],
    ["large_binary", new arrow.Binary(), "largeBinary"],
    ["double", new arrow.Float32(), "float64"],
    ["halffloat", new arrow.Float32(), "float16"],
    ["uint8", new arrow.Int64(), "uint8"],
    ["string", new arrow.LargeUtf8(), "utf8"],
  ])("the type %s is understood", async (dataType, from, to) => {
    const { remote, folder } = await aService();
    const table = await remote.createEmptyTable("typed", new Schema([nullable("value", from)]));
    await table.alterColumns([{ path: "value", dataType }]);
    expect(await columnsOf(folder, "typed")).toEqual([`value: ${to}`]);
  });

  test("a value that does not fit the new type is named, and the column stays as it was", async () => {
    const { folder, table } = await aShelf();
    await table.add([book(1000, "too much", [0, 0])]);
    expect(await message(table.alterColumns([{ path: "id", dataType: "int8" }]))).toMatch(
      /400 Bad Request.*Can't cast value 1000 to type Int8/s,
    );
    expect(await columnsOf(folder, "books")).toEqual(booksColumns);
  });
});

/** The values without the names, down to the leaves; a rename keeps all of them. */
function deepValues(value: unknown): unknown {
  if (Array.isArray(value) || value === null || typeof value !== "object") return value;
  return Object.values(value).map(deepValues);
}

describe("adding and dropping columns", () => {
  test("columns are added by SQL with their values", async () => {
    const { folder, table } = await aShelf();
    const result = await table.addColumns([
      { name: "twice", valueSql: "id * 2" },
      { name: "note", valueSql: "cast(NULL as string)" },
      { name: "big", valueSql: "arrow_cast(NULL, 'FixedSizeList(4, Float32)')" },
    ]);
    expect(result).toEqual({ version: 2 });
    expect(await columnsOf(folder, "books")).toEqual([
      ...booksColumns,
      expect.stringMatching(/^twice: int/),
      "note: utf8",
      "big: fixedSizeList<float32, 4>",
    ]);
    expect(byId(await rowsOf(folder, "books"))).toEqual(
      shelf.map((row) => ({ ...row, twice: row.id * 2, note: null, big: null })),
    );
  });

  test("columns are dropped, nested ones too", async () => {
    const { folder, table } = await aShelf();
    expect(await table.dropColumns(["title", "source.fetched"])).toEqual({ version: 2 });
    expect(await columnsOf(folder, "books")).toEqual([
      "id: int32 not null",
      "source: struct<url: utf8>",
      booksColumns[3],
    ]);
    expect(byId(await rowsOf(folder, "books"))).toEqual(
      shelf.map(({ id, source, embedding }) => ({ id, source: { url: source.url }, embedding })),
    );
  });
});

describe("versions and tags", () => {
  /** Version 1: five books. 2: the title renamed. 3: one book less. */
  async function history(): Promise<Served & { readonly table: Table }> {
    const served = await aShelf();
    await served.table.alterColumns([{ path: "title", rename: "headline" }]);
    await served.table.delete("id = 1");
    return served;
  }
  const namesOf = async (table: Table) => (await table.schema()).fields.map(({ name }) => name);

  test("a version that is checked out shows its schema and rows, and the latest again after", async () => {
    const { table } = await history();
    const seen = async () => [
      await table.version(),
      await namesOf(table),
      await table.countRows(),
      ids(await all(table)),
    ];
    const latest = [3, ["id", "headline", "source", "embedding"], 4, [2, 3, 4, 5]];
    expect(await seen()).toEqual(latest);
    await table.checkout(1);
    expect(await seen()).toEqual([1, ["id", "title", "source", "embedding"], 5, [1, 2, 3, 4, 5]]);
    await table.checkout(2);
    expect(await seen()).toEqual([2, ["id", "headline", "source", "embedding"], 5, [1, 2, 3, 4, 5]]);
    await table.checkoutLatest();
    expect(await seen()).toEqual(latest);
  });

  test("a search and a filtered count see the version that is checked out", async () => {
    const { table } = await history();
    await table.checkout(1);
    expect(ids(await table.query().nearestTo([0, 0]).limit(1).toArray())).toEqual([1]);
    expect(await table.countRows("title = 'Größe'")).toBe(1);
  });

  test("a version that there is not can't be checked out", async () => {
    const { table } = await history();
    expect(await message(table.checkout(99))).toMatch(/99/);
    expect(await table.countRows()).toBe(4);
  });

  const all = async (table: Table) => byId(await table.query().toArray()) as { id: unknown }[];
});

describe("dropping", () => {
  test("a dropped table is gone for everybody and its name is free", async () => {
    const { remote, local } = await aShelf();
    await remote.dropTable("books");
    expect([await remote.tableNames(), await local.tableNames()]).toEqual([[], []]);
    expect(await message(remote.openTable("books"))).toMatch(/^Table 'books' was not found/);
    const table = await remote.createTable("books", [{ x: 1 }]);
    expect(plain(await table.query().toArray())).toEqual([{ x: 1 }]);
  });

  test("dropping a table that is not there says so and leaves the others", async () => {
    const { remote } = await aShelf();
    expect(await message(remote.dropTable("nope"))).toMatch(/Table 'nope' was not found|404 Not Found.*nope/s);
    expect(await remote.tableNames()).toEqual(["books"]);
  });
});

describe("names", () => {
  test.each(["_ledger", "a..b", "x".repeat(200)])("a table may be called %s", async (name) => {
    const { remote, folder } = await aService();
    await remote.createTable(name, [{ x: 1 }]);
    const table = await remote.openTable(name);
    await table.alterColumns([{ path: "x", rename: "y" }]);
    expect(await remote.tableNames()).toEqual([name]);
    expect(await rowsOf(folder, name)).toEqual([{ y: 1 }]);
    await remote.dropTable(name);
    expect(await remote.tableNames()).toEqual([]);
  });

  // The client itself resolves "..", and cuts a name at "?" and "#": what arrives then is another name or route.
  test.each(["größe", "a$b", "../evil", "."])("a table can't be called %s", async (name) => {
    const { remote, local, folder, log } = await aService();
    const refusal = await message(remote.createTable(name, [{ x: 1 }]));
    expect(refusal).toMatch(/(^Invalid input|501 Not Implemented).*table name|Table '.*' was not found|404 Not Found/);
    expect(await local.tableNames()).toEqual([]);
    await expect(remote.openTable(name)).rejects.toThrow();
    expect(await columnsOf(folder, "x").catch(() => "none")).toBe("none");
    expect(log.join("\n")).not.toContain(apiKey);
  });
});

test("a namespace, and a table in one, are refused in a sentence", async () => {
  const { remote, folder } = await aService();
  await remote.createTable("t", [{ x: 1 }]);
  const absent = "Namespace 'n' was not found; there is only the root";
  const none = "this service has no namespaces";
  const inside = `${none}, and $ in the table name`;
  const tried: readonly (readonly [() => Promise<unknown>, string])[] = [
    [() => remote.createNamespace(["n"]), none],
    [() => remote.dropNamespace(["n"]), none],
    [() => remote.describeNamespace(["n"]), absent],
    [() => remote.listNamespaces(["n"]), absent],
    [() => remote.tableNames(["n"]), absent],
    [() => remote.createTable("t", [{ x: 1 }], ["n"]), inside],
    [() => remote.createEmptyTable("t", new arrow.Schema([new arrow.Field("x", new arrow.Int32())]), ["n"]), inside],
    [() => remote.openTable("t", ["n"]), inside],
    [() => remote.dropTable("t", ["n"]), inside],
    [() => remote.renameTable("t", "u", { newNamespacePath: ["n"] }), none],
    [() => remote.renameTable("t", "u", { namespacePath: ["n"] }), inside],
  ];
  for (const [act, sentence] of tried) expect(await message(act())).toContain(sentence);
  expect(await remote.tableNames()).toEqual(["t"]);
  expect(await rowsOf(folder, "t")).toEqual([{ x: 1 }]);
});

describe("authentication", () => {
  const refused = /401 Unauthorized/;

  test.each([
    ["a part of the key", apiKey.slice(0, -1)],
    ["the key and more", `${apiKey}x`],
  ])("with %s everything is refused, and neither key is in the sentence or the log", async (_, key) => {
    const { service, folder, log, table } = await aShelf();
    const stranger = await connectTo(service.url, { apiKey: key });
    onTestFinished(() => stranger.close());
    const refusals = [
      await message(stranger.tableNames()),
      await message(stranger.openTable("books")),
      await message(stranger.openTable("nope")),
      await message(stranger.createTable("mine", [{ x: 1 }])),
      await message(stranger.createTable("books", [{ x: 1 }], { mode: "overwrite" })),
      await message(stranger.dropTable("books")),
    ];
    for (const refusal of refusals) {
      expect(refusal).toMatch(refused);
      expect(refusal).not.toContain(apiKey);
      expect(refusal).not.toContain(key);
    }
    expect(log.join("\n")).not.toContain(apiKey);
    expect(log.join("\n")).not.toContain(key);
    expect(await table.countRows()).toBe(5);
    expect(await rowsOf(folder, "books")).toHaveLength(5);
  });

  test("where the service has a database, another one is refused by name and creates nothing", async () => {
    const { service, local } = await aService({ database: "x" });
    const other = await connectTo(service.url, { uri: "db://other" });
    onTestFinished(() => other.close());
    for (const act of [() => other.tableNames(), () => other.createTable("books", [{ x: 1 }])]) {
      const refusal = await message(act());
      expect(refusal).toMatch(/x-lancedb-database.*"other/);
    }
    expect(await local.tableNames()).toEqual([]);
  });
});

test("a base path that ends in a slash is served like one that does not", async () => {
  const { service, folder } = await aService();
  const db = await connectTo(`${service.url}/`);
  onTestFinished(() => db.close());
  await db.createTable("books", [{ x: 1 }]);
  expect(await db.tableNames()).toEqual(["books"]);
  expect(await rowsOf(folder, "books")).toEqual([{ x: 1 }]);
});

test("what one client writes another sees at once, and so does the folder", async () => {
  const { service, remote, local } = await aService();
  const other = await connectTo(service.url);
  onTestFinished(() => other.close());
  const mine = await remote.createTable("books", [{ n: 0 }]);
  const theirs = await other.openTable("books");
  for (let n = 1; n <= 20; n++) {
    await (n % 2 === 0 ? mine : theirs).add([{ n }]);
    const counts = [mine, theirs, await local.openTable("books")].map(async (table) => await table.countRows());
    expect(await Promise.all(counts)).toEqual([n + 1, n + 1, n + 1]);
  }
});

test("what another process writes to the folder the service sees at once", async () => {
  const { remote, local } = await aService();
  const table = await remote.createTable("books", [{ n: 0 }]);
  const direct = await local.openTable("books");
  await direct.add([{ n: 1 }]);
  expect(await table.countRows()).toBe(2);
  await direct.alterColumns([{ path: "n", rename: "m" }]);
  expect((await table.schema()).fields.map(({ name }) => name)).toEqual(["m"]);
  await table.add([{ m: 2 }]);
  expect(await direct.countRows()).toBe(3);
});
