import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { listDatabases, type Databases } from "../../../src/session/databases.ts";
import { inDatabase as inFolder } from "../../../src/targets/lance/options.ts";
import { inDatabase as ofService } from "../../../src/features/rest/options/options.ts";
import { temporaryFolder } from "../../support/project.ts";

const list = (databases: unknown, folder = "/nowhere") =>
  listDatabases(databases as Databases, { file: "migrate.config.ts", folder, target: "tenants", loadSeconds: 0.2 });

async function* eachLater(names: readonly string[]) {
  for (const name of names) yield await Promise.resolve(name);
}

async function* never() {
  yield "acme";
  await new Promise(() => {});
}

test.each<[what: string, databases: Databases]>([
  ["a list", ["acme", "globex"]],
  ["a function", () => ["acme", "globex"]],
  ["an async function", async () => await Promise.resolve(new Set(["acme", "globex"]))],
  ["an async generator", () => eachLater(["acme", "globex"])],
])("%s of names is a list of databases", async (_, databases) => {
  expect(await list(databases)).toEqual([
    { name: "acme", own: {} },
    { name: "globex", own: {} },
  ]);
});

test("a file has one name per line, with comments and empty lines", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "tenants.txt"), "\uFEFFacme\r\n\r\n# those of the second region\r\n  globex \r\n");
  expect((await list("tenants.txt", folder)).map(({ name }) => name)).toEqual(["acme", "globex"]);
});

test("a database has settings of its own, and one that is undefined is not given", async () => {
  expect(await list([{ name: "acme", uri: "s3://acme/tables", storageOptions: undefined }])).toEqual([
    { name: "acme", own: { uri: "s3://acme/tables" } },
  ]);
});

test.each<[databases: unknown, problem: RegExp]>([
  [["acme", "acme"], /holds acme twice$/],
  [["../acme"], /holds "\.\.\/acme"; the name of a database consists of letters/],
  [["..", "."], /holds "\.\."; the name/],
  [[""], /holds ""; the name/],
  [["a b"], /holds "a b"; the name/],
  [[3], /holds a value that is no name \(number\)/],
  [[{ uri: "data" }], /holds a value that is no name \(object\)/],
  ["missing.txt", /is the file missing\.txt, which can't be read: ENOENT/],
  [() => "acme", /must return a list$/],
  [() => undefined, /must return a list$/],
  [() => ({ acme: true }), /must return a list$/],
  [() => new Promise(() => {}), /can't be listed: it was not evaluated within 0\.2 s/],
  [() => never(), /can't be listed: it was not evaluated within 0\.2 s/],
  [() => Promise.reject(new Error("no route to the directory")), /can't be listed: no route to the directory$/],
])("%s is refused", async (databases, problem) => {
  await expect(list(databases)).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    details: { file: "migrate.config.ts", problem: expect.stringMatching(problem) as string },
  });
});

test("the name replaces a part of the URI of a folder or an object store", () => {
  const target = { kind: "lance", uri: "s3://{database}-tables/{database}" } as const;
  const of = (own: Parameters<typeof inFolder>[2], given: Parameters<typeof inFolder>[0] = target) =>
    inFolder(given, "acme", own, "/home");
  expect(of({})).toEqual({
    settings: { kind: "lance", uri: "s3://acme-tables/acme" },
    place: "s3://acme-tables/acme",
  });
  expect(of({ uri: "data/own/" })).toEqual({ settings: { kind: "lance", uri: "data/own/" }, place: "/home/data/own" });
  // Otherwise all databases would be one.
  expect(of({ answerSeconds: 3 }, { kind: "lance", uri: "data" })).toEqual({
    problem: "uri must contain {database}, which is replaced by the name of each database",
  });
});

describe("the name of a database of a service", () => {
  const of = (given: object, own: object = {}) => ofService({ kind: "rest", ...given }, "acme", own);

  test("replaces a part of the address", () => {
    expect(of({ endpoint: "https://{database}.lance" })).toMatchObject({
      settings: { endpoint: "https://acme.lance", database: undefined },
      place: '["https://acme.lance",null]',
    });
  });

  test("is sent with each request, also to an address of its own", () => {
    expect(of({ endpoint: "https://lance" })).toMatchObject({ settings: { database: "acme" } });
    expect(of({ endpoint: "https://lance" }, { database: "a/b" })).toMatchObject({ settings: { database: "a/b" } });
    expect(of({ endpoint: "https://lance" }, { endpoint: "https://acme" })).toMatchObject({
      settings: { endpoint: "https://acme", database: "acme" },
    });
  });

  test("can't be sent if another one is set", () => {
    expect(of({ endpoint: "https://lance", database: "all" })).toEqual({
      problem: "database can't be set beside databases, whose names are sent in its place",
    });
    vi.stubEnv("MIGRATE_DATABASE", "all");
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(of({ endpoint: "https://lance" })).toEqual({
      problem: "the environment variable MIGRATE_DATABASE can't be used with databases",
    });
  });
});
