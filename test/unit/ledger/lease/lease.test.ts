import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { auditLedger } from "../../../../src/ledger/audit/audit.ts";
import { MigrateError } from "../../../../src/errors/migrate-error.ts";
import type { Runner } from "../../../../src/ledger/lease/record-chain.ts";
import type { Clock } from "../../../../src/time/clock.ts";
import { appliedHash } from "../../../../src/ledger/state/applied-hash.ts";
import { foldLedger } from "../../../../src/ledger/state/fold.ts";
import { isAtRest, type Journal } from "../../../../src/ledger/journal/journal.ts";
import { markersJournal } from "../../../../src/ledger/journal/markers-journal.ts";
import { takeLease, type Lease } from "../../../../src/ledger/lease/lease.ts";
import { waitForHolder } from "../../../../src/ledger/lease/wait-for-holder.ts";
import {
  byPlace,
  deferralDetail,
  recordHash,
  type LedgerEntry,
  type LedgerRecord,
} from "../../../../src/ledger/state/record.ts";
import { rowsJournal } from "../../../../src/ledger/journal/rows-journal.ts";
import type { RecordTable } from "../../../../src/targets/contract/ledger-store.ts";
import { open } from "../../../../src/targets/lance/lance.ts";
import type { Row } from "../../../../src/wire/rows/ipc-rows.ts";
import { handClock, type HandClock } from "../../../support/clocks.ts";
import { recordsOf } from "../../../support/ledger.ts";
import { temporaryFolder } from "../../../support/project.ts";

const duration = 30_000;
const half = duration / 2;
const ann: Runner = { by: "ann", run: "run a", tool: "test" };
const bob: Runner = { by: "bob", run: "run b", tool: "test" };
const carl: Runner = { by: "carl", run: "run c", tool: "test" };

/** A journal in memory; `records` is what everybody sees. */
function memoryJournal() {
  const records: LedgerRecord[] = [];
  let reads = 0;
  let writes = 0;
  const journal: Journal = {
    name: "_migrations",
    async head() {
      reads++;
      return records.toSorted(byPlace).at(-1);
    },
    async isNewest(place) {
      reads++;
      return records.every((other) => byPlace(other, place) <= 0);
    },
    async read() {
      reads++;
      return [...records];
    },
    async take(record) {
      if (records.some(({ epoch, number }) => epoch === record.epoch && number === 0)) return false;
      records.push(record);
      return true;
    },
    async add(more) {
      writes++;
      records.push(...more);
    },
    compact: async () => {},
    hashOf: recordHash,
  };
  return { ...journal, records, reads: () => reads, writes: () => writes };
}

/** The table of a ledger in memory. */
function memoryTable(): RecordTable {
  const rows: Row[] = [];
  return {
    create: async () => {},
    all: async () => [...rows],
    last: async () => (rows.length === 0 ? undefined : { row: rows.at(-1)!, matched: false }),
    count: async () => 0,
    insertIfAbsent: async (row) => rows.push(row) > 0,
    insert: async (more) => void rows.push(...more),
    compact: async () => {},
  };
}

/** Markers in memory. */
function markersOf(names: string[]): Journal {
  return markersJournal("_migrations", {
    names: async () => [...names],
    create: async (name) => !names.includes(name) && names.push(name) > 0,
    verdict: () => ({ kind: "refused" }),
    clock: handClock(),
  });
}

async function rowsInFolder() {
  const target = await open({ kind: "lance", uri: "data" }, { name: "local", folder: temporaryFolder() });
  return rowsJournal("_migrations", recordsOf(target, "_migrations"));
}

async function aLease(journal: Journal, clock: Clock, runner = ann, next: number | undefined = 1): Promise<Lease> {
  const lease = await takeLease(journal, foldLedger(await journal.read()), runner, next, { duration, clock });
  return lease!;
}

/** Ann holds the lease, in memory. */
async function aHolder() {
  const [journal, clock] = [memoryJournal(), handClock()];
  return { journal, clock, lease: await aLease(journal, clock) };
}

/** The holder is stopped for longer than its lease, and Bob takes over. */
async function overtaken(journal: Journal, clock: HandClock): Promise<void> {
  clock.stall(duration * 2);
  await aLease(journal, handClock(), bob);
}

const patience = 600_000;

/** Bob holds the lease, and somebody waits for him, who may see another journal. */
async function aWaiter(theirs = duration) {
  const [journal, clock] = [memoryJournal(), handClock()];
  const holder = (await takeLease(journal, foldLedger([]), bob, 1, { duration: theirs, clock: handClock() }))!;
  const state = foldLedger(journal.records);
  const wait = async (seen: Journal, more: Partial<Parameters<typeof waitForHolder>[2]> = {}) =>
    await waitForHolder(seen, state, { duration, clock, patience, ...more });
  return { journal, holder, clock, wait };
}

const eventsOf = (records: readonly LedgerRecord[]) =>
  records.toSorted(byPlace).map(({ epoch, number, event }) => `${epoch}.${number} ${event}`);

const journals = [
  { kind: "memory", make: async (): Promise<Journal> => memoryJournal() },
  { kind: "rows", make: rowsInFolder },
];

test.each(journals)("of ten takers of one epoch exactly one has it ($kind)", async ({ make }) => {
  const journal = await make();
  const takers = Array.from({ length: 10 }, (_, index) => ({ ...ann, run: `run ${index}` }));
  const leases = await Promise.all(
    takers.map((runner) => takeLease(journal, foldLedger([]), runner, 1, { duration, clock: handClock() })),
  );
  const winners = takers.filter((_, index) => leases[index] !== undefined);
  expect(winners).toHaveLength(1);
  expect(await journal.read()).toMatchObject([{ epoch: 1, number: 0, event: "taken", run: winners[0]!.run }]);
});

test.each(journals)("an epoch is taken, written to and released ($kind)", async ({ make }) => {
  const journal = await make();
  const lease = await aLease(journal, handClock());
  await lease.record([{ event: "applied", version: 1, name: "one", textHash: "text", next: 2 }]);
  await lease.release([{ event: "failed", version: 2, name: "two", detail: "no" }]);
  const records = await journal.read();
  expect(eventsOf(records)).toEqual(["1.0 taken", "1.1 applied", "1.2 failed", "1.3 released"]);
  expect(foldLedger(records)).toMatchObject({ epoch: 1, holder: undefined, inDoubt: new Set() });
});

test.each(journals)("a holder that was taken over learns it before it acts ($kind)", async ({ make }) => {
  const journal = await make();
  const clock = handClock();
  const lease = await aLease(journal, clock);
  clock.jumpWall(duration * 2);
  await aLease(journal, handClock(), bob);
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_LOST", details: { by: "bob" } });
});

test.each(journals)(
  "a whole lease of silence lets another take over, and a record less does not ($kind)",
  async (one) => {
    const journal = await one.make();
    const lease = await aLease(journal, handClock());
    const state = foldLedger(await journal.read());
    const waited = async () => {
      const clock = handClock();
      const silent = await waitForHolder(journal, state, { duration, patience: 600_000, clock });
      return [silent?.number, clock.steady() > duration];
    };
    expect(await waited()).toEqual([0, true]);
    // A record that came meanwhile is one to be silent after.
    await lease.record([{ event: "renewed" }]);
    expect(await waited()).toEqual([1, true]);
    await lease.release();
    expect(await waited()).toEqual([undefined, false]);
  },
);

test("the first record says for how long and where the holder begins", async () => {
  const journal = memoryJournal();
  await aLease(journal, handClock(), ann, 3);
  expect(journal.records).toMatchObject([{ epoch: 1, number: 0, event: "taken", next: 3, lease: duration, by: "ann" }]);
});

test("where the name that takes an epoch can't say for how long, the next one says it at once", async () => {
  const names: string[] = [];
  await aLease(markersOf(names), handClock(), ann, 3);
  expect(await markersOf(names).read()).toMatchObject([
    { epoch: 1, number: 0, event: "taken" },
    { epoch: 1, number: 1, event: "renewed", next: 3, lease: duration },
  ]);
});

test.each([
  { kind: "rows", make: rowsInFolder },
  { kind: "markers", make: async () => markersOf([]) },
])("who has a shorter lease waits for as long as the holder's ($kind)", async ({ make }) => {
  const journal = await make();
  await aLease(journal, handClock());
  const clock = handClock();
  const state = foldLedger(await journal.read());
  await waitForHolder(journal, state, { duration: duration / 10, patience: 0, clock });
  expect(clock.steady()).toBeGreaterThan(duration);
});

test("who waits hears how long a lease is, however many records came at once (markers)", async () => {
  const names: string[] = [];
  const state = foldLedger([]);
  const lease = await takeLease(markersOf(names), state, ann, 1, { duration, clock: handClock() });
  const taken = foldLedger(await markersOf(names.slice(0, 1)).read());
  await lease!.record([{ event: "advanced", version: 1, name: "one", step: 1, total: 2, next: 1 }]);
  const clock = handClock();
  await waitForHolder(markersOf(names), taken, { duration: duration / 10, patience: 600_000, clock });
  expect(clock.steady()).toBeGreaterThan(duration);
});

test("until an epoch says its lease it may be as long as any before it (markers)", async () => {
  const names: string[] = [];
  await (await aLease(markersOf(names), handClock())).release();
  await takeLease(markersOf(names), foldLedger(await markersOf(names).read()), bob, 1, {
    duration: duration / 10,
    clock: handClock(),
  });
  const unsaid = names.filter((name) => !name.startsWith("_migrations.e2."));
  expect(foldLedger(await markersOf(unsaid).read()).holder).toMatchObject({ lease: duration });
  expect(foldLedger(await markersOf(names).read()).holder).toMatchObject({ lease: duration / 10 });
});

test("an epoch whose length was said too late is not held when another was taken meanwhile", async () => {
  const names: string[] = [];
  const journal = markersOf(names);
  const slow: Journal = {
    ...journal,
    async add(records) {
      await aLease(markersOf(names), handClock(), bob);
      await journal.add(records);
    },
  };
  const state = foldLedger([]);
  expect(await takeLease(slow, state, ann, 1, { duration, clock: handClock() })).toBeUndefined();
});

test("a runner that reads of a newer epoch after taking its own writes nothing there", async () => {
  const others: string[] = [];
  await aLease(markersOf(others), handClock(), carl);
  const [taken, late] = others;
  const names = [taken!];
  const journal = markersOf(names);
  const state = foldLedger(await journal.read());
  const slow: Journal = {
    ...journal,
    async read() {
      await aLease(markersOf(names), handClock(), bob);
      // The first holder's record comes late, so that only this runner sees it.
      names.push(late!);
      return await journal.read();
    },
  };
  expect(await takeLease(slow, state, ann, 1, { duration, clock: handClock() })).toBeUndefined();
  const records = await journal.read();
  expect(eventsOf(records)).toEqual(["1.0 taken", "1.1 renewed", "2.0 taken", "3.0 taken", "3.1 renewed"]);
  expect(auditLedger(records, journal.hashOf)).toEqual([]);
});

test("a runner that is told that an epoch is its own does not hold it where another one took it before", async () => {
  const journal = memoryJournal();
  const both: Journal = { ...journal, take: async (record) => journal.records.push(record) > 0 };
  const state = foldLedger([]);
  const terms = { duration, clock: handClock() };
  const first = await takeLease(both, state, ann, 1, terms);
  expect(first).toBeDefined();
  expect(await takeLease(both, state, bob, 1, terms)).toBeUndefined();
  // Who was first holds it still.
  await first!.record([{ event: "applied", version: 1, name: "one" }]);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.0 taken", "1.1 applied"]);
});

test("a holder that slept through its lease has lost it to who took the next epoch before, whatever it is told", async () => {
  const journal = memoryJournal();
  const both: Journal = { ...journal, take: async (record) => journal.records.push(record) > 0 };
  const clock = handClock();
  const lease = await aLease(both, clock);
  await overtaken(journal, clock);
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
});

test("a holder that slept through its lease has lost it if another writes to the epoch that it takes then", async () => {
  const journal = memoryJournal();
  const take = async (record: LedgerRecord) => {
    if (record.epoch === 2) journal.records.push({ ...record, ...bob, number: 1, event: "renewed" });
    return await journal.take(record);
  };
  const clock = handClock();
  const lease = await aLease({ ...journal, take }, clock);
  clock.stall(duration * 2);
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
});

test("a holder that slept through its lease, and can't read the ledger any more, has failed and is not refused", async () => {
  const journal = memoryJournal();
  const details = { ledger: "_migrations", problem: "column checksum is missing" };
  const clock = handClock();
  const lease = await aLease(journal, clock);
  journal.read = () => Promise.reject(new MigrateError("ERR_LEDGER_UNREADABLE", details));
  clock.stall(duration * 2);
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEDGER_UNWRITABLE", outcome: "failed", details });
});

test("a holder hears at its next renewal that another took over before it had said its lease (markers)", async () => {
  const names: string[] = [];
  const clock = handClock();
  const lease = await aLease(markersOf(names), clock);
  await aLease(markersOf(names), handClock(), bob);
  await clock.pass(half);
  expect(lease.isSure()).toBe(false);
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
});

test("where the ledger answers more slowly than a lease lasts, taking it again ends, with the way out", async () => {
  const names: string[] = [];
  const clock = handClock();
  const journal = markersOf(names);
  const slow: Journal = {
    ...journal,
    take: (record) => (clock.stall(0.6 * duration), journal.take(record)),
    add: (records) => (clock.stall(0.6 * duration), journal.add(records)),
  };
  const lease = await aLease(slow, clock);
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_SHORT", details: { seconds: 30 } });
  expect(names.filter((name) => /e\d+$/.test(name))).toHaveLength(6);
});

test("a holder that takes the next epoch does not record there again what it has ended before", async () => {
  const { journal, clock, lease } = await aHolder();
  await lease.record([{ event: "applied", version: 1, name: "one", textHash: "text", next: 2 }]);
  clock.stall(duration);
  await lease.check();
  await lease.record([{ event: "applied", version: 2, name: "two", textHash: "text" }]);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.1 applied", "2.0 taken", "2.1 applied"]);
});

test("a renewal repeats which migration is next, and that none is", async () => {
  const { journal, clock, lease } = await aHolder();
  const nextRenewed = async () => {
    await clock.pass(half);
    const { event, next } = journal.records.at(-1)!;
    return event === "renewed" && next;
  };
  expect(await nextRenewed()).toBe(1);
  await lease.record([{ event: "applied", version: 1, name: "one", textHash: "text", next: 2 }]);
  expect(await nextRenewed()).toBe(2);
  await lease.record([{ event: "applied", version: 2, name: "two", textHash: "text" }]);
  expect(await nextRenewed()).toBeUndefined();
});

test("the time that a record took counts as passed", async () => {
  const journal = memoryJournal();
  const clock = handClock();
  const slow: Journal = { ...journal, add: (records) => (clock.stall(half), journal.add(records)) };
  const lease = await aLease(slow, clock);
  await lease.record([{ event: "advanced", version: 1, name: "one", next: 1 }]);
  clock.stall(half);
  expect(lease.isSure()).toBe(false);
});

test("the records of a holder continue those that an older one has added since it read them", async () => {
  const journal = memoryJournal();
  const applied = (version: number) => ({ event: "applied", version, name: "m", textHash: `text ${version}` }) as const;
  const older = await aLease(journal, handClock());
  await older.record([{ event: "renewed", detail: deferralDetail([]) }]);
  const state = foldLedger(journal.records);
  await older.record([{ ...applied(1), detail: deferralDetail(["i of t"]) }]);
  const lease = await takeLease(journal, state, bob, 2, { duration, clock: handClock() });
  await lease!.record([applied(2)]);
  expect(journal.records.at(-1)!.applied).toBe(appliedHash([1, 2].map(applied)).value);
  expect(lease!.defers()).toBe(true);
});

test("an epoch that was refused is not held, also if nobody is seen to have it", async () => {
  const journal = { ...memoryJournal(), take: async () => false };
  expect(await takeLease(journal, foldLedger([]), ann, 1, { duration, clock: handClock() })).toBeUndefined();
});

test("an idle holder renews after a third of its lease and again after each", async () => {
  const journal = memoryJournal();
  const clock = handClock();
  const times: number[] = [];
  await aLease(
    { ...journal, add: async (records) => void (times.push(clock.steady()), await journal.add(records)) },
    clock,
  );
  const reads = journal.reads();
  await clock.pass(duration);
  expect(times).toEqual([10_000, 20_000, 30_000]);
  expect(journal.reads()).toBe(reads);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.1 renewed", "1.2 renewed", "1.3 renewed"]);
});

test("a holder that writes does not renew as well", async () => {
  const { journal, clock, lease } = await aHolder();
  for (let times = 0; times < 6; times++) {
    await clock.pass(duration / 4);
    await lease.record([{ event: "advanced", next: 1 }]);
  }
  expect(journal.records.filter(({ event }) => event === "renewed")).toEqual([]);
});

test("a renewal that fails is tried again", async () => {
  const journal = memoryJournal();
  const clock = handClock();
  let failures = 1;
  await aLease(
    { ...journal, add: (records) => (failures-- > 0 ? Promise.reject(new Error("busy")) : journal.add(records)) },
    clock,
  );
  await clock.pass(duration / 2);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.2 renewed"]);
});

test("a lease is renewed while the ledger is being compacted, however long that takes", async () => {
  const compacted = Promise.withResolvers<void>();
  const journal = rowsJournal("_migrations", { ...memoryTable(), compact: () => compacted.promise });
  const clock = handClock();
  const lease = await aLease(journal, clock);
  const recorded = lease.record([{ event: "advanced", next: 1 }]);
  await clock.pass(duration * 1.5);
  expect(lease.isSure()).toBe(true);
  compacted.resolve();
  await recorded;
  await lease.release();
  expect(eventsOf(await journal.read())).toEqual([
    "1.0 taken",
    "1.1 advanced",
    ...[2, 3, 4, 5].map((number) => `1.${number} renewed`),
    "1.6 released",
  ]);
});

test("records and releases wait for a compaction, and renewals do not", async () => {
  const compacted = Promise.withResolvers<void>();
  let compactions = 0;
  const compact = () => (compactions++, compacted.promise);
  const journal: Journal = { ...memoryJournal(), compact };
  const clock = handClock();
  const lease = await aLease(journal, clock);
  await clock.pass(duration * 2);
  expect(lease.isSure()).toBe(true);
  expect(compactions).toBe(1);
  compacted.resolve();
  await lease.record([{ event: "advanced", next: 1 }]);
  expect(compactions).toBe(2);
  await lease.release();
  expect(compactions).toBe(3);
});

test("a released lease is not renewed any more", async () => {
  const { journal, clock, lease } = await aHolder();
  await lease.release();
  await clock.pass(duration * 3);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.1 released"]);
});

test("a lease that is abandoned is not renewed and not released", async () => {
  const journal = memoryJournal();
  const clock = handClock();
  (await aLease(journal, clock)).abandon();
  await clock.pass(duration * 3);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken"]);
});

test("a check within half of the lease asks nobody and writes nothing", async () => {
  const { journal, clock, lease } = await aHolder();
  const before = journal.reads();
  clock.stall(duration / 2 - 1);
  await lease.check();
  expect(journal.reads()).toBe(before);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken"]);
});

const lateness = [
  { what: "half of it by both clocks", wall: half, steady: half },
  { what: "half of it by the wall clock alone", wall: half, steady: 0 },
  { what: "half of it by the steady clock alone", wall: -3_600_000, steady: half },
];

test.each(lateness)("a check renews a lease after $what", async ({ wall, steady }) => {
  const { journal, clock, lease } = await aHolder();
  clock.stall(steady);
  clock.jumpWall(wall - steady);
  await lease.check();
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.1 renewed"]);
});

test("the time that taking the lease took counts as passed", async () => {
  const journal = memoryJournal();
  const clock = handClock();
  const slow: Journal = {
    ...journal,
    async take(record) {
      clock.stall(half);
      return await journal.take(record);
    },
  };
  const lease = await aLease(slow, clock);
  await lease.check();
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.1 renewed"]);
});

const sleeps = [
  { what: "by the wall clock alone", sleep: (clock: HandClock) => clock.jumpWall(duration) },
  { what: "by the steady clock", sleep: (clock: HandClock) => clock.stall(duration) },
];

test.each(sleeps)("a holder that slept through its lease $what takes the next epoch if nobody has", async (one) => {
  const { journal, clock, lease } = await aHolder();
  one.sleep(clock);
  await lease.check();
  await lease.record([{ event: "advanced", version: 1, name: "one", next: 1 }]);
  await lease.release();
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "2.0 taken", "2.1 advanced", "2.2 released"]);
});

test.each(journals)(
  "a holder that takes the next epoch records there that it rolls back before it records how that ends ($kind)",
  async ({ make }) => {
    const clock = handClock();
    const journal = await make();
    const lease = await aLease(journal, clock);
    const about = { version: 1, name: "one", step: 1, total: 2 };
    await lease.record([{ event: "reverting", ...about, next: 1 }]);
    clock.stall(duration);
    await lease.check();
    await lease.record([{ event: "renewed", next: 1 }]);
    await lease.record([{ event: "reverting", ...about, step: 2, next: 1 }]);
    await lease.release([{ event: "failed", ...about, detail: "no" }]);
    const events = ["renewed", "reverting", "reverting", "failed", "released"];
    expect(eventsOf(await journal.read())).toEqual([
      "1.0 taken",
      "1.1 reverting",
      "2.0 taken",
      ...events.map((event, index) => `2.${index + 1} ${event}`),
    ]);
  },
);

test.each(sleeps)("a holder that slept through its lease $what has lost it to who took it", async ({ sleep }) => {
  const { journal, clock, lease } = await aHolder();
  sleep(clock);
  await (await aLease(journal, handClock(), bob)).release();
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_LOST", details: { by: "bob" } });
});

test("a holder that slept past its lease is not reassured by the renewal that is due on waking", async () => {
  const { journal, clock, lease } = await aHolder();
  await overtaken(journal, clock);
  await clock.wake();
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "2.0 taken"]);
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
});

test("a holder that slept past its lease is not reassured by what it records on waking", async () => {
  const { journal, clock, lease } = await aHolder();
  clock.jumpWall(duration * 2);
  await aLease(journal, handClock(), bob);
  await lease.record([{ event: "applied", version: 1, name: "one", textHash: "text", next: 2 }]);
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
});

test("a holder is not reassured by a record that took longer than its lease to write", async () => {
  const journal = memoryJournal();
  const clock = handClock();
  const slow: Journal = {
    ...journal,
    async add(records) {
      clock.stall(duration);
      await aLease(journal, handClock(), bob);
      await journal.add(records);
    },
  };
  const lease = await aLease(slow, clock);
  await lease.record([{ event: "advanced", version: 1, name: "one", next: 1 }]);
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
});

test("a lost lease is neither renewed nor released", async () => {
  const { journal, clock, lease } = await aHolder();
  await overtaken(journal, clock);
  await lease.check().catch(() => {});
  await expect(lease.release([{ event: "applied", version: 1, name: "one" }])).rejects.toMatchObject({
    code: "ERR_LEASE_LOST",
  });
  await lease.release();
  await clock.pass(duration * 2);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "2.0 taken"]);
});

test("a holder is sure of its lease until it has slept a whole one, by either clock, and again after it took the next epoch", async () => {
  const { clock, lease } = await aHolder();
  expect(lease.isSure()).toBe(true);
  clock.stall(duration - 1);
  expect(lease.isSure()).toBe(true);
  clock.stall(1);
  expect(lease.isSure()).toBe(false);
  await lease.check();
  expect(lease.isSure()).toBe(true);
  clock.jumpWall(duration);
  expect(lease.isSure()).toBe(false);
});

test("a holder that lost its lease has lost it for good, and records nothing more", async () => {
  const { journal, clock, lease } = await aHolder();
  await overtaken(journal, clock);
  await lease.check().catch(() => {});
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  const recorded = lease.record([{ event: "applied", version: 1, name: "one", textHash: "text" }]);
  await expect(recorded).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "2.0 taken"]);
});

test("a holder that could not ask for the next epoch does not skip the one that another then took", async () => {
  const journal = memoryJournal();
  const clock = handClock();
  let failures = 0;
  const shaky: Journal = {
    ...journal,
    take: (record) => (failures-- > 0 ? Promise.reject(new Error("no route to host")) : journal.take(record)),
  };
  const lease = await aLease(shaky, clock);
  clock.stall(duration * 2);
  failures = 1;
  await expect(lease.check()).rejects.toThrow("no route to host");
  await aLease(journal, handClock(), bob);
  await expect(lease.check()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
});

test("the last entries and the release are one write", async () => {
  const { journal, lease } = await aHolder();
  const before = journal.writes();
  await lease.release([{ event: "applied", version: 1, name: "one", textHash: "text" }]);
  expect(journal.writes()).toBe(before + 1);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.1 applied", "1.2 released"]);
});

/** A holder was stopped in a migration, and who took over from it was killed: the migration is in doubt. */
async function inDoubtAfterTwo() {
  const journal = memoryJournal();
  const clock = handClock();
  const take = async (runner: Runner, next?: number) =>
    (await takeLease(journal, foldLedger(journal.records), runner, next, { duration, clock }))!;
  const stopped = await take(ann, 1);
  await take(bob);
  const state = foldLedger(journal.records);
  expect(state.inDoubt).toEqual(new Set([1]));
  return {
    journal,
    stopped,
    takeOver: async () => (await takeLease(journal, state, carl, undefined, { duration, clock }))!,
  };
}

test("who ends without having done anything leaves in doubt what he found in doubt", async () => {
  const { journal, takeOver } = await inDoubtAfterTwo();
  await (await takeOver()).release();
  const left = foldLedger(journal.records);
  expect([isAtRest(left.head!), left.inDoubt]).toEqual([false, new Set([1])]);
});

test("a run that changed no table leaves nothing in doubt that its own records have settled", async () => {
  const { journal, takeOver } = await inDoubtAfterTwo();
  const lease = await takeOver();
  await lease.record([{ event: "interrupted", version: 1, name: "one", step: 0, total: 2 }]);
  await lease.release();
  const left = foldLedger(journal.records);
  expect([isAtRest(left.head!), left.inDoubt]).toEqual([true, new Set()]);
});

test("a run that changed no table leaves in doubt what the holder before it was working on", async () => {
  const journal = memoryJournal();
  await aLease(journal, handClock());
  await (await aLease(journal, handClock(), bob, undefined)).release();
  const left = foldLedger(journal.records);
  expect([isAtRest(left.head!), left.inDoubt]).toEqual([false, new Set([1])]);
});

test.each(["before", "after"])(
  "who ends without having done anything leaves nothing in doubt of which the stopped holder records the end %s it is taken over from",
  async (when) => {
    const { journal, stopped, takeOver } = await inDoubtAfterTwo();
    const end = async () =>
      await stopped.record([{ event: "applied", version: 1, name: "one", step: 1, total: 1, textHash: "text" }]);
    if (when === "before") await end();
    const lease = await takeOver();
    if (when === "after") await end();
    await lease.release();
    const left = foldLedger(journal.records);
    // The newest record alone must not say that nothing is in doubt where its writer had not read the end.
    expect([isAtRest(left.head!), left.inDoubt]).toEqual([when === "before", new Set()]);
  },
);

const midway = { step: "", commit: 1, indexes: {}, metadata: {} };

test.each<{ what: string; entry: Partial<LedgerEntry> & { readonly step: number }; rests: boolean }>([
  { what: "stopped", entry: { step: 1 }, rests: false },
  { what: "was interrupted", entry: { event: "interrupted", step: 1 }, rests: false },
  { what: "stopped between two commits of its first action", entry: { step: 0, midway }, rests: false },
  { what: "failed before anything was done", entry: { step: 0 }, rests: true },
])("an epoch in which a migration $what ends at rest: $rests", async ({ entry, rests }) => {
  const { step } = entry;
  const journal = memoryJournal();
  const lease = await takeLease(journal, foldLedger([]), ann, undefined, { duration, clock: handClock() });
  await lease!.release([{ event: "failed", version: 1, name: "one", total: 2, ...entry }]);
  const { head } = foldLedger(journal.records);
  expect(head).toMatchObject({ event: "released" });
  expect([head!.step, head!.total]).toEqual(rests ? [undefined, undefined] : [step, 2]);
  expect(isAtRest(head!)).toBe(rests);
});

test.each([0, 1])(
  "a run that changed no table leaves a rollback of which %i of 3 actions are done as it is",
  async (step) => {
    const journal = memoryJournal();
    const facts = { version: 1, name: "one", total: 3 };
    const stopped = await aLease(journal, handClock());
    await stopped.record([{ event: "applied", ...facts, step: 3, textHash: "text" }]);
    await stopped.record([{ event: "reverting", ...facts, step }]);
    await (await aLease(journal, handClock(), bob)).release();
    expect(journal.records.at(-1)).toMatchObject({ event: "released", by: "bob", step, total: 3 });
  },
);

test("the last entries settle what was in doubt, unless the run leaves it in doubt", async () => {
  const entry = { event: "failed", version: 1, name: "one", step: 0, total: 2 } as const;
  for (const next of [undefined, 1]) {
    const { journal, takeOver } = await inDoubtAfterTwo();
    await (await takeOver()).release([entry], next);
    expect(journal.records.slice(-2)).toMatchObject([{ next }, { next }]);
    expect(foldLedger(journal.records).inDoubt).toEqual(new Set(next === undefined ? [] : [1]));
  }
});

test("a late call is recorded in the run's own epoch, in its turn, also after another took over", async () => {
  const journal = memoryJournal();
  const clock = handClock();
  const slow: Journal = { ...journal, add: async (records) => (await turn(), await journal.add(records)) };
  const lease = await aLease(slow, clock);
  await overtaken(journal, clock);
  const late = { event: "late", version: 1, name: "one", step: 1 } as const;
  await Promise.all([lease.record([{ event: "advanced", version: 1, name: "one" }]), lease.recordLate(late)]);
  const own = journal.records.filter(({ by }) => by === "ann");
  expect(eventsOf(own)).toEqual(["1.0 taken", "1.1 advanced", "1.2 late"]);
  expect(own.map(({ previous }) => previous)).toEqual(["", ...own.slice(0, -1).map(recordHash)]);
});

test("a lease is released once", async () => {
  const { journal, lease } = await aHolder();
  await lease.release();
  await lease.release([{ event: "failed", version: 1, name: "one" }]);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.1 released"]);
});

test("records are written in the order of the calls, without waiting for one another", async () => {
  const journal = memoryJournal();
  const pauses = [30, 0, 10];
  const slow: Journal = {
    ...journal,
    async add(records) {
      for (let turns = pauses.shift() ?? 0; turns > 0; turns--) await turn();
      await journal.add(records);
    },
  };
  const lease = await aLease(slow, handClock());
  await Promise.all([1, 2, 3].map((version) => lease.record([{ event: "advanced", version, name: `m${version}` }])));
  expect(journal.records.map(({ number, version }) => [number, version])).toEqual([
    [0, undefined],
    [1, 1],
    [2, 2],
    [3, 3],
  ]);
});

test("what can't be written is told to the one who wrote it and holds nobody else up", async () => {
  const journal = memoryJournal();
  let failures = 1;
  const lease = await aLease(
    { ...journal, add: (records) => (failures-- > 0 ? Promise.reject(new Error("busy")) : journal.add(records)) },
    handClock(),
  );
  await expect(lease.record([{ event: "advanced", version: 1, name: "one" }])).rejects.toThrow("busy");
  await lease.record([{ event: "advanced", version: 2, name: "two" }]);
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.2 advanced"]);
});

/** Taking whose answer is lost, after the record of `stored` reached the ledger. */
function answerLost(journal: Journal, stored: Runner | undefined): Journal {
  return {
    ...journal,
    async take(record) {
      if (stored !== undefined) await journal.take({ ...record, ...stored });
      throw new Error("connection reset");
    },
  };
}

test("a taker whose answer was lost has the lease when its record is there", async () => {
  const journal = memoryJournal();
  expect(await aLease(answerLost(journal, ann), handClock())).toBeDefined();
});

test("a taker that is refused has the lease when its record is there: an earlier try of the same call has stored it", async () => {
  const journal = memoryJournal();
  const again: Journal = {
    ...journal,
    take: async (record) => (await journal.take(record), await journal.take(record)),
  };
  expect(await aLease(again, handClock())).toBeDefined();
});

test("a taker whose answer was lost does not have the lease when the record is another's", async () => {
  const journal = memoryJournal();
  expect(await aLease(answerLost(journal, { ...ann, run: "run b" }), handClock())).toBeUndefined();
});

test("a taker whose answer was lost is told so when there is no record", async () => {
  await expect(aLease(answerLost(memoryJournal(), undefined), handClock())).rejects.toThrow("connection reset");
});

/** A journal in which a wait's question does what is due first. */
function scripted(
  journal: Journal,
  clock: Clock,
  script: readonly (readonly [at: number, work: () => unknown])[],
): Journal {
  const due = [...script];
  return {
    ...journal,
    async isNewest(place) {
      while (due[0] !== undefined && due[0][0] <= clock.steady()) await due.shift()![1]();
      return await journal.isNewest(place);
    },
  };
}

test.each([
  { what: "its own lease", theirs: 5_000, least: 30_000 },
  { what: "the longer one of the holder", theirs: 90_000, least: 90_000 },
])("a silent holder is taken over after $what", async ({ theirs, least }) => {
  const { journal, clock, wait } = await aWaiter(theirs);
  expect(await wait(journal)).toBeDefined();
  expect(clock.steady()).toBeGreaterThan(least);
  expect(clock.steady()).toBeLessThan(least + 1_000);
});

test("a wall clock that is set forward shortens nobody's lease", async () => {
  const { journal, clock, wait } = await aWaiter();
  const jumping = scripted(journal, clock, [[1_000, () => clock.jumpWall(duration * 2)]]);
  expect(await wait(jumping)).toBeDefined();
  expect(clock.steady()).toBeGreaterThan(duration);
});

test("a holder that renews is waited for a whole lease from then on", async () => {
  const { journal, holder, clock, wait } = await aWaiter();
  const moving = scripted(journal, clock, [[20_000, () => holder.record([{ event: "renewed" }])]]);
  expect(await wait(moving)).toMatchObject({ epoch: 1, number: 1 });
  expect(clock.steady()).toBeGreaterThan(50_000);
  expect(clock.steady()).toBeLessThan(52_000);
});

const applied = (version: number) => ({ event: "applied", version, name: "any", textHash: "t" }) as const;

test.each([
  { what: "releases", move: (holder: Lease) => holder.release() },
  { what: "has applied what is waited for", move: (holder: Lease) => holder.record([applied(3)]) },
])("a wait ends as soon as the holder $what", async ({ move }) => {
  const { journal, holder, clock, wait } = await aWaiter();
  const early = () => holder.record([applied(2)]);
  const moving = scripted(journal, clock, [
    [10_000, early],
    [20_000, () => move(holder)],
  ]);
  expect(await wait(moving, { until: ({ version = 0 }) => version >= 3 })).toBeUndefined();
  expect(clock.steady()).toBeGreaterThan(19_000);
  expect(clock.steady()).toBeLessThan(21_000);
});

test("a wait ends when somebody else takes over", async () => {
  const { journal, clock, wait } = await aWaiter();
  const moving = scripted(journal, clock, [[20_000, () => aLease(journal, handClock(), { ...ann, run: "run c" })]]);
  expect(await wait(moving)).toBeUndefined();
});

test("a look that took long proves no silence while it was under way", async () => {
  const { journal, holder, clock, wait } = await aWaiter();
  let looks = 0;
  // The answer to the first look is what stood there when it was asked; then the waiter's process was stopped.
  const slow: Journal = {
    ...journal,
    async isNewest(place) {
      const seen = await journal.isNewest(place);
      if (looks++ > 0) return seen;
      await holder.record([{ event: "renewed" }]);
      clock.stall(duration * 2);
      return seen;
    },
  };
  // Not after the record that the holder has long gone on from.
  expect(await wait(slow)).toMatchObject({ number: 1 });
});

test("patience with a holder that is at work runs out, naming it", async () => {
  const { journal, holder, clock, wait } = await aWaiter();
  const working = scripted(journal, clock, [[1_000, () => holder.record([{ event: "renewed" }])]]);
  await expect(wait(working, { patience: 20_000 })).rejects.toMatchObject({
    code: "ERR_LEASE_HELD",
    details: { by: "bob" },
  });
  expect(clock.steady()).toBeGreaterThan(19_000);
  expect(clock.steady()).toBeLessThan(21_000);
});

test("a holder that has added a record since an earlier wait found it silent is at work", async () => {
  const { journal, holder, clock } = await aWaiter();
  const [after] = journal.records;
  await holder.record([{ event: "renewed" }]);
  const wait = waitForHolder(journal, foldLedger(journal.records), { duration, clock, patience: 1_000, after });
  await expect(wait).rejects.toMatchObject({ code: "ERR_LEASE_HELD" });
  expect(clock.steady()).toBeLessThan(2_000);
});

test("who waits long where answers take long still notices in time that the holder is silent", async () => {
  const { journal, holder, clock, wait } = await aWaiter();
  let last = 0;
  const slow: Journal = {
    ...journal,
    async isNewest(place) {
      if (clock.steady() < 20 * duration) {
        last = clock.steady();
        await holder.record([{ event: "renewed" }]);
      }
      clock.stall(5_000);
      return await journal.isNewest(place);
    },
  };
  await wait(slow, { patience: Infinity });
  expect(clock.steady() - last).toBeLessThan(2 * duration);
});

test("a wall clock that is set forward uses up nobody's patience", async () => {
  const { journal, holder, clock, wait } = await aWaiter();
  const jumping = scripted(journal, clock, [
    [500, () => holder.record([{ event: "renewed" }])],
    [1_000, () => clock.jumpWall(duration * 100)],
  ]);
  await expect(wait(jumping, { patience: 20_000 })).rejects.toMatchObject({
    code: "ERR_LEASE_HELD",
  });
  expect(clock.steady()).toBeGreaterThan(19_000);
});

test("who waits asks less often where answers take long, and yet several times within a lease", async () => {
  const asked = async (delay: number): Promise<number> => {
    const { journal, clock, wait } = await aWaiter();
    let times = 0;
    const slow: Journal = {
      ...journal,
      async isNewest(place) {
        times++;
        clock.stall(delay);
        return await journal.isNewest(place);
      },
    };
    await wait(slow);
    return times;
  };
  expect(await asked(1)).toBeGreaterThan(50);
  const few = await asked(1_000);
  expect(few).toBeGreaterThan(5);
  expect(few).toBeLessThan(20);
});

test("while one renewal is slow no other is begun", async () => {
  const journal = memoryJournal();
  const clock = handClock();
  let finish = () => {};
  const slow: Journal = {
    ...journal,
    async add(records) {
      await new Promise<void>((resolve) => (finish = resolve));
      await journal.add(records);
    },
  };
  await aLease(slow, clock);
  await clock.pass(duration * 0.9);
  for (let times = 0; times < 5; times++) {
    finish();
    await clock.pass(1);
  }
  expect(eventsOf(journal.records)).toEqual(["1.0 taken", "1.1 renewed"]);
});

test.each([0, 20_000])("a holder that may be dead is waited for a whole lease with a patience of %d", async (least) => {
  const { journal, clock, wait } = await aWaiter();
  expect(await wait(journal, { patience: least })).toBeDefined();
  expect(clock.steady()).toBeGreaterThan(duration);
});

test("a wait that is interrupted rejects", async () => {
  const { journal, clock, wait } = await aWaiter();
  const controller = new AbortController();
  const stopping = scripted(journal, clock, [[1_000, () => controller.abort()]]);
  await expect(wait(stopping, { signal: controller.signal })).rejects.toThrow(/abort/i);
});
