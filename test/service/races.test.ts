/**
 * Many clients at once. SERVICE_CLIENTS and SERVICE_SECONDS make the mixed load as large as one likes; the figures are
 * printed when either is set.
 */
import { expect, onTestFinished, test, vi } from "vitest";
import { Client } from "undici";
import type { Vector } from "apache-arrow";
import { columnsOf, lancedb, rowsOf } from "../support/tables.ts";
import { rounds } from "../support/rounds.ts";
import { apiKey, arrow, aService } from "./served.ts";

const headers = { "x-api-key": apiKey };
const asJson = { ...headers, "content-type": "application/json" };
const asArrow = { ...headers, "content-type": "application/vnd.apache.arrow.stream" };

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

/** How often the same clients race. */
const races = rounds(4, 50);
/** How often one client after the other does the same. */
const turns = rounds(8, 25);

type Send = (path: string, body: Uint8Array | object) => Promise<Answer>;

/** A client with one connection of its own, which it keeps. */
function aClient(url: string): Send {
  const client = new Client(url, { pipelining: 1, headersTimeout: 300_000, bodyTimeout: 300_000 });
  onTestFinished(async () => await client.destroy());
  return async (path, body) => {
    const arrowBody = body instanceof Uint8Array;
    const answer = await client.request({
      path,
      method: "POST",
      headers: arrowBody ? asArrow : asJson,
      body: arrowBody ? body : JSON.stringify(body),
    });
    return { status: answer.statusCode, body: Buffer.from(await answer.body.arrayBuffer()) };
  };
}

test("of eight creates of one name at one instant exactly one wins and its row stays, again and again", async () => {
  const { service, folder, local } = await aService();
  const racers = Array.from({ length: 8 }, () => aClient(service.url));
  const row = (round: number, racer: number) =>
    arrow.tableToIPC(
      new arrow.Table({
        round: arrow.vectorFromArray([round], new arrow.Int32()),
        racer: arrow.vectorFromArray([racer], new arrow.Int32()),
      }),
      "stream",
    );

  for (let round = 0; round < races; round++) {
    const name = `race_${round}`;
    // Half of them by the document's route, half by the one of LanceDB's client.
    const paths = [`/v1/tables/${name}`, `/v1/table/${name}/create/?mode=create`];
    const answers = await Promise.all(racers.map((send, racer) => send(paths[racer % 2]!, row(round, racer))));

    const told = answers.map(({ status, body }) => (status === 200 ? "created" : `${status} ${body.toString()}`));
    const winner = told.indexOf("created");
    expect(told.filter((one) => one === "created")).toHaveLength(1);
    for (const one of told.filter((_, racer) => racer !== winner)) expect(one).toMatch(/^400 .*already exists/);
    expect(await rowsOf(folder, name)).toEqual([{ round, racer: winner }]);
  }
  expect(await local.tableNames()).toHaveLength(races);
});

test("of creates that race with a drop none leaves a table that can't be read", async () => {
  const { service, remote } = await aService();
  const racers = Array.from({ length: 8 }, () => aClient(service.url));
  const body = arrow.tableToIPC(new arrow.Table({ x: arrow.vectorFromArray([1], new arrow.Int32()) }), "stream");
  let created = 0;
  for (let round = 0; round < 3 * races; round++) {
    const answers = await Promise.all(
      racers.map((send, racer) => (racer % 2 === 0 ? send("/v1/tables/t", body) : send("/v1/table/t/drop/", {}))),
    );
    for (const { status, body } of answers) expect([200, 400, 404], body.toString()).toContain(status);
    created += answers.filter(({ status }, racer) => racer % 2 === 0 && status === 200).length;
    for (const name of await remote.tableNames()) expect(await (await remote.openTable(name)).countRows()).toBe(1);
  }
  // A table of the round before may be there still, so that a round may create none.
  expect(created).toBeGreaterThan(races / 2);
});

test("of eight alters of one column at one instant each either takes effect or is told why not", async () => {
  const { service, folder, remote } = await aService();
  await remote.createTable("t", [{ name_0: 1 }]);
  const racers = Array.from({ length: 8 }, () => aClient(service.url));
  for (let round = 0; round < turns; round++) {
    const path = `name_${round}`;
    const answers = await Promise.all(
      racers.map((send) => send("/v1/table/t/alter_columns", { alterations: [{ path, rename: `name_${round + 1}` }] })),
    );
    const told = answers.map(({ status, body }) => (status === 200 ? "altered" : `${status} ${body.toString()}`));
    expect(told.filter((one) => one === "altered")).toHaveLength(1);
    for (const one of told.filter((each) => each !== "altered")) expect(one).toMatch(/^400 .*does not exist/);
  }
  expect(await columnsOf(folder, "t")).toEqual([`name_${turns}: float64`]);
});

test("of alters of different columns at one instant none is lost and none is handed a conflict", async () => {
  const { service, folder, remote } = await aService();
  const names = Array.from({ length: 8 }, (_, index) => `c${index}`);
  const int32 = new arrow.Schema(names.map((name) => new arrow.Field(name, new arrow.Int32(), true)));
  await remote.createEmptyTable("t", int32);
  const answers = await Promise.all(
    names.map((path) =>
      aClient(service.url)("/v1/table/t/alter_columns", {
        alterations: [{ path, rename: `${path}_long`, data_type: { type: "int64" } }],
      }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
  expect(await columnsOf(folder, "t")).toEqual(names.map((name) => `${name}_long: int64`));
});

test("a retype before which others' appends come each time is refused in words that make a client try again", async () => {
  const { service, folder, remote, local } = await aService();
  const column = arrow.vectorFromArray(
    Array.from({ length: 300_000 }, () => 7),
    new arrow.Int32(),
  );
  const table = await local.createTable("t", new arrow.Table({ a: column }));
  const end = new AbortController();
  const appends = Array.from({ length: 3 }, async () => {
    // One before which the others come each time is not missed.
    while (!end.signal.aborted) await table.add([{ a: 7 }]).catch(() => {});
  });
  const retype = async () =>
    await aClient(service.url)("/v1/table/t/alter_columns", {
      alterations: [{ path: "a", data_type: { type: "int64" } }],
    });
  // The service tries for 20 seconds, by a clock that runs five times as fast here.
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, "now").mockImplementation(() => 5 * now());
  const { status, body } = await retype();
  clock.mockRestore();
  end.abort();
  await Promise.all(appends);
  expect([status, JSON.parse(body.toString())]).toMatchObject([
    409,
    { code: 14, error: expect.stringMatching(/again/) },
  ]);
  expect(await columnsOf(folder, "t")).toEqual(["a: int32"]);

  expect(await retype()).toMatchObject({ status: 200 });
  expect(await columnsOf(folder, "t")).toEqual(["a: int64"]);
  expect(await (await remote.openTable("t")).countRows("a = 7")).toBe(await table.countRows());
});

test("of eight merges that insert one new key at one instant exactly one inserts it, again and again", async () => {
  const { service, folder, remote } = await aService();
  const columns = [new arrow.Field("key", new arrow.Int32(), true), new arrow.Field("racer", new arrow.Int32(), true)];
  await remote.createEmptyTable("t", new arrow.Schema(columns));
  const racers = Array.from({ length: 8 }, () => aClient(service.url));
  for (let round = 0; round < races; round++) {
    const answers = await Promise.all(
      racers.map((send, racer) =>
        send(
          "/v1/table/t/merge_insert/?on=key&when_not_matched_insert_all=true",
          arrow.tableToIPC(
            new arrow.Table({
              key: arrow.vectorFromArray([round], new arrow.Int32()),
              racer: arrow.vectorFromArray([racer], new arrow.Int32()),
            }),
            "stream",
          ),
        ),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(racers.map(() => 200));
    const inserted = answers.map(
      ({ body }) => (JSON.parse(body.toString()) as { num_inserted_rows: number }).num_inserted_rows,
    );
    expect(inserted.toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
    expect((await rowsOf(folder, "t")).filter(({ key }) => key === round)).toEqual([
      { key: round, racer: inserted.indexOf(1) },
    ]);
  }
});

test("of updates that count up at one instant none is lost", async () => {
  const { service, folder, remote } = await aService();
  await remote.createTable("t", [{ n: 0 }]);
  const racers = Array.from({ length: 8 }, () => aClient(service.url));
  const answers = await Promise.all(
    racers.map(async (send) => {
      const told: string[] = [];
      for (let turn = 0; turn < turns; turn++) {
        const { status, body } = await send("/v1/table/t/update/", { predicate: null, updates: [["n", "n + 1"]] });
        told.push(status === 200 ? "updated" : `${status} ${body.toString()}`);
      }
      return told;
    }),
  );
  expect(answers.flat().filter((one) => one !== "updated")).toEqual([]);
  expect(await rowsOf(folder, "t")).toEqual([{ n: 8 * turns }]);
});

test("a change that another process crosses is done again and not handed to the client", async () => {
  const { service, folder, remote, local } = await aService();
  const columns = [new arrow.Field("id", new arrow.Int32(), true), new arrow.Field("extra", new arrow.Int32(), true)];
  await remote.createEmptyTable("t", new arrow.Schema(columns));
  const send = aClient(service.url);
  const direct = await local.openTable("t");
  const told: string[] = [];
  let added = 0;
  const addSome = async (count: number): Promise<void> => {
    for (let id = 0; id < count; id++, added++) await direct.add([{ id }]);
  };
  for (let turn = 0; turn < turns; turn++) {
    const alterations = [{ path: "extra", data_type: { type: turn % 2 === 0 ? "int64" : "int32" } }];
    const [{ status, body }] = await Promise.all([send("/v1/table/t/alter_columns", { alterations }), addSome(4)]);
    told.push(status === 200 ? "altered" : `${status} ${body.toString()}`);
  }
  expect(told.filter((one) => one !== "altered")).toEqual([]);
  expect(await rowsOf(folder, "t")).toHaveLength(added);
});

const clients = Number(process.env.SERVICE_CLIENTS ?? 20);
const seconds = Number(process.env.SERVICE_SECONDS ?? rounds(2, 5));
const tables = ["load_0", "load_1", "load_2", "load_3"];

/** What an acknowledged row has to read back as. */
const amountOf = (id: number) => (id % 1000) + 1;
const noteOf = (id: number) => `note ${id}`;

interface Shape {
  readonly amount: "amount" | "total";
  readonly bits: 32 | 64;
}

function rowFor(id: number, { amount, bits }: Shape): Uint8Array {
  const value = amountOf(id);
  const numbers =
    bits === 32
      ? arrow.vectorFromArray([value], new arrow.Int32())
      : (arrow.vectorFromArray([BigInt(value)], new arrow.Int64()) as Vector);
  return arrow.tableToIPC(
    new arrow.Table({
      id: arrow.vectorFromArray([id], new arrow.Int32()),
      [amount]: numbers,
      note: arrow.vectorFromArray([noteOf(id)], new arrow.Utf8()),
    }),
    "stream",
  );
}

/** The rows of an answer: what is told of each id, whatever the amount is called and however wide it is. */
function readRows(bytes: Uint8Array): readonly (readonly [number, number | null, string | null])[] {
  return arrow
    .tableFromIPC(bytes)
    .toArray()
    .map((row) => cells(row.toJSON()));
}

function cells(row: Record<string, unknown>): readonly [number, number | null, string | null] {
  const amount = "amount" in row ? row.amount : row.total;
  return [Number(row.id), amount === null ? null : Number(amount), row.note as string | null];
}

/** A refusal that an honest race explains: the schema that the request was made for is not the table's any more. */
const honest: Readonly<Record<string, RegExp>> = {
  insert: /amount|total|schema|type/i,
  rename: /Column "(amount|total)" does not exist/,
  retype: /Column "(amount|total)" does not exist/,
};

test(`${clients} clients that mix alters, inserts and reads for ${seconds} s lose no row and see no 5xx`, async () => {
  const { service, folder, remote, log } = await aService();
  const schema = new arrow.Schema([
    new arrow.Field("id", new arrow.Int32(), false),
    new arrow.Field("amount", new arrow.Int32(), true),
    new arrow.Field("note", new arrow.Utf8(), true),
  ]);
  for (const table of tables) await remote.createEmptyTable(table, schema);

  const acknowledged = new Map(tables.map((table) => [table, [] as number[]]));
  const refused = new Set<number>();
  const wrong: string[] = [];
  const times: Record<string, number[]> = {};
  const counts: Record<string, number> = {};
  let nextId = 1;
  const until = performance.now() + seconds * 1000;
  // However slow the machine is, every kind of request is there and has an effect.
  const isLacking = () =>
    ["insert", "read", "count", "rename", "retype", "nullable"].some((kind) => !counts[`${kind} 200`]);

  const loop = async (client: number): Promise<void> => {
    const send = aClient(service.url);
    // What this client believes of each table; it learns otherwise when it is refused.
    const shapes = new Map<string, Shape>(tables.map((table) => [table, { amount: "amount", bits: 32 }]));
    const timed = async (kind: string, path: string, body: Uint8Array | object): Promise<Answer> => {
      const start = performance.now();
      const answer = await send(path, body);
      (times[kind] ??= []).push(performance.now() - start);
      const outcome = `${kind} ${answer.status}`;
      counts[outcome] = (counts[outcome] ?? 0) + 1;
      if (answer.status === 200) return answer;
      const text = answer.body.toString();
      if (answer.status !== 400 || !(honest[kind]?.test(text.replaceAll('\\"', '"')) ?? false)) {
        wrong.push(`${outcome} ${text}`);
      }
      return answer;
    };
    const learn = async (table: string): Promise<void> => {
      const { body } = await timed("describe", `/v1/table/${table}/describe/`, {});
      const { fields } = (JSON.parse(body.toString()) as Described).schema;
      const column = fields.find(({ name }) => name === "amount" || name === "total")!;
      shapes.set(table, { amount: column.name as "amount", bits: column.type.type === "int64" ? 64 : 32 });
    };

    for (let turn = client; performance.now() < until || (isLacking() && wrong.length === 0); turn++) {
      const table = tables[(turn * 7 + client) % tables.length]!;
      const shape = shapes.get(table)!;
      const alter = async (kind: string, entry: object) =>
        await timed(kind, `/v1/table/${table}/alter_columns`, { alterations: [entry] });
      const dice = (turn * 2_654_435_761) % 100;
      if (dice < 50) {
        const id = nextId++;
        const { status } = await timed("insert", `/v1/table/${table}/insert/`, rowFor(id, shape));
        if (status === 200) acknowledged.get(table)!.push(id);
        else {
          refused.add(id);
          await learn(table);
        }
      } else if (dice < 78) {
        const known = acknowledged.get(table)!;
        const id = known[Math.floor(known.length * ((dice - 50) / 28))];
        if (id === undefined) continue;
        const answer = await timed("read", `/v1/table/${table}/query/`, { vector: [], k: 10, filter: `id = ${id}` });
        if (answer.status !== 200) continue;
        const rows = JSON.stringify(readRows(answer.body));
        const expected = JSON.stringify([[id, amountOf(id), noteOf(id)]]);
        if (rows !== expected) wrong.push(`read of ${id} in ${table}: ${rows}`);
      } else if (dice < 84) {
        const known = acknowledged.get(table)!.length;
        const { body } = await timed("count", `/v1/table/${table}/count_rows/`, {});
        if (Number(body.toString()) < known) wrong.push(`count of ${table}: ${body.toString()}, acknowledged ${known}`);
      } else if (dice < 91) {
        const other = shape.amount === "amount" ? "total" : "amount";
        const { status } = await alter("rename", { path: shape.amount, rename: other });
        if (status === 200) shapes.set(table, { ...shape, amount: other });
        else await learn(table);
      } else if (dice < 96) {
        const bits = shape.bits === 32 ? 64 : 32;
        const { status } = await alter("retype", { path: shape.amount, data_type: { type: `int${bits}` } });
        if (status === 200) shapes.set(table, { ...shape, bits });
        else await learn(table);
      } else {
        await alter("nullable", { path: "note", nullable: dice % 2 === 0 });
      }
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: clients }, (_, client) => loop(client)));
  const took = (performance.now() - start) / 1000;

  if (process.env.SERVICE_CLIENTS !== undefined || process.env.SERVICE_SECONDS !== undefined) {
    process.stdout.write(`${figures(took, counts, times)}\n`);
  }
  expect(wrong.slice(0, 20)).toEqual([]);
  for (const table of tables) {
    const db = await lancedb.connect(folder);
    const rows = (await (await db.openTable(table)).query().toArray()) as { toJSON(): Record<string, unknown> }[];
    const found = new Map(rows.map((row) => cells(row.toJSON())).map((row) => [row[0], row]));
    const lost = acknowledged.get(table)!.filter((id) => {
      const row = found.get(id);
      return row === undefined || row[1] !== amountOf(id) || row[2] !== noteOf(id);
    });
    expect(lost.map((id) => found.get(id) ?? `${id} is missing`)).toEqual([]);
    // Each row once, and none that was refused.
    expect(rows).toHaveLength(acknowledged.get(table)!.length);
    expect([...found.keys()].filter((id) => refused.has(id))).toEqual([]);
    db.close();
  }
  expect(log.filter((line) => line.includes(apiKey))).toEqual([]);
});

interface Described {
  readonly schema: { readonly fields: readonly { readonly name: string; readonly type: { readonly type: string } }[] };
}

function figures(took: number, counts: Record<string, number>, times: Record<string, number[]>): string {
  const lines = Object.entries(times).map(([kind, list]) => {
    const sorted = list.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(0);
    return `${kind}: ${list.length}, ms p50 ${at(0.5)} p95 ${at(0.95)} p99 ${at(0.99)} max ${at(1)}`;
  });
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const memory = (process.memoryUsage().rss / 2 ** 20).toFixed(0);
  return [
    `${clients} clients, ${took.toFixed(1)} s, ${total} requests (${(total / took).toFixed(0)}/s), ${memory} MiB`,
    ...lines,
    JSON.stringify(counts),
  ].join("\n");
}
