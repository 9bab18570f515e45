import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Action } from "../../src/actions/model/action.ts";
import { startService } from "../../src/features/serve/start-service.ts";
import { open as openLance } from "../../src/targets/lance/lance.ts";
import { open as openRest } from "../../src/features/rest/rest.ts";
import { temporaryFolder } from "../support/project.ts";
import { aProxy, type Fate } from "../support/proxy.ts";
import { rounds } from "../support/rounds.ts";
import { rowsOf } from "../support/tables.ts";
import { describeActions, type WholePair } from "./actions-suite.ts";
import { describeRows } from "./rows-suite.ts";
import { describeRecords, describeTarget, justSeen } from "./suite.ts";

type Dialect = "service" | "namespace";

/** Two clients of one service, and what the engine finds in its folder. */
async function openPair(dialect: Dialect, types?: "lance" | "arrow"): Promise<WholePair> {
  const folder = temporaryFolder();
  const data = join(folder, "data");
  const service = await startService({ data, host: "127.0.0.1", port: 0, workers: 0, apiKey: "a key", log: () => {} });
  const client = async () =>
    await openRest({ kind: "rest", endpoint: service.url, apiKey: "a key", dialect, types }, { name: "test", folder });
  const [one, other] = [await client(), await client()];
  const local = await openLance({ kind: "lance", uri: data }, { name: "local", folder });
  onTestFinished(async () => {
    await Promise.all([one.close(), other.close(), local.close()]);
    await service.close();
  });
  return {
    one,
    other,
    found: async (table) => justSeen(await local.describeTable(table)),
    whole: async (table) => justSeen(await local.describeTable(table, true)),
    rows: (table) => rowsOf(data, table),
  };
}

describeTarget("rest, the service's document", () => openPair("service"));
describeTarget("rest, the namespace", () => openPair("namespace"));
describeRecords("rest, the namespace, its ledger", () => openPair("namespace"));
describeActions("rest, the namespace, every kind of action", () => openPair("namespace"));
describeRows("rest, the namespace, rows", () => openPair("namespace"));

const people: Action = {
  kind: "createTable",
  table: "people",
  columns: [
    { name: "id", type: { kind: "int32" }, nullable: true },
    { name: "name", type: { kind: "utf8" }, nullable: true },
  ],
};

test("a type is understood in Arrow's names too", async () => {
  const { one, found } = await openPair("namespace", "arrow");
  await one.execute(people, undefined);
  const alterations = [
    { path: "id", type: { kind: "int64" } as const },
    { path: "name", type: { kind: "largeUtf8" } as const },
  ];
  await one.execute({ kind: "alterColumns", table: "people", alterations }, await one.describeTable("people"));
  expect((await found("people"))?.table.columns.map(({ type }) => type.kind)).toEqual(["int64", "largeUtf8"]);
});

test("a table that appears while it is described is described", async () => {
  const folder = temporaryFolder();
  const data = join(folder, "data");
  const service = await startService({ data, host: "127.0.0.1", port: 0, workers: 0, apiKey: "a key", log: () => {} });
  onTestFinished(service.close);
  const proxy = await aProxy(service.url);
  const client = async (endpoint: string) =>
    await openRest({ kind: "rest", endpoint, apiKey: "a key", dialect: "namespace" }, { name: "test", folder });
  const [one, other] = [await client(proxy.url), await client(service.url)];
  let created = false;
  // The first description is answered with 404. The table is created before the list that follows is asked for.
  proxy.fate = async (_, path): Promise<Fate> => {
    if (!created && !path.includes("/describe")) {
      created = true;
      await other.execute(people, undefined);
    }
    return "passes";
  };
  const found = await one.describeTable("people");
  expect([created, found?.table.columns.map(({ name }) => name)]).toEqual([true, ["id", "name"]]);
  await Promise.all([one.close(), other.close()]);
});

test.each(["service", "namespace"] as const)(
  "of eight that create one table at the same instant one succeeds, in the dialect %s",
  async (dialect) => {
    const { one, other } = await openPair(dialect);
    for (let round = 0; round < rounds(3, 10); round++) {
      const action: Action = { ...people, table: `people_${round}` };
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? one : other).execute(action, undefined)),
      );
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    }
  },
);
