import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openMigrator, type Choice } from "lance-migrate";
import { contracts } from "../../../src/features/contracts/feature.ts";
import { bundleText } from "../../../src/features/bundle/bundle.ts";
import { checksumOf, textHash } from "../../../src/migrations/checksum.ts";
import { openSession } from "../../../src/session/session.ts";
import { temporaryFolder } from "../../support/project.ts";
import { addRows, lancedb } from "../../support/tables.ts";

// The types refuse these; a program in JavaScript has none.
test.each([
  [{ dryRun: true }, "there is no setting dryRun"],
  [{ allowOutOfOrders: true }, "there is no setting allowOutOfOrders; did you mean allowOutOfOrder?"],
  [{ allowOutOfOrder: "no" }, "allowOutOfOrder must be true or false"],
  [{ to: "0003" }, "to must be the number of a migration"],
  [3, "options must be an object"],
])("up, plan and rehearse of %o are refused", async (wanted, problem) => {
  const migrator = await openMigrator({ folder: temporaryFolder() });
  const choice = wanted as Choice;
  for (const refused of [migrator.up(choice), migrator.plan(choice), migrator.rehearse(choice)])
    await expect(refused).rejects.toMatchObject({ code: "ERR_USAGE", details: { problem } });
  await migrator.close();
});

test("rows that are no number of rows are refused", async () => {
  const migrator = await openMigrator({ folder: temporaryFolder() });
  for (const rows of [-1, 1.5, "many"])
    await expect(migrator.rehearse({ rows: rows as number })).rejects.toMatchObject({
      code: "ERR_USAGE",
      details: { problem: "rows must be a whole number, at least 0" },
    });
  await migrator.close();
});

test("options that are none are refused", async () => {
  await expect(openMigrator("local" as never)).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: "options must be an object",
  });
});

test("what stands in the way of a rollback is in its plan, and what is kept can be listed and let go", async () => {
  const folder = temporaryFolder();
  const write = (name: string, steps: string) => {
    mkdirSync(join(folder, "migrations"), { recursive: true });
    writeFileSync(
      join(folder, "migrations", name),
      `import * as m from "lance-migrate";\nexport const accepts = ["lossy"];\nexport const up = [${steps}];\n`,
    );
  };
  writeFileSync(
    join(folder, "migrate.config.ts"),
    `export default { targets: { here: { kind: "lance", uri: "data" } } };\n`,
  );
  write("0001_notes.ts", `m.createTable("notes", { id: m.int32(), body: m.utf8() })`);
  write("0002_drop.ts", `m.dropColumn("notes", "body")`);
  const migrator = await openMigrator({ folder });
  await migrator.up();
  expect(await migrator.prune()).toEqual([
    { table: "notes", name: "0002.v1.e1", version: 1, migration: "0002_drop", isGone: false, isNeeded: false },
  ]);
  await addRows(join(folder, "data"), "notes", [{ id: 1 }]);
  const { blocked } = await migrator.planDown();
  expect(blocked).toEqual({
    problems: [
      "1 row of notes was written since, which restoring version 1 would lose; they can be reinserted with null in body",
    ],
    hint: "pass --reinsert to reinsert these rows, or --accept lossy to lose them",
  });
  await expect(migrator.down()).rejects.toMatchObject({ code: "ERR_ROLLBACK_BLOCKED", details: blocked });
  await expect(migrator.savePlanDown()).rejects.toMatchObject({ code: "ERR_ROLLBACK_BLOCKED" });
  await migrator.prune({ yes: true });
  expect(await migrator.prune()).toEqual([]);
  await migrator.close();
});

/** A project with an empty folder of contracts, and what writes the contract of a release into it. */
function withContracts(settings: string) {
  const folder = temporaryFolder();
  for (const inner of ["migrations", "contracts"]) mkdirSync(join(folder, inner));
  writeFileSync(
    join(folder, "migrate.config.ts"),
    `export default { targets: { here: { kind: "lance", contracts: "contracts", ${settings} } } };\n`,
  );
  return {
    folder,
    starts(release: string) {
      const tables = { notes: { reads: { body: "utf8" } } };
      const text = JSON.stringify({ format: 1, application: "search", release, tables });
      writeFileSync(join(folder, "contracts", `${release}.json`), text);
    },
  };
}

test("the contract of a release that starts between a plan and its run counts", async () => {
  const { folder, starts } = withContracts(`uri: "data"`);
  const steps = ["m.createTable('notes', { id: m.int32() })", "m.addColumn('notes', 'body', m.utf8())"];
  for (const [at, step] of steps.entries())
    writeFileSync(
      join(folder, "migrations", `000${at + 1}_notes.ts`),
      `import * as m from "lance-migrate";\nexport const up = [${step}];\n`,
    );
  const migrator = await openMigrator({ folder });
  await migrator.up();
  expect((await migrator.planDown()).migrations).toHaveLength(1);
  starts("2");
  await expect(migrator.down()).rejects.toMatchObject({ code: "ERR_CONTRACT" });
  expect((await migrator.status()).applied).toHaveLength(2);
  await migrator.close();
});

test("the contracts of a target with several databases are read once for all, and again for one", async () => {
  const { folder, starts } = withContracts(`uri: "data/{database}", databases: ["a", "b"]`);
  starts("1");
  const several = await openSession({ folder }, [contracts]);
  const one = await openSession({ folder, database: "a" }, [contracts]);
  const { list, open } = several.databases!;
  const releases: string[][] = [];
  for (const database of await list()) {
    const options = [await open(database), one.options];
    for (const { planChecks, target } of options) {
      const plan = await planChecks![0]!.check({ migrations: [], now: new Map() }, "down", { target });
      releases.push(plan.contracts!.releases.map(({ release }) => release));
    }
    await options[0]!.target.close();
    starts("2");
  }
  expect(releases).toEqual([["1"], ["1"], ["1"], ["1", "2"]]);
  await several.close();
  await one.close();
});

test("migrations whose tables are there are marked as applied, and a misspelt choice marks none", async () => {
  const folder = temporaryFolder();
  await (await lancedb.connect(join(folder, ".lancedb"))).createTable("notes", [{ id: 1 }]);
  mkdirSync(join(folder, "migrations"));
  writeFileSync(
    join(folder, "migrations", "0001_notes.ts"),
    `import * as m from "lance-migrate";\nexport const up = [m.createTable("notes", { id: m.float64() })];\n`,
  );
  const migrator = await openMigrator({ folder });
  await expect(migrator.baseline({ dryrun: true } as never)).rejects.toMatchObject({
    code: "ERR_USAGE",
    details: { problem: "there is no setting dryrun; did you mean dryRun?" },
  });
  const marked = { migrations: [{ version: 1, name: "notes" }], columns: true };
  expect(await migrator.baseline({ dryRun: true })).toEqual(marked);
  expect((await migrator.status()).applied).toEqual([]);
  expect(await migrator.baseline({ to: 1 })).toEqual(marked);
  expect((await migrator.status()).applied).toMatchObject([{ version: 1, isBaselined: true }]);
  await migrator.close();
});

test("a program reads migrations from a bundle, whose path is relative to the folder", async () => {
  const folder = temporaryFolder();
  const columns = [{ name: "id", type: { kind: "int32" as const }, nullable: true }];
  const up = [{ kind: "createTable" as const, table: "notes", columns }];
  const file = { version: 1, name: "notes", file: "0001_notes.ts", path: "", textHash: textHash("one") };
  mkdirSync(join(folder, ".lancedb"));
  writeFileSync(join(folder, "all.json"), bundleText([{ ...file, steps: up, checksum: checksumOf(up) }]));
  const migrator = await openMigrator({ folder, bundle: "all.json" });
  expect(await migrator.up()).toEqual({ applied: 1, total: 1 });
  expect((await migrator.status()).applied).toMatchObject([{ version: 1, textHash: textHash("one") }]);
  await migrator.close();
  await expect(openMigrator({ folder, bundle: true as never })).rejects.toMatchObject({
    code: "ERR_USAGE",
    details: { problem: "bundle must be a file's path" },
  });
});
