/** Every error of the catalogue through the command line: its code, its exit code, and what exit codes promise. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Table } from "@lancedb/lancedb";
import { expect, test } from "vitest";
import { catalogue } from "../../src/errors/catalogue.ts";
import type { ErrorCode } from "../../src/errors/migrate-error.ts";
import { parseMarkerName } from "../../src/ledger/journal/marker-name.ts";
import { aProject, root, type Project } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { lancedb } from "../support/tables.ts";
import { errorCases } from "./support/error-cases.ts";
import { errorScenes } from "./support/error-scenes.ts";
import { people } from "./support/scene-project.ts";
import { atTerminal } from "./support/terminal.ts";

const codes = Object.keys(catalogue) as readonly ErrorCode[];
const cases = codes.flatMap((code) => ("args" in errorCases[code] ? [{ code, ...errorCases[code] }] : []));
const elsewhere = codes.flatMap((code) => ("test" in errorCases[code] ? [{ code, ...errorCases[code] }] : []));

/** As docs/cli.md promises them. */
const promises = { failed: 1, usage: 2, refused: 4, locked: 5, unreachable: 6, interrupted: 130 };

/** The version of each table, and the records of the ledger that are about migrations. */
async function stateOf({ database }: Pick<Project, "database">) {
  const db = await lancedb.connect(database);
  // The ledger is created for the lease of a run that hooks refuse.
  const records: string[] = [];
  const tables: Record<string, number> = {};
  for (const name of await db.tableNames())
    if (name === "_migrations") records.push(...(await recordsIn(await db.openTable(name))));
    else if (name.startsWith("_migrations.")) records.push(...markerAbout(name));
    else tables[name] = await (await db.openTable(name)).version();
  return { tables, records: records.toSorted() };
}

async function recordsIn(ledger: Table): Promise<readonly string[]> {
  const records = await ledger.query().where("version is not null").select(["key"]).toArray();
  return records.map(({ key }) => String(key));
}

/** Tables with such names that are no markers were made to find out what a service does. */
function markerAbout(name: string): readonly string[] {
  return parseMarkerName("_migrations", name)?.version === undefined ? [] : [name];
}

/** Each takes the way from its error to the exit code that all take: for each commit a quarter of them. */
test.each(ofThisCommit(cases, 4))("$code", async ({ code, args, process = "shared" }) => {
  const bare = aProject(process);
  const project = { ...bare, ...(await errorScenes[code]?.(bare)) };
  // Undefined if there is no database, or none that can be read.
  const before = existsSync(project.database) ? await stateOf(project).catch(() => undefined) : undefined;
  const ended = await project.migrate([...args, "--json"]);
  const last = JSON.parse(ended.stdout.trimEnd().split("\n").at(-1) ?? "") as {
    code?: string;
    refusal?: { code: string };
  };
  const shown = last.refusal?.code ?? last.code;
  if (shown === undefined) {
    // The result is a report, with the error in it or after it.
    const { stdout, stderr } = await project.start(args).finished;
    expect(stdout + stderr).toContain(code);
  } else expect(shown).toBe(code);
  const { outcome } = catalogue[code];
  expect(ended.code).toBe(promises[outcome]);
  if (before === undefined || outcome === "failed") return;
  const { tables, records } = await stateOf(project);
  expect(tables).toEqual(before.tables);
  // Of an attempt that ends in another way there is a record.
  if (outcome === "refused" || outcome === "usage") expect(records).toEqual(before.records);
});

test("ERR_ROLLBACK_OTHER: a rollback that is not the one agreed to at a terminal changes nothing", async () => {
  const project = aProject();
  project.migration("0001_people.ts", people);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  project.migration("0002_more.ts", `m.createTable("more", { id: m.int32() })`);
  let before: unknown;
  const agree = async () => {
    expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
    before = await stateOf(project);
    return "yes\n";
  };
  const { code, shown } = await atTerminal(project, "down", /as it is\) /, [agree]);
  expect(shown).toContain("(ERR_ROLLBACK_OTHER)");
  expect([code, await stateOf(project)]).toEqual([4, before]);
});

test.each(elsewhere)("$code is reached in $test", ({ code, test: file }) => {
  expect(readFileSync(join(root, "test", file), "utf8")).toMatch(new RegExp(`${code}\\b`));
});

test.each(["up", "status"])(
  "ERR_PROJECT_MISSING: without a configuration, migrate %s creates no database and does not report on one",
  async (command) => {
    const project = aProject();
    rmSync(project.database, { recursive: true });
    project.migration("0001_people.ts", people);
    const code = await project.migrate([command, "--json"]).then(({ stdout, ...ended }) => {
      expect(JSON.parse(stdout)).toMatchObject({ event: "error", code: "ERR_PROJECT_MISSING" });
      return ended.code;
    });
    expect([code, existsSync(project.database)]).toEqual([2, false]);
    expect(await project.migrate(["init", "--yes"])).toMatchObject({ code: 0 });
    if (command === "up") expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  },
);
