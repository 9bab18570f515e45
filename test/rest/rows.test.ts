/** Rows that are written through a service whose answers get lost, or are not what was asked for. */
import { afterAll, describe, expect, test } from "vitest";
import { columnsOf, int64, utf8 } from "../../src/schema/declare/type-builders.ts";
import { open } from "../../src/features/rest/rest.ts";
import type { RowAccess } from "../../src/targets/contract/row-access.ts";
import type { Target } from "../../src/targets/contract/target.ts";
import { rowsToIpc } from "../../src/wire/rows/write-rows.ts";
import { temporaryFolder } from "../support/project.ts";
import { aProxy, type Proxy } from "../support/proxy.ts";
import { aService, apiKey } from "../support/service.ts";
import { rowsOf } from "../support/tables.ts";
import { serve } from "./servers.ts";

const columns = columnsOf({ id: int64(), text: utf8() });
const given = { columns, rows: [{ id: 1, text: "one" }] };

async function targetAt(endpoint: string, folder = "/"): Promise<Target> {
  return await open({ kind: "rest", endpoint, apiKey, dialect: "namespace" }, { name: "test", folder });
}

interface Scene {
  readonly rows: RowAccess;
  readonly proxy: Proxy;
  readonly read: () => Promise<readonly Record<string, unknown>[]>;
}

async function aScene(): Promise<Scene> {
  const { url, data } = await aService();
  const proxy = await aProxy(url);
  const { rows } = await targetAt(proxy.url, temporaryFolder());
  await rows!.append("t", { columns, rows: [{ id: 1, text: null }] });
  return { rows: rows!, proxy, read: () => rowsOf(data, "t") };
}

type Lossy = "lost" | "unsent";
const before = { id: 1, text: null };
const [one] = given.rows;

/** A write, the request of it that gets no answer once, what it gives, and the rows after it. */
const writes: readonly (readonly [
  request: string,
  write: (rows: RowAccess) => Promise<unknown>,
  result: Readonly<Record<Lossy, unknown>>,
  after: Readonly<Record<Lossy, readonly unknown[]>>,
])[] = [
  [
    "merge_insert",
    (rows) => rows.update("t", "id", given, "target.text is null"),
    { lost: 0, unsent: 1 },
    { lost: [one], unsent: [one] },
  ],
  [
    "update",
    (rows) => rows.setNull("t", ["id"], "id = 1"),
    { lost: undefined, unsent: undefined },
    { lost: [{ ...before, id: null }], unsent: [{ ...before, id: null }] },
  ],
  [
    "insert",
    (rows) => rows.append("t", given),
    { lost: undefined, unsent: undefined },
    { lost: [before, one, one], unsent: [before, one] },
  ],
  [
    "drop",
    (rows) => rows.drop("t").then(() => rows.append("t", given)),
    { lost: undefined, unsent: undefined },
    { lost: [one], unsent: [one] },
  ],
  [
    "create",
    (rows) => rows.drop("t").then(() => rows.append("t", given)),
    { lost: undefined, unsent: undefined },
    { lost: [one, one], unsent: [one] },
  ],
];

test.each(["lost", "unsent"] as const)(
  "a write without an answer is repeated: an update counts what was left to change, and an append may come twice; %s",
  async (fate) => {
    await Promise.all(
      writes.map(async ([request, write, result, after]) => {
        const { rows, proxy, read } = await aScene();
        let asked = 0;
        proxy.fate = (_, path) => (path.includes(`/t/${request}/`) && asked++ === 0 ? fate : "passes");
        const given = await write(rows);
        expect([request, given, await read()]).toEqual([request, result[fate], after[fate]]);
        expect([request, asked]).toEqual([request, request === "create" && fate === "lost" ? 1 : 2]);
      }),
    );
  },
);

describe("an answer that is not what was asked for is refused", () => {
  const targets: Target[] = [];
  afterAll(async () => await Promise.all(targets.map((target) => target.close())));
  const answering = async (type: string, body: Uint8Array | string) => {
    const { url } = await serve((response) => response.writeHead(200, { "content-type": type }).end(body));
    const target = await targetAt(url);
    targets.push(target);
    return target.rows!;
  };

  test.each([
    ["a text", "text/plain", "hello", "that is no Arrow data with what was asked for: hello"],
    ["other columns", "application/vnd.apache.arrow.stream", rowsToIpc(columns, given.rows), "Arrow data"],
  ])("to a query: %s", async (_, type, body, problem) => {
    const rows = await answering(type, body);
    await expect(rows.read("t", { select: [["mark", "text"]] })).rejects.toThrow(problem);
  });

  test("to a merge: without the number of updated rows", async () => {
    const rows = await answering("application/json", `{"version": 7}`);
    await expect(rows.update("t", "id", given, "true")).rejects.toThrow(
      `test answered POST /v1/table/t/merge_insert/ with 200: that is no number of updated rows: {"version": 7}`,
    );
  });

  test("a service that knows no addresses of rows has no version of a table for them", async () => {
    const { url } = await serve((response, { path }) =>
      path.includes("/describe/")
        ? response.writeHead(200).end(`{"version": 7, "schema": {"fields": []}}`)
        : response.writeHead(400).end("no column _rowaddr"),
    );
    const target = await targetAt(url);
    targets.push(target);
    expect(await target.rows!.version("t")).toBeUndefined();
  });
});
