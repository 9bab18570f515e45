/** All public methods of the JavaScript client's remote objects; docs/methods-javascript.md is written from this. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  branchMethods,
  connectionMethods,
  queryMethods,
  rows,
  schema,
  tableMethods,
  tagMethods,
  type Row,
} from "../clients/methods/javascript.ts";
import { pageOf } from "../clients/methods/page.ts";
import { connectTo, plain, startIn } from "./served.ts";
import type { Service } from "../../src/features/serve/start-service.ts";

const groups = {
  Connection: connectionMethods,
  Table: tableMethods,
  "Table.tags()": tagMethods,
  "Table.branches()": branchMethods,
  "Table.query()": queryMethods,
};

const folder = mkdtempSync(join(tmpdir(), "client-methods-"));
let service: Service;

beforeAll(async () => {
  ({ service } = await startIn(folder));
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

async function aPlace(name: string) {
  const db = await connectTo(service.url);
  return { db, name, table: await db.createTable(name, rows, { schema }) };
}

/** The public methods and getters of an object's classes. */
function methodsOf(object: object): readonly string[] {
  const names = new Set<string>();
  for (let at: object = Object.getPrototypeOf(object); at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const name of Object.getOwnPropertyNames(at))
      if (name !== "constructor" && !name.startsWith("_")) names.add(name);
  return [...names].toSorted();
}

/** Of the classes of queries; the types do not declare them, or as protected. */
const internal: ReadonlySet<string> = new Set(["doCall", "doVectorCall", "getInner", "nativeExecute"]);

test("every public method has a row", async () => {
  const { db, table } = await aPlace("reflection");
  const found = {
    Connection: methodsOf(db),
    Table: methodsOf(table),
    "Table.tags()": methodsOf(await table.tags()),
    "Table.branches()": methodsOf(await table.branches()),
    "Table.query()": [...new Set([...methodsOf(table.query()), ...methodsOf(table.query().nearestTo([1, 0]))])]
      .filter((name) => !internal.has(name))
      .toSorted(),
  };
  expect(found).toEqual(
    Object.fromEntries(Object.entries(groups).map(([group, methods]) => [group, Object.keys(methods).toSorted()])),
  );
});

describe.each(Object.entries(groups))("%s", (group, methods: Readonly<Record<string, Row>>) => {
  test.each(Object.entries(methods))("%s", async (method, { call, gives, refusedBy, message = "" }) => {
    const name = `${group.replace(/\W/g, "")}_${method}`;
    const work = async () => plain((await call(await aPlace(name))) ?? null);
    if (refusedBy === undefined) return expect(await work()).toEqual(plain(gives ?? null));
    const refusal = await work().then(String, ({ message: text }: Error) => text);
    expect(refusal).toContain(message.replace("NAME", name));
    // So would a client report an operation that the service answers with 404.
    expect(refusal).not.toContain(`Table '${name}' was not found`);
  });
});

test("a query plan does not reveal where the tables are", async () => {
  const { table } = await aPlace("plan");
  const plan = (await table.query().explainPlan(true)) + (await table.query().analyzePlan());
  expect(plan).toContain("plan.lance");
  expect(plan).not.toContain(folder.slice(1));
});

test("the page of docs shows all methods", async () => {
  const shown = Object.entries(groups).map(([group, methods]) => [
    group,
    Object.entries(methods).map(([name, { refusedBy, message }]) => ({ name, refusedBy, message })),
  ]);
  const intro =
    "What the methods of `@lancedb/lancedb` 0.39 do when they are connected to [`migrate serve`](service.md).";
  const page = pageOf("Methods of the JavaScript client", intro, Object.fromEntries(shown));
  await expect(page).toMatchFileSnapshot("../../docs/methods-javascript.md");
});
