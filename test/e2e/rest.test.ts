import { join } from "node:path";
import { expect, test } from "vitest";
import { aProject, leaping, ownMigrations, root, type Project, onStdout } from "../support/project.ts";
import { aProxy } from "../support/proxy.ts";
import { aService, apiKey } from "../support/service.ts";
import { addRows, columnsOf, lancedb, rowsOf, versionsOf } from "../support/tables.ts";
import { casesInTurn } from "../support/rounds.ts";

const inTurn = casesInTurn();

type Dialect = "service" | "namespace";

/** A project with the running example's migrations and a service as its target. */
function aProjectFor(endpoint: string, dialect: Dialect, more = ""): Project {
  const project = aProject();
  project.write(
    "migrate.config.ts",
    `import { defineConfig } from "lance-migrate";
     export default defineConfig({
       migrations: ${JSON.stringify(join(root, "migrations"))},
       targets: { here: { kind: "rest", endpoint: ${JSON.stringify(endpoint)}, dialect: "${dialect}"${more} } },
     });`,
  );
  return project;
}

const key = { MIGRATE_API_KEY: apiKey };

async function tablesOf(folder: string): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables = ["authors", "documents"];
  return Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await columnsOf(folder, table)])));
}

test("the same migrations leave the same tables on the engine and on a service of each dialect", async () => {
  const local = aProject();
  local.write("migrate.config.ts", `export default { migrations: ${JSON.stringify(join(root, "migrations"))} };`);
  expect(await local.migrate(["up"])).toMatchObject({ code: 0 });
  const expected = await tablesOf(local.database);
  expect(Object.values(expected).map((columns) => columns.length)).toEqual([5, 5]);
  for (const dialect of ["service", "namespace"] as const) {
    const service = await aService();
    const project = aProjectFor(service.url, dialect);
    const first = await project.migrate(["up"], key);
    expect(first).toMatchObject(onStdout(0, "7 migrations applied"));
    expect(await tablesOf(service.data)).toEqual(expected);
    const before = await versionsOf(service.data);
    expect(await project.migrate(["up"], key)).toMatchObject({ code: 0, stdout: "nothing to do\n" });
    expect(await versionsOf(service.data)).toEqual(before);
    expect(await project.migrate(["status", "--check"], key)).toMatchObject(onStdout(0, "0007_finer_scores"));
  }
});

test.each(inTurn(["service", "namespace"] as const))(
  "rows that an application writes between migrations are kept, in the dialect %s",
  async (dialect) => {
    const service = await aService();
    const project = aProjectFor(service.url, dialect);
    await project.migrate(["up", "--to", "3"], key);
    const documents = {
      id: 7,
      headline: "h",
      source: { url: "u", fetched_at: "f" },
      score: 0.5,
      embedding: [1, 2, 3, 4, 5, 6, 7, 8],
    };
    await addRows(service.data, "documents", [documents]);
    expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
    const { score, ...rest } = documents;
    expect(await rowsOf(service.data, "documents")).toEqual([{ ...rest, relevance: score }]);
  },
);

test("the namespace dialect sends two requests when nothing is pending", async () => {
  const service = await aService();
  const proxy = await aProxy(service.url);
  const project = aProjectFor(proxy.url, "namespace");
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0 });
  const before = proxy.passed.length;
  expect(await project.migrate(["up"], key)).toMatchObject({ code: 0, stdout: "nothing to do\n" });
  expect(proxy.passed.slice(before).map(({ path }) => path)).toEqual([
    "/v1/table/_migrations/query/",
    "/v1/table/_migrations/count_rows/",
  ]);
});

test("eight that start at once on one service apply each migration once", async () => {
  const service = await aService();
  const project = aProjectFor(service.url, "service");
  const all = await Promise.all(Array.from({ length: 8 }, () => project.migrate(["up"], key)));
  expect(all.map(({ code }) => code)).toEqual(Array(8).fill(0));
  const applied = all.flatMap(({ stdout }) => stdout.match(/^applied \S+/gm) ?? []);
  expect(applied.toSorted()).toEqual(ownMigrations.map((file) => `applied ${file.replace(".ts", "")}`));
});

test.each(inTurn(["service", "namespace"] as const))(
  "a run whose service goes away ends with 6 and says how far it got, and the next one goes on, in the dialect %s",
  async (dialect) => {
    const service = await aService();
    const proxy = await aProxy(service.url);
    const project = aProjectFor(proxy.url, dialect);
    let actions = 0;
    // From the third action on nothing is answered any more.
    proxy.fate = (_, path) => {
      if (/\/(documents|authors)(\/(create|alter_columns)\/?)?(\?.*)?$/.test(path)) actions++;
      return actions > 2 ? "unsent" : "passes";
    };
    const gone = await project.migrate(["up", "--step-by-step"], key);
    expect(gone.code).toBe(6);
    expect(gone.stderr).toContain(
      "2 migrations applied, 0 of 2 actions of 0003_headlines done; the next migrate up resumes it",
    );
    proxy.fate = () => "passes";
    expect(await project.migrate(["up"], { ...key, ...leaping() })).toMatchObject(onStdout(0, "5 migrations applied"));
  },
);

test("doctor finds out what a service can do, and says what it left behind", async () => {
  const service = await aService();
  for (const dialect of ["service", "namespace"] as const) {
    const project = aProjectFor(service.url, dialect);
    const { code, stdout } = await project.migrate(["doctor", "--json"], key);
    const { fit, findings, leftBehind } = JSON.parse(stdout);
    expect({ code, fit }).toEqual({ code: 0, fit: true });
    const missing = findings
      .filter(({ found }: { found: boolean }) => !found)
      .map(({ what }: { what: string }) => what);
    expect(missing).toEqual(dialect === "service" ? ["describes a table as it was made"] : []);
    expect(leftBehind.length > 0).toBe(dialect === "service");
    const db = await lancedb.connect(service.data);
    expect((await db.tableNames()).toSorted()).toEqual(leftBehind.toSorted());
    for (const table of leftBehind) await db.dropTable(table);
  }
});

test.each([
  ["service", "lance"],
  ["namespace", "service"],
] as const)("a database that the dialect %s has migrated is refused as %s", async (first, then) => {
  const service = await aService();
  const project = aProject();
  const use = (kind: Dialect | "lance") => {
    const target =
      kind === "lance" ? { kind, uri: service.data } : { kind: "rest", endpoint: service.url, dialect: kind, apiKey };
    const config = { targets: { here: target } };
    project.write("migrate.config.ts", `export default ${JSON.stringify(config)};`);
  };
  project.migration("0001_people.ts", `m.createTable("people", { id: m.int32() })`);
  use(first);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const before = await versionsOf(service.data);

  project.migration("0002_more.ts", `m.renameColumn("people", "id", "key")`);
  use(then);
  for (const args of [["status"], ["plan"], ["up"]]) {
    const { code, stderr } = await project.migrate(args);
    expect({ args, code, stderr }).toEqual({
      args,
      code: 4,
      stderr: expect.stringMatching(new RegExp(`it is kept in .*as the dialect ${first} keeps it`)),
    });
  }
  expect(await versionsOf(service.data)).toEqual(before);

  use(first);
  expect(await project.migrate(["up"])).toMatchObject(onStdout(0, "0002_more"));
});
