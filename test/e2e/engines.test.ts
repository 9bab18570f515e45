/** Engines with which this release was not tested: the probes find what they do otherwise, and name it. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { probes } from "../../src/engine/probes/probes.ts";
import { changedEngine } from "../clients/engine-project.ts";
import { onStderr, temporaryFolder } from "../support/project.ts";

function aProject(change: string, version?: string) {
  const project = changedEngine(temporaryFolder(), change, version);
  project.write(
    "migrations/0001_first.ts",
    `import { addColumn, createTable, int64, utf8 } from "lance-migrate";
export const up = [createTable("t", { id: int64(), text: utf8() }), addColumn("t", "more", utf8())];\n`,
  );
  return project;
}

const computed = `import { addComputedColumn, int64 } from "lance-migrate";
export const up = [addComputedColumn("t", "twice", int64(), "id * 2")];\n`;

const withoutComputed = "delete native.Table.prototype.addComputedColumns;";

test.each([
  {
    what: "another wording of conflicts",
    change: `for (const name of ["alterColumns", "addColumnsWithSchema"]) {
      const own = native.Table.prototype[name];
      native.Table.prototype[name] = function (...args) {
        return own.apply(this, args).catch((error) => {
          error.message = "others were faster";
          throw error;
        });
      };
    }`,
    says: "a handle can't alter a table whose columns others have altered since, and the error states a conflict",
  },
  {
    what: "a native method that is gone",
    change: "delete native.Table.prototype.branches;",
    says: 'lance-migrate calls" does not hold (it lacks branches), so some steps would fail half-way; run: ',
  },
  {
    what: "a merge that inserts a key twice",
    change: "native.Table.prototype.setUnenforcedPrimaryKey = async () => {};",
    says: "of several merges that insert one key at the same time, one inserts it",
  },
  {
    what: "a file that has another name",
    change: 'throw new Error("Cannot find module native.js");',
    says: "Cannot find module native.js",
  },
])("$what is found and named before anything is written", ({ change, says }) => {
  const { folder, migrate } = aProject(change);
  const { code, stdout, stderr } = migrate("up", "--json");
  expect([code, stdout]).toEqual([2, expect.stringContaining('"ERR_ENGINE_VERSION"')]);
  expect(stderr).toContain("lance-migrate can't work with @lancedb/lancedb 99.0.0 in ");
  expect(stderr).toContain(says);
  expect(stderr).toContain("; run: npm install @lancedb/lancedb@0.39\n");
  expect(readdirSync(join(folder, ".lancedb"))).toEqual([]);
});

test("an engine that keeps all assumptions is used, and doctor shows each of them", () => {
  const { migrate } = aProject("");
  expect(migrate("up")).toMatchObject({ code: 0 });
  const { code, stdout } = migrate("doctor");
  for (const { name, assumes } of probes)
    expect(stdout).toContain(`yes  ${name}, with @lancedb/lancedb 99.0.0: ${assumes}\n`);
  expect(code).toBe(0);
});

test("doctor names the assumption without which an engine can't be used", () => {
  const { migrate } = aProject("native.Table.prototype.setUnenforcedPrimaryKey = async () => {};");
  const { code, stdout } = migrate("doctor");
  expect(stdout).toMatch(/^no {3}one insert, with @lancedb\/lancedb 99\.0\.0: "of several merges/m);
  expect(code).toBe(1);
});

test("with an engine that lacks some changes, plans refuse these, and all others are made", () => {
  const { migrate, write } = aProject(withoutComputed);
  expect(migrate("up")).toMatchObject({ code: 0 });
  write("migrations/0002_computed.ts", computed);
  const refusal = 'with @lancedb/lancedb 99.0.0, "a column can be computed from others, and refreshed" does not hold';
  expect(migrate("plan")).toMatchObject(onStderr(4, refusal));
  expect(migrate("doctor").stdout).toMatch(
    /^no {3}computed columns, with @lancedb\/lancedb 99\.0\.0: "a column can be computed/m,
  );
});

test("the probes run once for each machine and version", () => {
  const { migrate, write, tmp } = aProject(withoutComputed);
  write("migrations/0002_computed.ts", computed);
  expect(migrate("plan").stderr).toContain("does not hold");
  const folder = join(
    tmp,
    readdirSync(tmp).find((name) => name.startsWith("lance-migrate-probes-"))!,
  );
  const file = join(folder, readdirSync(folder)[0]!);
  expect(readFileSync(file, "utf8")).toBe('["computed columns"]');
  writeFileSync(file, "[]");
  expect(migrate("plan").stderr).not.toContain("does not hold");
});

test("no probe runs on an engine that was tested", () => {
  const { migrate, tmp } = aProject(withoutComputed, "0.39.0");
  expect(migrate("up")).toMatchObject({ code: 0 });
  expect(readdirSync(tmp).filter((name) => name.includes("probes"))).toEqual([]);
});
