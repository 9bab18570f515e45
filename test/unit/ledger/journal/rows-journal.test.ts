import { existsSync } from "node:fs";
import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { byPlace, recordHash, type LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { ledgerColumns, rowsJournal } from "../../../../src/ledger/journal/rows-journal.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import { columnsOf, lancedb, rowsOf } from "../../../support/tables.ts";
import { recordsOf } from "../../../support/ledger.ts";
import { temporaryFolder } from "../../../support/project.ts";

const ledger = "_migrations";

async function aJournal(folder: string) {
  const target = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  return rowsJournal(ledger, recordsOf(target, ledger));
}

function aRecord(epoch: number, number: number, more: Partial<LedgerRecord> = {}): LedgerRecord {
  const who = { by: "ann@machine (process 7)", run: "run 1", tool: "lance-migrate 0.1.0" };
  const event = number === 0 ? "taken" : "renewed";
  return { epoch, number, event, at: 1_750_000_000_123, applied: "abc", previous: "def", ...who, ...more };
}

const full = aRecord(1, 1, {
  event: "failed",
  version: 20_260_801_120_000,
  name: "widen_ids",
  attempt: 2,
  step: 1,
  total: 3,
  checksum: "c",
  steps: ["0123456789abcdef", "fedcba9876543210"],
  textHash: "t",
  duration: 1234,
  tables: { documents: [1, 2], 'a "b"': [null, 7], none: [3, null] },
  lease: 30_000,
  next: 2,
  detail: "naïve — «why» 'quoted' \n second line 🧨",
});

test("a ledger that nobody has written has no records", async () => {
  const journal = await aJournal(temporaryFolder());
  expect([await journal.head(), await journal.read()]).toEqual([undefined, []]);
});

test("reading a ledger that nobody has written makes no folder", async () => {
  const folder = `${temporaryFolder()}/absent`;
  const journal = await aJournal(folder);
  await journal.read();
  expect(existsSync(folder)).toBe(false);
});

test("a ledger without rows has no records, and its first epoch can be taken", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "local", folder });
  await recordsOf(target, ledger).create();
  const journal = await aJournal(folder);
  expect([await journal.head(), await journal.read()]).toEqual([undefined, []]);
  expect(await journal.take(aRecord(1, 0))).toBe(true);
});

test("what is read back has the hash of what was written", async () => {
  const journal = await aJournal(temporaryFolder());
  const written = [aRecord(1, 0, { lease: 30_000 }), full, aRecord(1, 2, { steps: [], tables: {}, detail: "" })];
  await journal.take(written[0]!);
  await journal.add(written.slice(1));
  const read = (await journal.read()).toSorted(byPlace);
  expect(read.map(recordHash)).toEqual(written.map(recordHash));
  expect(read[1]).toEqual(full);
});

test("what is read back has the hash of what was written, whatever it says", async () => {
  const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
  const text = fc.string({ unit: "grapheme", maxLength: 20 });
  const count = fc.nat({ max: Number.MAX_SAFE_INTEGER });
  const place = maybe(count).map((value) => value ?? null);
  const said = fc.record({
    event: fc.constantFrom("applied", "failed", "interrupted", "advanced", "noted", "released"),
    at: fc.nat({ max: 4_000_000_000_000 }),
    by: text,
    detail: maybe(text),
    version: maybe(count),
    next: maybe(count),
    name: maybe(text),
    steps: maybe(fc.array(fc.stringMatching(/^[0-9a-f]{16}$/), { maxLength: 3 })),
    tables: maybe(fc.dictionary(text, fc.tuple(place, place), { maxKeys: 3 })),
  });
  const journal = await aJournal(temporaryFolder());
  await journal.take(aRecord(1, 0));
  let number = 1;
  await fc.assert(
    fc.asyncProperty(fc.array(said, { minLength: 1, maxLength: 5 }), async (entries) => {
      const records = entries.map((entry) => aRecord(1, number++, entry as Partial<LedgerRecord>));
      await journal.add(records);
      const read = (await journal.read()).toSorted(byPlace).slice(-records.length);
      expect(read.map(recordHash)).toEqual(records.map(recordHash));
    }),
    { numRuns: 15, endOnFailure: true },
  );
});

test("the newest record is that of the highest epoch and number, whenever it was written", async () => {
  const journal = await aJournal(temporaryFolder());
  await journal.take(aRecord(1, 0));
  await journal.add([aRecord(1, 9), aRecord(1, 10)]);
  await journal.take(aRecord(2, 0));
  await journal.add([aRecord(1, 11)]);
  expect(await journal.head()).toMatchObject({ epoch: 2, number: 0 });
});

test("an epoch is taken once", async () => {
  const journal = await aJournal(temporaryFolder());
  expect(await journal.take(aRecord(1, 0))).toBe(true);
  expect(await journal.take(aRecord(1, 0, { run: "run 2" }))).toBe(false);
  expect(await journal.take(aRecord(2, 0))).toBe(true);
  expect(await journal.read()).toHaveLength(2);
});

test("another's records are seen by a handle that was open before", async () => {
  const folder = temporaryFolder();
  const [writer, reader] = [await aJournal(folder), await aJournal(folder)];
  await writer.take(aRecord(1, 0));
  expect(await reader.read()).toHaveLength(1);
  await writer.add([aRecord(1, 1)]);
  expect(await reader.head()).toMatchObject({ number: 1 });
  expect(await reader.take(aRecord(1, 0, { run: "run 2" }))).toBe(false);
});

test("the ledger reads well with any Lance client", async () => {
  const folder = temporaryFolder();
  const journal = await aJournal(folder);
  await journal.take(aRecord(1, 0, { lease: 30_000, next: 1 }));
  expect((await columnsOf(folder, ledger)).slice(0, 4)).toEqual([
    "key: utf8 not null",
    "epoch: int64 not null",
    "number: int64 not null",
    "event: utf8 not null",
  ]);
  expect(await rowsOf(folder, ledger)).toMatchObject([
    { key: "1.0", epoch: 1, event: "taken", lease: 30_000, next: 1 },
  ]);
});

const foreign = [
  { what: "other columns and rows", columns: { id: 1, title: "mine" } },
  { what: "a column of the ledger's name and another type", columns: { epoch: "one", number: "two" } },
];

test.each(foreign)("a table of that name with $what is no ledger", async ({ columns }) => {
  const folder = temporaryFolder();
  const db = await lancedb.connect(folder);
  await db.createTable(ledger, [columns]);
  const journal = await aJournal(folder);
  await expect(journal.head()).rejects.toMatchObject({ code: "ERR_LEDGER_UNREADABLE" });
  await expect(journal.read()).rejects.toMatchObject({ code: "ERR_LEDGER_UNREADABLE" });
});

test("a column of a type that no ledger has is named", async () => {
  const folder = temporaryFolder();
  const row = ledgerColumns.map(({ name, type }) => [name, type.kind === "utf8" ? "a" : 1.5] as const);
  await (await lancedb.connect(folder)).createTable(ledger, [Object.fromEntries(row)]);
  const journal = await aJournal(folder);
  for (const read of [() => journal.head(), () => journal.read()])
    await expect(read()).rejects.toMatchObject({
      code: "ERR_LEDGER_UNREADABLE",
      details: { problem: expect.stringMatching(/^column epoch is not as this version of lance-migrate writes it/) },
    });
});

async function anEmptyForeignTable(): Promise<string> {
  const folder = temporaryFolder();
  const db = await lancedb.connect(folder);
  const table = await db.createTable(ledger, [{ id: 1, title: "mine" }]);
  await table.delete("id = 1");
  return folder;
}

test.each(["head", "read"] as const)("an empty table of that name that is no ledger is refused (%s)", async (what) => {
  const journal = await aJournal(await anEmptyForeignTable());
  await expect(journal[what]()).rejects.toMatchObject({ code: "ERR_LEDGER_UNREADABLE" });
});

test("no record is written to an empty table of that name that is no ledger", async () => {
  const folder = await anEmptyForeignTable();
  const journal = await aJournal(folder);
  await expect(journal.take(aRecord(1, 0))).rejects.toMatchObject({ code: expect.stringContaining("ERR_LEDGER_UN") });
  expect(await rowsOf(folder, ledger)).toEqual([]);
});

test("a ledger that can't be compacted is no error", async () => {
  const folder = temporaryFolder();
  const target = await open({ kind: "lance", uri: folder }, { name: "test", folder });
  const table = recordsOf(target, ledger);
  const compact = () => Promise.reject(new Error("a tagged version stands in the way"));
  const journal = rowsJournal(ledger, { ...table, compact });
  await journal.take(aRecord(1, 0));
  await journal.compact();
});

test("records that are added while the ledger is being compacted are not lost", async () => {
  const folder = temporaryFolder();
  const writer = await aJournal(folder);
  await writer.take(aRecord(1, 0));
  for (let number = 1; number <= 33; number++) await writer.add([aRecord(1, number)]);
  const compacting = writer.compact();
  for (let number = 34; number <= 40; number++) await writer.add([aRecord(1, number)]);
  await compacting;
  const read = (await (await aJournal(folder)).read()).toSorted(byPlace);
  expect(read.map(({ number }) => number)).toEqual(Array.from({ length: 41 }, (_, index) => index));
  const db = await lancedb.connect(folder);
  const { fragmentStats } = await (await db.openTable(ledger)).stats();
  expect(fragmentStats.numFragments).toBeLessThan(10);
});

test("a record that a newer version wrote in another form is refused, naming the column", async () => {
  const folder = temporaryFolder();
  const journal = await aJournal(folder);
  await journal.take(aRecord(1, 0));
  const db = await lancedb.connect(folder);
  await (await db.openTable(ledger)).dropColumns(["previous"]);
  await expect((await aJournal(folder)).read()).rejects.toMatchObject({
    code: "ERR_LEDGER_UNREADABLE",
    message: expect.stringContaining("previous"),
  });
});

test("many small files are merged and no record is lost, also to one who is reading", async () => {
  const folder = temporaryFolder();
  const [writer, reader] = [await aJournal(folder), await aJournal(folder)];
  await writer.take(aRecord(1, 0));
  const counts: number[] = [];
  for (let number = 1; number <= 70; number++) {
    const [read] = await Promise.all([reader.read(), writer.add([aRecord(1, number)]).then(writer.compact)]);
    counts.push(read.length);
  }
  expect(counts).toEqual(counts.toSorted((one, other) => one - other));
  expect(counts.every((count, index) => count > index && count <= index + 2)).toBe(true);
  const read = (await reader.read()).toSorted(byPlace);
  expect(read.map(({ number }) => number)).toEqual(Array.from({ length: 71 }, (_, index) => index));
  const db = await lancedb.connect(folder);
  const { fragmentStats } = await (await db.openTable(ledger)).stats();
  expect(fragmentStats.numFragments).toBeLessThan(40);
});
