/** `save` and `search` of `lance-migrate/app`, with a column that is switched at chosen moments. */
import { expect, test } from "vitest";
import { modelKey } from "../../src/features/app/column-model.ts";
import { modelOf, save, search, type Models } from "../../src/features/app/app.ts";
import { arrow } from "../service/served.ts";
import { aService, apiKey } from "../support/service.ts";
import { temporaryFolder } from "../support/project.ts";
import { lancedb, rowsOf } from "../support/tables.ts";
import { vectorOf } from "../support/vector-of.ts";
import { documentsIn, embedded, newModel, oldModel, vectorsBy, type Document } from "./scene.ts";

const { Field, FixedSizeList, Float16, Float32, Float64, Int32, Int64, List, Schema, Utf8 } = arrow;
type ArrowType = InstanceType<typeof arrow.DataType>;

type Table = Awaited<ReturnType<Awaited<ReturnType<typeof lancedb.connect>>["openTable"]>>;
type Hook = () => Promise<unknown>;

const first: readonly Document[] = [
  { id: 1, title: "one" },
  { id: 2, title: "two" },
  { id: 3, title: null },
];

const changed: readonly Document[] = [
  { id: 1, title: "another one" },
  { id: 3, title: null },
  { id: 4, title: "four" },
];

/** Both models. A hook is called before the model of that version answers for the first time. */
function models(hooks: Readonly<Record<string, Hook>> = {}) {
  const calls: string[] = [];
  const modelFor = (version: string) => async (rows: readonly Omit<Document, "id">[]) => {
    calls.push(version);
    if (calls.indexOf(version) === calls.length - 1) await hooks[version]?.();
    return rows.map(({ title }) => vectorsBy[version]!(title));
  };
  const both: Models<Omit<Document, "id">> = { [oldModel]: modelFor(oldModel), [newModel]: modelFor(newModel) };
  return { models: both, calls };
}

const longer = (title: string | null) => vectorOf(title ?? "");
const withLonger = async (rows: readonly Omit<Document, "id">[]) => rows.map(({ title }) => longer(title));

/** A table whose hidden column has vectors of another model. */
async function aTable(vectorIn = vectorsBy[newModel]!) {
  const folder = temporaryFolder();
  const open = async () => await (await lancedb.connect(folder)).openTable("docs");
  const rows = embedded(first, oldModel).map((row) => ({ ...row, note: `note ${row.id}` }));
  const vectors = (length: number) => new FixedSizeList(length, new Field("item", new Float32(), true));
  const schema = new Schema([
    new Field("id", new Int32()),
    new Field("title", new Utf8(), true),
    new Field("note", new Utf8(), true),
    new Field("embedding", vectors(2), true),
  ]);
  const other = await (await lancedb.connect(folder)).createTable("docs", lancedb.makeArrowTable(rows, { schema }));
  await other.addColumns(new Field("next", vectors(vectorIn("").length), true));
  for (const { id, title } of first)
    await other.update({ where: `id = ${id}`, values: { next: [...vectorIn(title)] } });
  await other.updateFieldMetadata([{ path: "next", metadata: { [modelKey]: newModel } }]);
  const switchColumns = async () => {
    await other.checkoutLatest();
    await other.alterColumns([
      { path: "embedding", rename: "embedding_old" },
      { path: "next", rename: "embedding" },
    ]);
  };
  return { folder, table: await open(), other, switchColumns };
}

/** The table, which calls a hook before each write: after its last look. */
function beforeWrites(table: Table, hook: Hook): Table {
  const hooked = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(_, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        const call = value.bind(target) as (...args: unknown[]) => object;
        if (name === "execute") return async (...args: unknown[]) => (await hook(), await call(...args));
        return /^(mergeInsert|useIndex|when)/.test(String(name)) ? (...args: unknown[]) => hooked(call(...args)) : call;
      },
    });
  return hooked(table);
}

function once(hook: Hook): Hook {
  let isDone = false;
  return async () => {
    if (isDone) return;
    isDone = true;
    await hook();
  };
}

const titled = ({ id, title }: Document) => ({ id, title });

test("rows are updated and inserted with the model that the column has, before a switch and after it", async () => {
  const { folder, table, switchColumns } = await aTable();
  const { models: both, calls } = models();
  expect(await modelOf(table, "embedding")).toBeUndefined();
  await save(table, "embedding", changed, { key: "id", models: both });
  const [, two] = first;
  const after = [changed[0]!, two!, ...changed.slice(1)];
  expect(await documentsIn(folder)).toEqual(embedded(after, oldModel));
  await switchColumns();
  expect(await modelOf(table, "embedding")).toBe(newModel);
  await save(table, "embedding", after, { key: "id", models: both });
  expect(await documentsIn(folder)).toEqual(embedded(after, newModel));
  expect(calls).toEqual([oldModel, newModel]);
  // What the rows lack stays.
  expect((await rowsOf(folder, "docs")).map(({ note }) => note).toSorted()).toEqual(
    ["note 1", "note 2", "note 3", null].toSorted(),
  );
});

test("indexes cover the rows beside those that are saved, although the rows lack columns of the table", async () => {
  const { table, other } = await aTable();
  await other.optimize();
  await other.createIndex("id", { config: lancedb.Index.btree() });
  await other.createIndex("note", { config: lancedb.Index.bitmap() });
  await save(table, "embedding", [{ id: 1, title: "another", note: "b" }], { key: "id", models: models().models });
  const covered = ["id_idx", "note_idx"].map(async (name) => (await table.indexStats(name))?.numUnindexedRows);
  expect(await Promise.all(covered)).toEqual([1, 1]);
});

/** A table with a hidden column and its marks, and one that a migration keeps, with its marks. */
async function aMigratedTable(keyType: ArrowType = new Int64(), keys: readonly unknown[] = [1, 2]) {
  const folder = temporaryFolder();
  const db = await lancedb.connect(folder);
  const vectors = (item: ArrowType) => new FixedSizeList(2, new Field("item", item, true));
  const next = new Field("_lance_migrate_next_embedding", vectors(new Float16()), true);
  const schema = new Schema([
    new Field("id", keyType),
    new Field("title", new Utf8(), true),
    new Field("embedding_old", vectors(new Float32()), true),
    new Field("embedding", vectors(new Float32()), true),
    new Field("_lance_migrate_kept_embedding_old", new Utf8(), true),
    next,
    new Field("_lance_migrate_source_embedding", new Utf8(), true),
  ]);
  const rows = keys.map((id, at) => ({
    id,
    title: `title ${at}`,
    embedding_old: [0.1, at],
    embedding: [at, 0],
    _lance_migrate_kept_embedding_old: `kept ${at}`,
    _lance_migrate_next_embedding: [at, 0.5],
    _lance_migrate_source_embedding: at === 0 ? null : `mark ${at}`,
  }));
  const table = await db.createTable("docs", lancedb.makeArrowTable(rows, { schema }));
  const fields = async () => {
    const found = (await rowsOf(folder, "docs")) as readonly Record<string, unknown>[];
    const values = found.map((row) =>
      schema.fields.map(({ name }) => {
        const value = row[name] as Iterable<unknown> | string | null;
        return typeof value === "object" && value !== null ? [...value] : value;
      }),
    );
    return values.toSorted((one, other) => (String(one[0]) < String(other[0]) ? -1 : 1));
  };
  return { table, fields, other: await db.openTable("docs") };
}

/** The conditions of the updates of a table. */
function conditionsOf(table: Table): { readonly table: Table; readonly conditions: readonly (string | undefined)[] } {
  const conditions: (string | undefined)[] = [];
  const watching = new Proxy(table, {
    get(_, name) {
      const value: unknown = Reflect.get(table, name, table);
      if (typeof value !== "function") return value;
      if (name !== "mergeInsert") return value.bind(table) as unknown;
      return (key: string) => watched(table.mergeInsert(key));
    },
  });
  const watched = <Builder extends object>(builder: Builder): Builder =>
    new Proxy(builder, {
      get(_, name) {
        const call = Reflect.get(builder, name, builder) as (...args: unknown[]) => object;
        return (...args: unknown[]) => {
          if (name === "whenMatchedUpdateAll") conditions.push((args[0] as { where?: string } | undefined)?.where);
          const next = call.apply(builder, args);
          return name === "execute" ? next : watched(next);
        };
      },
    });
  return { table: watching, conditions };
}

const oldTitles: Models<{ title: string }> = { "": async (rows) => rows.map(({ title }) => [title.length, 7]) };

test.each([
  { what: "integers", type: new Int64(), keys: [1, 2], fresh: 3 },
  { what: "texts", type: new Utf8(), keys: ["a' or 'b", "ä\\`"], fresh: "ö" },
])("saved rows keep what migrations have in their columns, which are not read in other rows: $what", async (how) => {
  const { fields, other, ...migrated } = await aMigratedTable(how.type, how.keys);
  const { table, conditions } = conditionsOf(migrated.table);
  await other.createIndex("id");
  const rows = [how.keys[0], how.fresh].map((id) => ({ id, title: "new" }));
  await save(table, "embedding", rows, { key: "id", models: oldTitles });
  const oldValue = Math.fround(0.1);
  expect(await fields()).toEqual([
    [how.keys[0], "new", [oldValue, 0], [3, 7], "kept 0", null, null],
    [how.keys[1], "title 1", [oldValue, 1], [1, 0], "kept 1", [1, 0.5], "mark 1"],
    [how.fresh, "new", null, [3, 7], null, null, null],
  ]);
  expect(conditions).toEqual([expect.stringContaining("target.`_lance_migrate_kept_embedding_old` = source.")]);
});

test("the least integer of 64 bits may be a key", async () => {
  const least = -(2n ** 63n);
  const { table, fields } = await aMigratedTable(new Int64(), [least]);
  await save(table, "embedding", [{ id: least, title: "new" }], { key: "id", models: oldTitles });
  expect((await fields())[0]!.slice(1, 5)).toEqual(["new", [Math.fround(0.1), 0], [3, 7], "kept 0"]);
});

test.each([
  { what: "integers", type: new Int64(), keys: [1, 2] },
  { what: "numbers, which can't be looked up", type: new Float64(), keys: [1.5, 2.5] },
])("what a migration prepares is computed again for saved rows, so that nothing is looked up: $what", async (how) => {
  const { fields, other, ...migrated } = await aMigratedTable(how.type, how.keys);
  await other.dropColumns(["embedding_old", "_lance_migrate_kept_embedding_old"]);
  const { table, conditions } = conditionsOf(migrated.table);
  const neverRead = new Proxy(table, {
    get: (_, name) => (name === "query" ? undefined : (Reflect.get(table, name) as unknown)),
  });
  await save(neverRead, "embedding", [{ id: how.keys[0], title: "new" }], { key: "id", models: oldTitles });
  expect(await fields()).toEqual([
    [how.keys[0], "new", undefined, [3, 7], undefined, null, null],
    [how.keys[1], "title 1", undefined, [1, 0], undefined, [1, 0.5], "mark 1"],
  ]);
  expect(conditions).toEqual([undefined]);
});

test("marks of old values, which a rollback brings back, are carried", async () => {
  const { table, fields, other } = await aMigratedTable();
  await other.dropColumns(["_lance_migrate_next_embedding"]);
  await save(table, "embedding", [{ id: 2, title: "new" }], { key: "id", models: oldTitles });
  const [, second] = await fields();
  expect(second).toEqual([2, "new", [Math.fround(0.1), 1], [3, 7], "kept 1", undefined, "mark 1"]);
});

test("columns of migrations that change before the write stay as they are then", async () => {
  const { table, fields, other } = await aMigratedTable();
  const change = once(async () => {
    await other.update({ where: "id = 1", valuesSql: { embedding_old: "null" } });
    await other.update({ where: "id = 2", values: { _lance_migrate_kept_embedding_old: "newer" } });
    await other.add([
      { id: 3n, title: "of another", embedding: [1, 1], _lance_migrate_kept_embedding_old: "inserted" },
    ]);
  });
  const rows = [1, 2, 3].map((id) => ({ id, title: "new" }));
  await save(beforeWrites(table, change), "embedding", rows, { key: "id", models: oldTitles });
  const oldValue = Math.fround(0.1);
  expect(await fields()).toEqual([
    [1, "new", null, [3, 7], "kept 0", null, null],
    [2, "new", [oldValue, 1], [3, 7], "newer", null, null],
    [3, "new", null, [3, 7], "inserted", null, null],
  ]);
  const changing = async () =>
    void (await other.update({ where: "id = 2", values: { _lance_migrate_kept_embedding_old: `${Math.random()}` } }));
  const options = { key: "id", models: oldTitles, attempts: 3 };
  await expect(save(beforeWrites(table, changing), "embedding", rows, options)).rejects.toThrow(
    "Others keep changing the rows that are saved.",
  );
});

test.each([
  { what: "another column that the rows lack", how: { extra: true } },
  { what: "a key that is neither an integer nor a text", how: { type: new Float64(), keys: [1.5, 2.5] } },
  { what: "a key that several rows have", how: { keys: [1, 1] } },
  { what: "lists of vectors in a kept column", how: { lists: true } },
])("$what: the engine leaves all columns as they are", async ({ how }) => {
  const {
    extra = false,
    lists = false,
    type,
    keys = [1, 2],
  } = how as Partial<{
    extra: boolean;
    lists: boolean;
    type: ArrowType;
    keys: unknown[];
  }>;
  const { fields, other, ...migrated } = await aMigratedTable(type, keys);
  const { table, conditions } = conditionsOf(migrated.table);
  const hidden = "_lance_migrate_kept_other";
  const item = new Field("item", new FixedSizeList(2, new Field("item", new Float32(), true)), true);
  if (lists) {
    const listed = lancedb.makeArrowTable(
      keys.map((id) => ({ id, [hidden]: [[1.5, 2.5]] })),
      { schema: new Schema([new Field("id", new Int64()), new Field(hidden, new List(item), true)]) },
    );
    await other.addColumns(new Field(hidden, new List(item), true));
    await other.mergeInsert("id").whenMatchedUpdateAll().execute(listed);
  }
  const nested = async () =>
    (await other.query().select([hidden]).toArray()).map((row) => JSON.stringify(row)).toSorted();
  const before = lists ? await nested() : [];
  if (extra) await other.addColumns([{ name: "note", valueSql: "concat('note ', title)" }]);
  await save(table, "embedding", [{ id: keys[0], title: "new" }], { key: "id", models: oldTitles });
  const oldValue = Math.fround(0.1);
  const changed = keys.map((id, at) =>
    id === keys[0]
      ? [id, "new", [oldValue, at], [3, 7], `kept ${at}`, [at, 0.5], at === 0 ? null : `mark ${at}`]
      : [id, `title ${at}`, [oldValue, at], [at, 0], `kept ${at}`, [at, 0.5], `mark ${at}`],
  );
  expect(await fields()).toEqual(changed);
  await other.checkoutLatest();
  if (lists) expect(await nested()).toEqual(before);
  expect(before.join().match(/1\.5/g) ?? []).toHaveLength(before.length);
  expect(before).toHaveLength(lists ? 2 : 0);
  expect(conditions).toEqual([undefined]);
});

test("vectors of a model that the column no longer has when they are there are not written", async () => {
  const { folder, table, switchColumns } = await aTable();
  const { models: both, calls } = models({ [oldModel]: switchColumns });
  let writes = 0;
  const counting = beforeWrites(table, async () => writes++);
  await save(counting, "embedding", changed, { key: "id", models: both });
  expect([calls, writes]).toEqual([[oldModel, newModel], 1]);
  const [, two] = first;
  expect(await documentsIn(folder)).toEqual(embedded([changed[0]!, two!, ...changed.slice(1)], newModel));
});

test.each([
  { when: "is outdated when it writes, so that the old column gets the vectors", refresh: false },
  { when: "is refreshed by another call, so that the new column gets vectors of the old model", refresh: true },
])("rows get a vector of the new model if the table $when", async ({ refresh }) => {
  const { folder, table, switchColumns } = await aTable();
  const { models: both } = models();
  const hook = once(async () => {
    await switchColumns();
    if (refresh) await table.checkoutLatest();
  });
  await save(beforeWrites(table, hook), "embedding", changed, { key: "id", models: both });
  const [, two] = first;
  expect(await documentsIn(folder)).toEqual(embedded([changed[0]!, two!, ...changed.slice(1)], newModel));
});

test("a write that the engine refuses because the vectors are longer now is repeated with the new model", async () => {
  const { folder, table, switchColumns } = await aTable(longer);
  const hook = once(async () => {
    await switchColumns();
    await table.checkoutLatest();
  });
  const known = { ...models().models, [newModel]: withLonger };
  await save(beforeWrites(table, hook), "embedding", changed.slice(0, 1), { key: "id", models: known });
  expect((await documentsIn(folder))[0]).toEqual({ ...changed[0], embedding: [...vectorOf("another one")] });
});

test("a row that others have saved or deleted before it gets its new vector stays as they left it", async () => {
  const { folder, table, other, switchColumns } = await aTable();
  const newer = { id: 1, title: "newest" };
  const { models: both } = models({
    [newModel]: async () => {
      await save(other, "embedding", [newer], { key: "id", models: models().models });
      await other.delete("id = 4");
    },
  });
  await save(beforeWrites(table, once(switchColumns)), "embedding", changed, { key: "id", models: both });
  expect(await documentsIn(folder)).toEqual(embedded([newer, first[1]!, changed[1]!], newModel));
});

test("with `from`, a new vector changes no other column, and is written although another one has changed", async () => {
  const { folder, table, other, switchColumns } = await aTable();
  const { models: both } = models({
    [newModel]: async () => {
      await other.checkoutLatest();
      await other.update({ where: "id = 1", values: { note: "newer" } });
    },
  });
  const row = { id: 1, title: "another one", note: "older" };
  // The key may be among these columns.
  const options = { key: "id", from: ["title", "id"], models: both };
  await save(beforeWrites(table, once(switchColumns)), "embedding", [row], options);
  expect((await documentsIn(folder))[0]).toEqual(embedded([row], newModel)[0]);
  expect((await rowsOf(folder, "docs")).find(({ id }) => id === 1)).toMatchObject({ note: "newer" });
});

test("conflicts are repeated without embedding again, and only as often as stated", async () => {
  const { folder, table } = await aTable();
  const { models: both, calls } = models();
  let writes = 0;
  const conflicting = (times: number) =>
    beforeWrites(table, async () => {
      writes++;
      if (writes <= times) throw new Error("lance error: Retryable commit conflict for version 7");
    });
  await save(conflicting(2), "embedding", changed, { key: "id", models: both, attempts: 3 });
  expect([calls, writes]).toEqual([[oldModel], 3]);
  expect((await documentsIn(folder)).map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  writes = 0;
  const options = { key: "id", models: both, attempts: 2 };
  await expect(save(conflicting(9), "embedding", changed, options)).rejects.toThrow("Retryable commit conflict");
  expect(writes).toBe(2);
});

test("another error is thrown at once", async () => {
  const { folder, table } = await aTable();
  let writes = 0;
  const failing = beforeWrites(table, async () => {
    writes++;
    throw new Error("the disk is full");
  });
  const options = { key: "id", models: models().models };
  await expect(save(failing, "embedding", changed, options)).rejects.toThrow("the disk is full");
  expect(writes).toBe(1);
  expect(await documentsIn(folder)).toEqual(embedded(first, oldModel));
});

const three = async (rows: readonly object[]) => rows.map(() => [1, 2, 3]);
const rowsOnly = { models: { [oldModel]: async () => [] } };

test.each([
  {
    what: "a model that is not known",
    options: { models: { e5: three, "": three } },
    problem: 'The column embedding has the model "bge". The known models are: "e5", "".',
  },
  {
    what: "vectors of another length",
    options: { models: { bge: three } },
    problem: 'The model "bge" has returned a vector of 3 numbers. The column embedding holds vectors of 2.',
  },
  {
    what: "too few vectors",
    options: { models: { bge: rowsOnly.models[oldModel] } },
    problem: 'The model "bge" has returned 0 vectors for 2 rows.',
  },
  {
    what: "rows with other columns than the first",
    rows: [changed[0]!, { id: 2 }],
    problem: "Row 1 has no title. All rows need the same columns.",
  },
  {
    what: "a source that the rows lack",
    options: { from: ["body"] },
    problem: "Row 0 has no body. All rows need the same columns.",
  },
  {
    what: "a column that the table lacks",
    rows: [{ id: 1, title: "one", body: "text" }],
    problem: "The table docs has no column body.",
  },
  {
    what: "two rows with the same key",
    rows: [5, 6, 5].map((id) => ({ id, title: "new" })),
    problem: "Rows 0 and 2 have the same id. Leave one of them out.",
  },
  {
    what: "a row without a key",
    rows: [{ id: null, title: "new" }],
    problem: "Row 0 has no value in the key id. Give it one, by which later calls find the row.",
  },
  { what: "a column without vectors", column: "note", problem: "The column note of docs does not hold vectors." },
  { what: "another column that the table lacks", column: "vector", problem: "The table docs has no column vector." },
])(
  "$what: an error states it, and nothing is written",
  async ({ options = {}, rows = changed.slice(0, 2), column = "embedding", problem }) => {
    const { folder, table, switchColumns } = await aTable();
    await switchColumns();
    const given = { key: "id", models: models().models, ...options } as Parameters<typeof save<Document>>[3];
    await expect(save(table, column, rows as Document[], given)).rejects.toThrow(problem);
    expect(await documentsIn(folder)).toEqual(embedded(first, newModel));
  },
);

test.each([1.5, 2 ** 32 + 1, "text", true])("a key that the client would change is refused: %s", async (id) => {
  const { folder, table } = await aTable();
  const saving = save<object>(table, "embedding", [{ id, title: "new" }], {
    key: "id",
    models: { "": async () => [[1, 2]] },
  });
  await expect(saving).rejects.toThrow(`Row 0 has ${id} in the key id, which holds values of the type Int32.`);
  expect(await documentsIn(folder)).toEqual(embedded(first, oldModel));
});

test('a column without the name of a model has that of its dimensions, if no model has the key ""', async () => {
  const { folder, table } = await aTable();
  await save(table, "embedding", changed.slice(0, 1), { key: "id", models: { 2: models().models[oldModel]! } });
  expect((await documentsIn(folder))[0]).toEqual(embedded(changed, oldModel)[0]);
  const unknown = save(table, "embedding", changed, { key: "id", models: { 3: three } });
  await expect(unknown).rejects.toThrow('the model of 2 dimensions without a version. The known models are: "3".');
});

test("a search whose column is switched before it runs is repeated with the new model", async () => {
  const { table, switchColumns } = await aTable();
  const { models: both, calls } = models();
  const hook = once(async () => {
    await switchColumns();
    await table.checkoutLatest();
  });
  const found = await search(table, "embedding", { title: "two" }, { models: both }, async (query) => {
    await hook();
    return await query.limit(1).select(["id", "_distance"]).toArray();
  });
  expect(found).toMatchObject([{ id: 2, _distance: 0 }]);
  expect(calls).toEqual([oldModel, newModel]);
});

test("a search that the engine refuses because the vectors are longer now is repeated, and another error is thrown", async () => {
  const { table, switchColumns } = await aTable(longer);
  const hook = once(async () => {
    await switchColumns();
    await table.checkoutLatest();
  });
  const known = { ...models().models, [newModel]: withLonger };
  const found = await search(table, "embedding", { title: "two" }, { models: known }, async (query) => {
    await hook();
    return await query.limit(1).toArray();
  });
  expect(found).toMatchObject([{ id: 2, _distance: 0 }]);
  const wrong = search(
    table,
    "embedding",
    { title: "two" },
    { models: known },
    async (query) => await query.where("nothing = 1").toArray(),
  );
  await expect(wrong).rejects.toThrow("nothing");
});

test("behind `migrate serve`, the client sees the name of the model and saves rows with it", async () => {
  const { folder, switchColumns } = await aTable();
  const { url } = await aService(folder);
  const db = await lancedb.connect("db://docs", { apiKey, hostOverride: url });
  const table = await db.openTable("docs");
  const { models: both } = models();
  await save(beforeWrites(table, once(switchColumns)), "embedding", changed.map(titled), { key: "id", models: both });
  expect(await modelOf(table, "embedding")).toBe(newModel);
  const [, two] = first;
  expect(await documentsIn(folder)).toEqual(embedded([changed[0]!, two!, ...changed.slice(1)], newModel));
  const found = await search(
    table,
    "embedding",
    { title: "four" },
    { models: both },
    async (query) => await query.limit(1).toArray(),
  );
  expect(found).toMatchObject([{ id: 4 }]);
});
