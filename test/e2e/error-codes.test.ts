/** Every error of the catalogue through the command line: its code, its exit code, and what exit codes promise. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { catalogue } from "../../src/errors/catalogue.ts";
import type { ErrorCode } from "../../src/errors/migrate-error.ts";
import { aProject, root, type Project } from "../support/project.ts";
import { lancedb } from "../support/tables.ts";
import { errorCases } from "./support/error-cases.ts";
import { errorScenes } from "./support/error-scenes.ts";

const people = `m.createTable("people", { id: m.int32(), name: m.utf8() })`;
const codes = Object.keys(catalogue) as readonly ErrorCode[];
const cases = codes.flatMap((code) => ("args" in errorCases[code] ? [{ code, ...errorCases[code] }] : []));
const elsewhere = codes.flatMap((code) => ("test" in errorCases[code] ? [{ code, ...errorCases[code] }] : []));

/** As docs/cli.md promises them. */
const promises = { failed: 1, usage: 2, refused: 4, locked: 5, unreachable: 6, interrupted: 130 };

/** The version of each table, and the records of the ledger that are about migrations. */
async function stateOf({ database }: Project) {
  if (!existsSync(database)) return undefined;
  const db = await lancedb.connect(database);
  // The ledger is created for the lease of a run that hooks refuse.
  const tables: Record<string, unknown> = { _migrations: [] };
  for (const name of await db.tableNames()) {
    const table = await db.openTable(name);
    const isLedger = name === "_migrations";
    const records = async () => await table.query().where("version is not null").select(["key"]).toArray();
    tables[name] = isLedger ? (await records()).map(({ key }) => String(key)).toSorted() : await table.version();
  }
  return tables;
}

test.each(cases)("$code", async ({ code, args }) => {
  // A promise that nothing handles ends the process.
  const project = aProject(code === "ERR_UNCAUGHT" ? "own" : "shared");
  await errorScenes[code]?.(project);
  const before = await stateOf(project).catch(() => undefined);
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
  if (before !== undefined && outcome !== "failed") expect(await stateOf(project)).toEqual(before);
});

test.each(elsewhere)("$code is reached in $test", ({ code, test: file }) => {
  expect(readFileSync(join(root, "test", file), "utf8")).toMatch(new RegExp(`${code}\\b`));
});

test.each(["up", "plan", "status", "history", "doctor", "pull"])(
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
