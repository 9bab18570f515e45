/** The examples of docs/service.md run, and what it promises about compaction is true. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, expect, test } from "vitest";
import { root } from "../support/project.ts";
import { aService, apiKey, type Served } from "./served.ts";

const page = readFileSync(join(root, "docs/service.md"), "utf8");
const run = promisify(execFile);
const env = { ...process.env, MIGRATE_API_KEY: apiKey };

let served: Served;

beforeEach(async () => {
  served = await aService();
});

/** The examples of a language that contain a text, as they run against the service of the test. */
function example(language: string, part: string): string {
  const blocks = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, name]) => name === language);
  const [found, ...others] = blocks.map(([, , text = ""]) => text).filter((text) => text.includes(part));
  expect(others).toEqual([]);
  return found!.replaceAll("http://localhost:2333", served.service.url).replaceAll("./tables", served.folder);
}

const runJs = async (code: string) =>
  (await run(process.execPath, ["--input-type=module", "--eval", code], { cwd: root, env })).stdout;

test("an application with LanceDB's client", async () => {
  expect(await runJs(example("js", "hostOverride"))).toBe("1\n");
  expect(await served.local.tableNames()).toEqual(["books"]);
});

test("requests with curl", async () => {
  await served.remote.createTable("books", [{ id: 1 }, { id: 2 }]);
  expect((await run("sh", ["-c", example("sh", "curl")], { env })).stdout).toBe('{"tables":["books"]}2');
});

test("compaction with the embedded client loses no row that is inserted through the service meanwhile", async () => {
  const inserts = 40;
  const books = await served.remote.createTable("books", [{ id: 0 }]);
  const code = example("js", "optimize");
  const compaction = (async () => {
    for (let turn = 0; turn < 3; turn++)
      await runJs(code).catch((error: unknown) => expect(String(error)).toMatch(/conflict/i));
  })();
  for (let id = 1; id <= inserts; id++) await books.add([{ id }]);
  await compaction;
  await runJs(code.replace("Date.now() - 3_600_000", "Date.now()"));
  const local = await served.local.openTable("books");
  const ids = (await local.query().toArray()).map((row) => Number(row["id"])).toSorted((one, other) => one - other);
  expect(ids).toEqual(Array.from({ length: inserts + 1 }, (_, id) => id));
  expect((await local.listVersions()).length).toBeLessThan(5);
  expect((await books.stats()).fragmentStats.numFragments).toBe(1);
  expect(await books.countRows()).toBe(inserts + 1);
});

test("compaction adds new rows to an index, and stops at an old version with a tag, which stays", async () => {
  const books = await served.remote.createTable("books", [{ id: 1 }]);
  await books.createIndex("id");
  const tags = await books.tags();
  await tags.create("first", 1);
  await books.add([{ id: 2 }]);
  const cleaning = example("js", "optimize").replace("Date.now() - 3_600_000", "Date.now()");
  await expect(runJs(cleaning)).rejects.toThrow(/tagged version/);
  await runJs(example("js", "optimize").replace(/\{ cleanupOlderThan.*\}/, ""));
  expect(await books.indexStats("id_idx")).toMatchObject({ numIndexedRows: 2, numUnindexedRows: 0 });
  await books.checkout("first");
  expect(await books.countRows()).toBe(1);
  await books.checkoutLatest();
  await tags.delete("first");
  await runJs(cleaning);
  expect((await (await served.local.openTable("books")).listVersions()).length).toBeLessThan(5);
});
