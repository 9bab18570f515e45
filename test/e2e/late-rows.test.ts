/** What `up` does about calls that changed rows, and that may have come after their run had lost the lease. */
import { expect, test } from "vitest";
import { journalOf } from "../../src/ledger/journal/open-journal.ts";
import { takeLease } from "../../src/ledger/lease/lease.ts";
import { foldLedger } from "../../src/ledger/state/fold.ts";
import { stagingName } from "../../src/features/embed/compute/staging-name.ts";
import { open } from "../../src/targets/lance/lance.ts";
import { systemClock } from "../../src/time/clock.ts";
import { aProject, type Project } from "../support/project.ts";
import { addRows, lancedb } from "../support/tables.ts";

const ledger = "_migrations";
const options = JSON.stringify({ from: ["text"], key: "id", with: "./code/lengths.ts", version: "1" });

/** Adds what a run records that wakes up and sees that its call came late. */
async function recordLate(
  { database }: Project,
  place: { version: number; name: string; step: number; total: number },
) {
  const target = await open({ kind: "lance", uri: database }, { name: "test", folder: database });
  const journal = journalOf(target, ledger);
  const woken = { by: "ann@machine (process 7)", run: "woken", tool: "test" };
  const terms = { duration: 30_000, clock: systemClock };
  const lease = await takeLease(journal, foldLedger(await journal.read()), woken, undefined, terms);
  await lease!.recordLate({ event: "late", ...place });
  await lease!.release();
}

test("values that a backfill has saved late are removed, and nothing needs to be checked", async () => {
  const project = aProject();
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int64().notNull(), text: m.utf8() })`);
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  await addRows(project.database, "docs", [{ id: 1n, text: "one" }]);
  project.write("code/lengths.ts", "export default async (rows) => rows.map(({ text }) => text.length);\n");
  const steps = [`m.addColumn("docs", "length", m.int32())`, `m.backfillColumn("docs", "length", ${options})`];
  project.migration("0002_length.ts", steps.join(", "));
  expect(await project.migrate(["up"])).toMatchObject({ code: 0 });
  const db = await lancedb.connect(project.database);
  const staging = stagingName(ledger, { table: "docs", path: "length" });
  await db.createTable(staging, [{ id: 1n, length: 3 }]);
  await recordLate(project, { version: 2, name: "length", step: 2, total: 2 });
  const { code, stderr } = await project.migrate(["up"]);
  expect(code).toBe(0);
  expect(stderr).toContain(
    "may have changed them late: a late write gives a row only what the same code computes, so nothing needs to be checked\n",
  );
  expect(await db.tableNames()).not.toContain(staging);
});

test.each([
  [
    `m.insertRows("docs", [{ id: 1, text: "one" }], { key: "id" })`,
    "check whether rows of docs have the same id, and delete one of each",
  ],
  [
    `m.execute("docs", { update: { text: "'x'" }, where: "id > 1" })`,
    "check whether rows with id > 1 that applications wrote before that run ended were updated again",
  ],
  [
    `m.execute("docs", { delete: "id > 1" })`,
    "check whether rows with id > 1 that applications wrote before that run ended were deleted again",
  ],
])("the note about %s names what to look for", async (step, check) => {
  const project = aProject();
  project.migration("0001_docs.ts", `m.createTable("docs", { id: m.int32(), text: m.utf8() })`);
  project.migration("0002_rows.ts", step);
  expect(await project.migrate(["up", "--accept", "lossy", "--step-by-step"])).toMatchObject({ code: 0 });
  await recordLate(project, { version: 2, name: "rows", step: 1, total: 1 });
  expect((await project.migrate(["up"])).stderr).toContain(`may have changed them late: ${check}\n`);
});
