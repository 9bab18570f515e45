/** Many clients at once. */
import { expect, onTestFinished, test, vi } from "vitest";
import { Client } from "undici";
import { columnsOf, rowsOf } from "../support/tables.ts";
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

test("values that are appended while a column is retyped stay, and wait for the retype", async () => {
  const { service, folder, local } = await aService();
  const column = (ids: readonly number[]) => arrow.vectorFromArray(ids, new arrow.Int32());
  const rows = (ids: readonly number[]) => new arrow.Table({ id: column(ids), n: column(ids) });
  const first = Array.from({ length: 200_000 }, (_, id) => id);
  await local.createTable("t", rows(first));
  const [retyping, ...appending] = Array.from({ length: 5 }, () => aClient(service.url));
  let added = first.length;
  for (let turn = 0; turn < turns; turn++) {
    const type = turn % 2 === 0 ? "int64" : "int32";
    const ids = appending.map(() => added++);
    const answers = await Promise.all([
      retyping!("/v1/table/t/alter_columns", { alterations: [{ path: "n", data_type: { type } }] }),
      ...appending.map((send, place) => send("/v1/table/t/insert", arrow.tableToIPC(rows([ids[place]!]), "stream"))),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const table = await local.openTable("t");
    expect(await table.countRows()).toBe(added);
    expect(await table.countRows("n = id")).toBe(added);
  }
  expect(await columnsOf(folder, "t")).toHaveLength(2);
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
