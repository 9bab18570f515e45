/** `migrate up` and `migrate status` on all databases of a target. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serve } from "../rest/servers.ts";
import { aProject, type Project } from "../support/project.ts";

function aFleet(names: readonly string[], more = ""): Project {
  const project = aProject();
  project.migration("0001_create.ts", `m.createTable("t", { id: m.int64(), a: m.utf8() }),`);
  project.migration("0002_rename.ts", `m.renameColumn("t", "a", "b"),`);
  project.write("tenants.txt", names.join("\n"));
  project.write(
    "migrate.config.ts",
    `export default { targets: { tenants: { kind: "lance", uri: "data/{database}", databases: "tenants.txt"${more} } } };\n`,
  );
  return project;
}

/** The lines of stdout, without durations. */
const linesOf = (text: string) =>
  text
    .trimEnd()
    .replaceAll(/in [\d.]+ (ms|s|min)/g, "in …")
    .split("\n");

test("up works on all databases and resumes where some have failed, and status groups them by their histories", async () => {
  const project = aFleet(["acme", "globex", "initech"]);
  mkdirSync(join(project.folder, "data"));
  writeFileSync(join(project.folder, "data", "globex"), "a file in the place of the folder");
  const broken = await project.migrate(["up", "--concurrency", "2"]);
  expect(linesOf(broken.stdout)).toEqual([
    "2 databases (acme, initech): 2 migrations applied, 2 in total",
    "2 of 3 databases of tenants done in …",
  ]);
  expect(broken.stderr).toMatch(/^1 database \(globex\) failed: target tenants can't be reached: .*globex is a file/m);
  expect(broken.code).toBe(6);

  rmSync(join(project.folder, "data", "globex"));
  const before = await project.migrate(["status", "--check"]);
  expect(linesOf(before.stdout)).toEqual([
    "2 databases (acme, initech): 2 applied (last 0002_rename), 0 pending",
    "1 database (globex): 0 applied, 2 pending",
    "3 of 3 databases of tenants done in …",
  ]);
  expect(before.code).toBe(3);

  const repaired = await project.migrate(["up"]);
  expect(linesOf(repaired.stdout)).toEqual([
    "2 databases (acme, initech): nothing to do",
    "1 database (globex): 2 migrations applied, 2 in total",
    "3 of 3 databases of tenants done in …",
  ]);
  expect(repaired.code).toBe(0);
  expect(linesOf((await project.migrate(["status", "--check"])).stdout)[0]).toBe(
    "all 3 databases: 2 applied (last 0002_rename), 0 pending",
  );
});

test("a canary that fails keeps the others as they are", async () => {
  const project = aFleet(["acme", "globex", "initech"]);
  project.migration("0003_wrong.ts", `m.dropColumn("t", "nope"),`);
  const { code, stdout, stderr } = await project.migrate(["up"]);
  expect(stderr).toContain("1 database (acme) failed: ");
  expect(stderr).toContain("2 databases (globex, initech) not tried, because one of the first failed (--canaries)\n");
  expect(stderr).not.toContain("interrupted");
  expect(linesOf(stdout)).toEqual(["0 of 3 databases of tenants done in …"]);
  expect(code).toBe(4);
});

test("an interrupted run stops at safe points, and the next one works on the others", async () => {
  const project = aFleet(Array.from({ length: 60 }, (_, at) => `d${at}`));
  const running = project.start(["up", "--json"]);
  running.process.stdout!.on("data", function interrupt(text: Buffer) {
    if (!text.includes('"ended"')) return;
    running.process.stdout!.off("data", interrupt);
    running.process.kill("SIGINT");
  });
  const { code, stdout, stderr } = await running.finished;
  expect(stderr).toMatch(/^interrupted; \d+ of 60 databases of tenants done in .*; the next run works on the others$/m);
  expect(code).toBe(130);
  const report = JSON.parse(stdout.split("\n").find((line) => line.includes('"report"'))!) as {
    succeeded: number;
    failed: readonly unknown[];
    interrupted: readonly string[];
    untried: readonly string[];
  };
  expect(report.failed).toEqual([]);
  expect(report.succeeded + report.interrupted.length + report.untried.length).toBe(60);
  expect(report.untried.length).toBeGreaterThan(0);
  expect((await project.migrate(["up"])).code).toBe(0);
  expect(linesOf((await project.migrate(["status", "--check"])).stdout)[0]).toBe(
    "all 60 databases: 2 applied (last 0002_rename), 0 pending",
  );
});

test("with --json, each database has a line and the report has one", async () => {
  const project = aFleet(["acme", "globex"]);
  const { stdout } = await project.migrate(["up", "--json"]);
  const events = linesOf(stdout).map((line) => JSON.parse(line) as { event: string; database?: string });
  expect(events.filter(({ event }) => event === "ended")).toMatchObject([
    { database: "acme", applied: 2, total: 2 },
    { database: "globex", applied: 2, total: 2 },
  ]);
  expect(events.filter(({ event }) => event === "applied").map(({ database }) => database)).toEqual([
    "acme",
    "acme",
    "globex",
    "globex",
  ]);
  expect(events.at(-1)).toMatchObject({ event: "report", target: "tenants", databases: 2, succeeded: 2, untried: [] });
});

test("other commands need the name of one database, and work on it alone", async () => {
  const project = aFleet(["acme", "globex"]);
  await project.migrate(["up", "--database", "acme"]);
  expect((await project.migrate(["status", "--database", "acme"])).stdout).toContain(
    "2 migrations applied, 0 pending on tenants/acme",
  );
  expect((await project.migrate(["status", "--database", "globex"])).stdout).toContain("0 migrations applied");
  for (const args of [["plan"], ["down"], ["up", "--dry-run"], ["verify"], ["history"], ["prune"], ["rehearse"]]) {
    const { code, stderr } = await project.migrate(args);
    expect([args, code, stderr]).toEqual([
      args,
      2,
      "target tenants has several databases; choose one with --database NAME, or in a program with database (migrate up and migrate status run on all of them, but not with --plan or --dry-run; migrate report --fleet reports on all of them)\n",
    ]);
  }
  // These read no database.
  for (const args of [["lint"], ["build"], ["new", "later"]])
    expect(await project.migrate(args)).toMatchObject({ code: 0 });
  expect(await project.migrate(["up", "--database", "acne"])).toMatchObject({
    code: 2,
    stderr: 'target tenants has no database "acne" among its 2 databases; did you mean acme?\n',
  });
});

test("a target that is one database refuses the flags for several", async () => {
  const project = aProject();
  expect(await project.migrate(["up", "--concurrency", "2"])).toMatchObject({
    code: 2,
    stderr: "--concurrency is for a target with several databases, all of which the command works on\n",
  });
  expect(await project.migrate(["up", "--database", "acme"])).toMatchObject({
    code: 2,
    stderr: "target local is one database, so --database can't be used\n",
  });
});

test("no database at all is no failure", async () => {
  const { code, stdout } = await aFleet([]).migrate(["up"]);
  expect(linesOf(stdout)).toEqual(["0 of 0 databases of tenants done in …"]);
  expect(code).toBe(0);
});

test.each<[target: string, problem: string]>([
  [
    `{ kind: "lance", uri: "data/{database}", databases: ["acme", { name: "globex", uri: "data/acme/" }] }`,
    "targets.tenants: acme and globex are the same database",
  ],
  [
    `{ kind: "lance", uri: "data/{database}", databases: () => new Promise(() => {}) }`,
    "targets.tenants.databases can't be listed: it awaits something that never comes",
  ],
])("the target %s is refused before anything is done", async (target, problem) => {
  const project = aFleet([]);
  project.write("migrate.config.ts", `export default { targets: { tenants: ${target} } };\n`);
  // In a process of its own: Node ends one in which nothing can happen any more.
  expect(await project.start(["up"]).finished).toEqual({
    code: 2,
    stdout: "",
    stderr: `migrate.config.ts: ${problem}\n`,
  });
  expect(existsSync(join(project.folder, "data"))).toBe(false);
});

/** A service with tables for each database. It never answers what is sent to those in `hung`. */
async function aService(hung: readonly string[] = []) {
  const tables = new Map<unknown, Set<string>>();
  const served = await serve((response, { method, path, headers }) => {
    const database = headers["x-service-database"];
    if (hung.includes(String(database))) return;
    // It has a ledger: a first run would check more than this service can do.
    const names = tables.get(database) ?? new Set(["_migrations.e1", "_migrations.e1.1.released.w1"]);
    tables.set(database, names);
    const name = decodeURIComponent(path.split("/")[3] ?? "");
    const status = method === "POST" && !path.endsWith("alter_columns") && names.has(name) ? 409 : 200;
    if (method === "POST") names.add(name);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(method === "GET" ? { tables: [...names] } : {}));
  });
  return { ...served, databases: () => [...tables.keys()].toSorted() };
}

function onService(url: string, databases: readonly unknown[]): Project {
  const project = aFleet([]);
  const target = { kind: "rest", endpoint: url, apiKey: "a-key-for-all", databases };
  project.write("migrate.config.ts", `export default { targets: { tenants: ${JSON.stringify(target)} } };\n`);
  return project;
}

test("the databases of a service share its connections", async () => {
  const { url, seen, connections, databases } = await aService();
  const names = Array.from({ length: 15 }, (_, at) => `d${at}`);
  const { code, stdout } = await onService(url, names).migrate(["up", "--concurrency", "3"]);
  expect(linesOf(stdout)[0]).toBe("all 15 databases: 2 migrations applied, 2 in total");
  expect(code).toBe(0);
  expect(databases()).toEqual(names.toSorted());
  expect(seen.length).toBeGreaterThan(150);
  expect(connections()).toBeLessThanOrEqual(8);
});

test("failures with the same message are one line, and a wrong bundle is no failure of a database", async () => {
  const { url } = await serve((response, { headers }) => {
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: `there is no database ${String(headers["x-service-database"])} here` }));
  });
  const project = onService(url, ["a", "b", "c"]);
  const { code, stderr, stdout } = await project.migrate(["status", "--quiet"]);
  expect(stderr).toMatch(/^all 3 databases failed: .*there is no database \{database\} here[^\n]*\n$/);
  expect(linesOf(stdout)).toEqual(["0 of 3 databases of tenants done in …"]);
  expect(code).toBe(6);
  expect(await project.migrate(["up", "--bundle", "none.json"])).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^the bundle none\.json /) as string,
  });
});

test("a database that does not answer does not keep an interrupted run from ending with its report", async () => {
  const ranTwice = async (seconds: number) => {
    const project = onService((await aService(["hung"])).url, ["a", "hung", "b"]);
    const up = async () => await project.migrate(["up", "--timeout", String(seconds)]);
    return [await up(), await up()] as const;
  };
  let seconds = 2;
  let ended = await ranTwice(seconds);
  // A slow machine needs more time for the others.
  while (seconds < 100 && !ended.every(({ stdout }) => stdout.includes("2 of 3")))
    ended = await ranTwice((seconds *= 4));
  for (const [index, { code, stdout, stderr }] of ended.entries()) {
    const found = ["2 migrations applied, 2 in total", "nothing to do"][index];
    expect(linesOf(stdout)).toEqual([`2 databases (a, b): ${found}`, "2 of 3 databases of tenants done in …"]);
    expect(stderr).toContain("1 database (hung) interrupted\n");
    expect(stderr).toMatch(/^not done within \d+ s \(--timeout\); 2 of 3 databases of tenants done in .*$/m);
    expect(code).toBe(130);
  }
});

test("the key of one database is not shown in the message of another", async () => {
  const keys = Array.from({ length: 400 }, (_, at) => `key-of-database-${at}-${at * 7919}`);
  const { url } = await serve((response) => {
    response.writeHead(403, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: `denied: ${keys[399]!}` }));
  });
  const project = onService(
    url,
    keys.map((apiKey, at) => ({ name: `d${at}`, apiKey })),
  );
  const { stdout, stderr } = await project.migrate(["status", "--json"]);
  expect(stdout).toContain("denied");
  for (const key of keys) expect(`${stdout}${stderr}`).not.toContain(key);
});
