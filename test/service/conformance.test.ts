/**
 * The service's document and the specification of the open Lance namespace, as one table of requests and answers
 * (conformance.json): the service must give each answer, and this tool's client must send each request and read its answer.
 * The table is in order: each request meets what those before it have left.
 */
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { tableFromIPC } from "apache-arrow";
import type { Column } from "../../src/schema/data-type.ts";
import type { Executed } from "../../src/targets/contract/target.ts";
import { open } from "../../src/features/rest/rest.ts";
import { fromIpc } from "../../src/wire/arrow/arrow-schema.ts";
import { fileType, jsonType } from "../../src/wire/content-types.ts";
import { rowsToIpc } from "../../src/wire/rows/write-rows.ts";
import type { Row } from "../../src/wire/rows/ipc-rows.ts";
import { readRows } from "../../src/wire/rows/read-rows.ts";
import { serve } from "../rest/servers.ts";
import { temporaryFolder } from "../support/project.ts";
import { send } from "./raw.ts";
import { startIn } from "./served.ts";

interface Arrow {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
}

/** A body, which is JSON or Arrow data. */
interface Body {
  readonly json?: unknown;
  readonly arrow?: Arrow;
}

interface Entry {
  /** The section that it comes from: of the service's document, or the operation of the namespace. */
  readonly section: string;
  /** How the answer differs from the section on purpose. */
  readonly differs?: string;
  readonly request: Body & {
    readonly method: string;
    readonly path: string;
    /** Besides the common ones; null for a common one that is not sent. */
    readonly headers?: Readonly<Record<string, string | null>>;
  };
  readonly answer: Body & { readonly status: number };
  /** Places in the answer whose values differ from run to run; only their types are compared. */
  readonly varies?: readonly string[];
  readonly client?: {
    readonly dialect: "service" | "namespace";
    /** What the client sends, if that differs from the request of the section. */
    readonly path?: string;
    readonly json?: unknown;
    /** The JSON that it is answered with, if that differs. */
    readonly answer?: unknown;
    /** The method of the target, its arguments, and what it gives. */
    readonly call: string;
    readonly arguments: readonly unknown[];
    readonly gives: unknown;
  };
}

const table = JSON.parse(readFileSync(new URL("conformance.json", import.meta.url), "utf8")) as {
  readonly key: string;
  readonly database: string;
  readonly headers: Readonly<Record<string, string>>;
  /** All operations of the namespace. */
  readonly operations: readonly string[];
  readonly requests: readonly Entry[];
};
const { key: apiKey, database } = table;

test("every operation of the namespace has a request", () => {
  const named = table.requests.flatMap(({ section }) => /^namespace, (\w+)/.exec(section)?.[1] ?? []);
  expect([...new Set(named)].toSorted()).toEqual(table.operations);
});

test.each([
  ["as the section states them", table.requests],
  ["as this tool's client sends them", table.requests.map(asClientSends)],
])("the service answers the requests %s", async (_, requests) => {
  const { service } = await startIn(temporaryFolder(), { apiKey, database });
  onTestFinished(() => service.close());
  for (const { section, request, answer, varies = [] } of requests) {
    const headers = {
      ...table.headers,
      ...(request.json !== undefined && { "content-type": jsonType }),
      ...request.headers,
    };
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== null)) as Record<
      string,
      string
    >;
    const body = request.arrow === undefined ? toJson(request.json) : toStream(request.arrow);
    const { status, body: bytes } = await send(service.url, {
      ...request,
      headers: sent,
      ...(body !== undefined && { body }),
    });
    const found: { section: string; status: number; json?: unknown; arrow?: Arrow } = {
      section,
      status,
      ...(answer.arrow === undefined ? { json: jsonIn(bytes) } : { arrow: await arrowIn(bytes) }),
    };
    expect(withTypes(found, varies)).toEqual(withTypes({ section, ...answer }, varies));
  }
});

function asClientSends(entry: Entry): Entry {
  const { request, answer, client } = entry;
  if (client === undefined) return entry;
  const { path = request.path, json = request.json, answer: answered = answer.json } = client;
  return {
    ...entry,
    request: { ...request, path, ...(json !== undefined && { json }) },
    answer: { ...answer, ...(answered !== undefined && { json: answered }) },
  };
}

const ofClient = table.requests.filter(({ client }) => client !== undefined);

test.each(ofClient.map((entry) => [entry.section, entry] as const))("the client: %s", async (_, entry) => {
  const { request, answer } = asClientSends(entry);
  const { dialect, call, arguments: args, gives } = entry.client!;
  const { url, seen } = await serve((response) => {
    const body = answer.arrow === undefined ? toJson(answer.json) : toStream(answer.arrow);
    response.writeHead(answer.status, { "content-type": answer.arrow === undefined ? jsonType : fileType });
    response.end(body);
  });
  const given = { kind: "rest", endpoint: url, apiKey, database, dialect } as const;
  const target = await open(given, { name: "here", folder: temporaryFolder() });
  onTestFinished(() => target.close());
  const found = await methodOf(target, call)(...args);
  expect((call === "execute" ? (found as Executed).version : found) ?? null).toEqual(gives);
  const [sent, ...others] = seen;
  expect(others).toEqual([]);
  expect({
    method: sent!.method,
    path: sent!.path,
    headers: sent!.headers,
    ...(request.arrow === undefined ? { json: jsonIn(sent!.body) } : { arrow: await arrowIn(sent!.body) }),
  }).toEqual({
    method: request.method,
    path: request.path,
    headers: expect.objectContaining({ ...table.headers, ...request.headers }),
    ...(request.arrow === undefined ? { json: request.json } : { arrow: request.arrow }),
  });
});

type Method = (...args: readonly unknown[]) => Promise<unknown>;

/** `versions.keep` is the method `keep` of the target's `versions`. */
function methodOf(target: object, call: string): Method {
  return call
    .split(".")
    .reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>>)[name], target) as Method;
}

function toJson(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

function jsonIn(bytes: Buffer): unknown {
  return bytes.length === 0 ? undefined : JSON.parse(bytes.toString("utf8"));
}

function toStream({ columns, rows }: Arrow): Uint8Array {
  return rowsToIpc(columns, rows);
}

async function arrowIn(bytes: Buffer): Promise<Arrow> {
  const columns = fromIpc(bytes);
  const names = tableFromIPC(bytes).numRows === 0 ? [] : columns.map(({ name }) => name);
  return { columns, rows: names.length === 0 ? [] : readRows(bytes, names) };
}

/** The answer with types in place of the values at these paths; `*` stands for every item, "" for all of it. */
function withTypes(answer: { readonly section: string; readonly json?: unknown }, paths: readonly string[]): unknown {
  const json = paths.reduce((value, path) => typed(value, path === "" ? [] : path.split(".")), answer.json);
  return { ...answer, json };
}

function typed(value: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value))
    return value.map((item, index) => (first === "*" || first === String(index) ? typed(item, rest) : item));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, name === first ? typed(item, rest) : item]),
  );
}
