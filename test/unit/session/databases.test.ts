import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listDatabases, type Databases } from "../../../src/session/databases.ts";
import { inDatabase as inFolder } from "../../../src/targets/lance/options.ts";
import { inDatabase as ofService } from "../../../src/targets/rest/options/options.ts";
import { temporaryFolder } from "../../support/project.ts";

const list = (databases: unknown, folder = "/nowhere") =>
  listDatabases(databases as Databases, { file: "migrate.config.ts", folder, target: "tenants" });

async function* eachLater(names: readonly string[]) {
  for (const name of names) yield await Promise.resolve(name);
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

test("a database has settings of its own", async () => {
  expect(await list([{ name: "acme", uri: "s3://acme/tables" }])).toEqual([
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
  [() => ({ acme: true }), /can't be listed: .*not .*iterable/],
  [() => Promise.reject(new Error("no route to the directory")), /can't be listed: no route to the directory$/],
])("%j is refused", async (databases, problem) => {
  await expect(list(databases)).rejects.toMatchObject({
    code: "ERR_CONFIG_INVALID",
    details: { file: "migrate.config.ts", problem: expect.stringMatching(problem) as string },
  });
});

test("the name replaces a part of the URI of a folder or an object store", () => {
  const target = { kind: "lance", uri: "s3://{database}-tables/{database}" } as const;
  expect(inFolder(target, "acme", {})).toEqual({ kind: "lance", uri: "s3://acme-tables/acme" });
  expect(inFolder(target, "acme", { uri: "data/own" })).toEqual({ kind: "lance", uri: "data/own" });
  // Otherwise all databases would be one.
  expect(inFolder({ kind: "lance", uri: "data" }, "acme", { answerSeconds: 3 })).toEqual({
    problem: "uri must contain {database}, which is replaced by the name of each database",
  });
});

test("the name replaces a part of the address of a service, or is sent with each request", () => {
  const at = (endpoint: string) => ({ kind: "rest", endpoint }) as const;
  expect(ofService(at("db://{database}"), "acme", {})).toEqual(at("db://acme"));
  expect(ofService(at("https://lance"), "acme", {})).toEqual({ ...at("https://lance"), database: "acme" });
  expect(ofService(at("https://lance"), "acme", { database: "a/b" })).toMatchObject({ database: "a/b" });
  expect(ofService(at("https://lance"), "acme", at("https://acme"))).toEqual(at("https://acme"));
  expect(ofService({ ...at("https://lance"), database: "all" }, "acme", {})).toEqual({
    problem: "database can't be set beside databases, whose names are sent in its place",
  });
});
