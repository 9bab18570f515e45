import * as fc from "../../../support/fast-check.ts";
import { expect, test } from "vitest";
import { epochName, ledgerOfMarker, markerName, parseMarkerName } from "../../../../src/ledger/journal/marker-name.ts";
import type { LedgerEntry, LedgerEvent, LedgerRecord } from "../../../../src/ledger/state/record.ts";
import { shortHash } from "../../../../src/migrations/checksum.ts";
import { tableNameProblem } from "../../../../src/schema/names.ts";

const ledger = "_migrations";
const longestLedger = "l".repeat(60);

const hash = fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: 64, maxLength: 64 });
const versions = fc.oneof(fc.nat({ max: 20_000 }), fc.constant(Number.MAX_SAFE_INTEGER), fc.maxSafeNat());
const migrationNames = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/),
  // Those that look like other parts of a name, and the longest that a file can have.
  fc.constantFrom("1of2", "c9f86d081", "e1", "n3", "0_0", "t", "x".repeat(230), `${"long_".repeat(45)}end`),
);

/** What any record carries, in sizes that a ledger may reach. */
const place = {
  epoch: fc.integer({ min: 1, max: 1_000_000 }),
  number: fc.integer({ min: 1, max: 100_000 }),
  at: fc.integer({ min: 1_700_000_000_000, max: 4_000_000_000_000 }),
  by: fc.string(),
  run: fc.uuid(),
  tool: fc.constant("lance-migrate 1.2.3"),
  applied: hash,
  previous: hash,
};
const facts = {
  version: versions,
  name: migrationNames,
  step: fc.nat({ max: 9_999 }),
  total: fc.nat({ max: 9_999 }),
  checksum: hash,
  steps: fc.array(hash.map(shortHash), { maxLength: 3 }),
  textHash: hash,
  attempt: fc.integer({ min: 1, max: 9_999 }),
  duration: fc.nat({ max: 86_400_000 }),
  tables: fc.constant({ t: [1, 2] as const }),
};
const next = fc.option(versions, { nil: undefined });
const lease = fc.option(fc.integer({ min: 1, max: 86_400_000 }), { nil: undefined });

/** What each event says, as the code that records it does. */
const entries: Readonly<Record<Exclude<LedgerEvent, "taken">, fc.Arbitrary<Omit<LedgerEntry, "event">>>> = {
  renewed: fc.record({ next, lease }),
  advanced: fc.record({ ...facts, next: versions }),
  applied: fc.record({ ...facts, next }),
  baselined: fc.record({ ...facts, next }),
  reverting: fc.record({ ...facts, next: versions }),
  reverted: fc.record(facts),
  failed: fc.record({ ...facts, detail: fc.string() }),
  interrupted: fc.record(facts),
  noted: fc.record({ ...facts, next }),
  late: fc.record({ version: versions, name: migrationNames, step: facts.step, total: facts.total, next: versions }),
  looked: fc.record({ next, late: place.epoch }),
  rebuilt: fc.record({ next }),
  released: fc.record({}),
};
const aRecord: fc.Arbitrary<LedgerRecord> = fc.oneof(
  ...Object.entries(entries).map(([event, entry]) =>
    fc.tuple(fc.record(place), entry).map(([own, said]) => ({ ...own, ...said, event: event as LedgerEvent })),
  ),
);
const aTaking: fc.Arbitrary<LedgerRecord> = fc.record({
  ...place,
  number: fc.constant(0),
  event: fc.constant("taken" as const),
  next,
  lease,
});

const written = { by: "ann", run: "run", tool: "test", at: 1_750_000_000_000, applied: "", previous: "" };

test("a record without a migration is named like this", () => {
  const hashes = { applied: "a".repeat(64), previous: "b".repeat(64) };
  const said = { event: "renewed", next: 12, lease: 30_000 } as const;
  expect(markerName(ledger, { ...written, ...hashes, ...said, epoch: 7, number: 3 })).toBe(
    "_migrations.e7.3.renewed.haaaaaaaaaaaaaaaa.pbbbbbbbbbbbbbbbb.n12.l30000.wmbxstdz4",
  );
});

test("a record of a migration carries its number and name, and how far it got", () => {
  const said = { event: "applied", version: 3, name: "widen_ids", step: 2, total: 2, attempt: 1 } as const;
  expect(markerName(ledger, { ...written, ...said, epoch: 7, number: 2 })).toBe(
    "_migrations.e7.2.applied.0003_widen_ids.2of2.a1.wmbxstdz4",
  );
});

test("a name holds what a later run has to read, and hashes with their first 16 characters", () => {
  fc.assert(
    fc.property(aRecord, (record) => {
      const { detail: _, steps: _steps, tables: _tables, ...kept } = record;
      const marker = markerName(ledger, record);
      const read = parseMarkerName(ledger, marker);
      // One that just fits counts as cut as well.
      const isNameCut = kept.name !== undefined && marker.length === 249;
      const expected: LedgerRecord = {
        ...kept,
        ...(kept.checksum === undefined ? {} : { checksum: shortHash(kept.checksum) }),
        ...(kept.textHash === undefined ? {} : { textHash: shortHash(kept.textHash) }),
        // Only what is for people is cut: the end of a long name.
        ...(isNameCut && { isNameCut, name: expect.toSatisfy((name) => kept.name!.startsWith(name)) }),
        // Why it failed is for people: the marker's row says it.
        ...(record.event === "failed" ? { detail: expect.stringContaining("row") } : {}),
        by: "another run",
        run: `epoch ${record.epoch}`,
        tool: "",
        applied: shortHash(record.applied),
        previous: shortHash(record.previous),
      };
      expect(read).toEqual(expected);
    }),
    { numRuns: 2_000 },
  );
});

test("a migration's name of 60 characters stands in full in a ledger of the usual name", () => {
  fc.assert(
    fc.property(aRecord, (record) => {
      if (record.name === undefined || record.name.length > 60 || record.version! > 20_000) return;
      expect(parseMarkerName(ledger, markerName(ledger, record))?.name).toBe(record.name);
    }),
  );
});

test("a record that was read has the name that it was read from", () => {
  fc.assert(
    fc.property(aRecord, fc.constantFrom(ledger, longestLedger, "l.e1", "l.e1.2"), (record, name) => {
      const marker = markerName(name, record);
      expect(markerName(name, parseMarkerName(name, marker)!)).toBe(marker);
    }),
    { numRuns: 1_000 },
  );
});

test("the longest ledger's name, the highest numbers and the longest migrations leave a table's name that the engine takes", () => {
  fc.assert(
    fc.property(aRecord, (record) => {
      const marker = markerName(longestLedger, record);
      expect(tableNameProblem(marker)).toBeUndefined();
      expect(marker.length).toBeLessThanOrEqual(249);
      const { version, step, total, textHash } = parseMarkerName(longestLedger, marker)!;
      expect({ version, step, total, textHash }).toEqual({
        version: record.version,
        step: record.step,
        total: record.total,
        textHash: record.textHash?.slice(0, 16),
      });
    }),
    { numRuns: 2_000 },
  );
});

test("whoever takes an epoch, whenever and for whatever, makes a marker of the same name", () => {
  fc.assert(
    fc.property(aTaking, (record) => {
      const { epoch } = record;
      expect(markerName(ledger, record)).toBe(epochName(ledger, epoch));
      const unknown = { by: "another run", run: `epoch ${epoch}`, tool: "", at: 0, applied: "", previous: "" };
      expect(parseMarkerName(ledger, `_migrations.e${epoch}`)).toEqual({
        ...unknown,
        epoch,
        number: 0,
        event: "taken",
      });
    }),
  );
});

test.each([
  "_migrations",
  "_migrations2.e1",
  "_migrations2.e1.2.released",
  "my_migrations.e1",
  "_migrationsXe1",
  "_migrations.extra",
  "_migrations.e",
  "_migrations.e.1.released",
  "_migrations.e1.2",
  "_migrations.e1.",
  "_migrations.e1.2.",
  "_migrations.e1.x",
  "_migrations.e1x",
  "_migrations.E1",
  "_migrations.e-1",
  "_migrations.e1.5",
  "_migrations.e1.2.Released",
  "_migrations.e1.released",
  "_migrations.epoch.e1",
  "_migrations.dev.e1.2.released",
  "_migrations.e1.e1",
  "",
])("a table %j is no marker", (table) => {
  expect(parseMarkerName(ledger, table)).toBeUndefined();
});

test("a step of no total is not in a name, and neither is a total without a step", () => {
  const said = { event: "released", epoch: 7, number: 2 } as const;
  const bare = markerName(ledger, { ...written, ...said });
  expect(markerName(ledger, { ...written, ...said, step: 1 })).toBe(bare);
  expect(markerName(ledger, { ...written, ...said, total: 1 })).toBe(bare);
});

test.each([
  ["_migrations.e1", "_migrations"],
  ["_migrations.e12.3.released", "_migrations"],
  ["other.e1.2.applied.0001_one.1of1", "other"],
  ["l.e1.e2", undefined],
  ["_migrations.e1.x", undefined],
  ["_migrations.e1.2.Released", undefined],
  ["documents", undefined],
])("table %s would be a marker of ledger %s", (table, name) => {
  expect(ledgerOfMarker(table)).toBe(name);
});

test("no record of one ledger is one of another", () => {
  const ledgers = [ledger, "_migrations2", "_migrations.dev", "_migrations.e1", "migrations", "m"];
  fc.assert(
    fc.property(fc.oneof(aRecord, aTaking), (record) => {
      for (const one of ledgers)
        for (const other of ledgers)
          if (one !== other) expect(parseMarkerName(other, markerName(one, record))).toBeUndefined();
    }),
  );
});
