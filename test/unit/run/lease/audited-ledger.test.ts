import { createTable, int32, renameColumn } from "lance-migrate";
import { expect, test } from "vitest";
import { up } from "../../../../src/commands/up.ts";
import { journalOf } from "../../../../src/ledger/journal/open-journal.ts";
import { auditConsistently } from "../../../../src/run/lease/audited-ledger.ts";
import { aMigration } from "../../../simulate/history.ts";
import { sourceOf } from "../../../simulate/start-run.ts";
import { memoryTarget } from "../../../simulate/target/memory-target.ts";
import { memoryTables } from "../../../simulate/target/memory-tables.ts";

const migrations = [[createTable("t", { a: int32() })], [renameColumn("t", "a", "b")]];

/** A ledger of two migrations, whose first `torn` reads miss the first of them. */
async function aLedger(torn: number) {
  const target = memoryTarget({ name: "memory", model: "embedded", tables: memoryTables() });
  const source = sourceOf(migrations.map((steps, index) => aMigration(index + 1, steps)));
  await up({ target, ledger: "_migrations", migrations: source, lease: { duration: 30_000, patience: 0 } });
  const journal = journalOf(target, "_migrations");
  let reads = 0;
  const read = async () => {
    const records = await journal.read();
    return ++reads > torn ? records : records.filter(({ version }) => version !== 1);
  };
  return { ...journal, read };
}

test("a record that only one read missed is no finding", async () => {
  expect((await auditConsistently({ journal: await aLedger(0) })).findings).toEqual([]);
  expect((await auditConsistently({ journal: await aLedger(1) })).findings).toEqual([]);
});

test("a record that two reads in a row missed is a finding", async () => {
  expect((await auditConsistently({ journal: await aLedger(2) })).findings).not.toEqual([]);
});

test("an audit that must read again ends when the run is interrupted", async () => {
  const signal = AbortSignal.abort();
  expect((await auditConsistently({ journal: await aLedger(0), signal })).findings).toEqual([]);
  await expect(auditConsistently({ journal: await aLedger(1), signal })).rejects.toMatchObject({
    code: "ERR_INTERRUPTED",
  });
});
